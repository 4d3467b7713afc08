"""No storm loses a message, and none runs twice without a reason on record. Real processes, a seed that is printed."""

import os

import pytest

from tests.chaos.proxy import Fault
from tests.chaos.storm import QUEUE, Outcome, Storm, Weather
from tests.integration.processes import children_of, wait_until_gone

SMALL = Weather(
    messages=1_500,
    per_s=200.0,
    workers=3,
    kills=2,
    terms=1,
    spot_notices=1,
    partition_s=4.0,
    lease_s=3,
    limit_s=40.0,
    long_s=0.5,
    spot_s=12.0,
)
"""Leases do not outlast the partition here either."""

LARGE = Weather(
    messages=100_000,
    per_s=450.0,
    workers=8,
    kills=40,
    terms=30,
    spot_notices=20,
    partition_s=30.0,
    lease_s=20,
    limit_s=480.0,
)


def play(weather: Weather) -> Outcome:
    seed = int(os.environ.get("CHAOS_SEED", "4711"))
    print(f"\nstorm of seed {seed} (another: CHAOS_SEED=…)")  # noqa: T201  for whoever wants it again
    outcome = Storm(weather, seed).run()
    print(outcome.told())  # noqa: T201
    return outcome


def assert_survived(outcome: Outcome, weather: Weather, children_before: list[int]) -> None:
    counts = outcome.messages
    assert counts.sent == weather.messages
    assert (counts.lost, counts.interrupted) == (0, 0), counts.lost_ids[:5]
    assert outcome.unexplained == []
    for queue in (QUEUE, f"{QUEUE}-dead"):
        seen = outcome.snapshot[queue]
        assert (seen.visible, seen.in_flight, seen.delayed) == (0, 0, 0), queue
    assert outcome.bad_ends() == []
    assert wait_until_gone(list(outcome.pids), within_s=1.0) == []
    assert set(children_of(os.getpid())) <= set(children_before)


@pytest.mark.integration
@pytest.mark.timeout(120)
@pytest.mark.xdist_group("demos-1")
def test_a_short_storm_loses_nothing_and_explains_what_ran_twice() -> None:
    before = children_of(os.getpid())
    outcome = play(SMALL)
    assert_survived(outcome, SMALL, before)
    assert outcome.deeds.total() >= 3, outcome.deeds
    assert outcome.faults[Fault.PARTED] > 0, outcome.faults
    assert {Fault.ANSWER_LOST, Fault.REQUEST_LOST, Fault.SERVER_ERROR, Fault.THROTTLED} & set(outcome.faults)


@pytest.mark.chaos
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_hundred_thousand_messages_through_eight_workers_in_a_storm() -> None:
    before = children_of(os.getpid())
    outcome = play(LARGE)
    assert_survived(outcome, LARGE, before)
    assert outcome.deeds["kill -9"] >= 30, outcome.deeds
    assert outcome.deeds["SIGTERM"] >= 20, outcome.deeds
    assert outcome.deeds["spot notice"] >= 10, outcome.deeds
