"""What a decision says to CloudWatch: what it knows, and nothing that it does not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.condition import Condition
from tidegate.core.decide import decide
from tidegate.core.decision import Action, Decision, Reason
from tidegate.core.explain.published import UNITS, published
from tidegate.core.model import PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import WAIT_BOUNDS_S

TICKED = PoolState(ticked_at_s=NOW_S - 10)


def metrics_of(seen: Observation, state: PoolState = TICKED, *, wrote: bool = False) -> dict[str, float]:
    decision, _ = decide(POOL, state, seen)
    return dict(published(decision, wrote))


def waits(**counts: int) -> tuple[int, ...]:
    """A histogram: on time (first bucket) and late (the one above all bounds)."""
    return (counts["on_time"], *[0] * (len(WAIT_BOUNDS_S) - 1), counts["late"])


def test_everything_is_said_of_a_pool_whose_workers_report() -> None:
    reporting = worker(busy=3, completions=20, waits=waits(on_time=9, late=1))
    reporting = replace(reporting, recent=replace(reporting.recent, leases_lost=2))
    seen = observe(queue(waiting=45, in_flight=3, age_s=60), workers=(reporting,), desired=2)

    said = metrics_of(seen, wrote=True)

    assert set(said) == set(UNITS)
    assert said["Decisions"] == said["ScaleEvents"] == 1
    assert (said["Waiting"], said["ProvisionedSlots"], said["BusySlots"]) == (45, 8, 3)
    assert (said["Started"], said["StartedLate"], said["LeasesLost"]) == (10, 1, 2)
    assert said["CompletionsPerSecond"] == 2
    assert said["OldestOverTarget"] > 1


def test_without_reports_sqs_stands_for_the_workers_and_nothing_is_said_of_waits() -> None:
    said = metrics_of(observe(queue(waiting=5, in_flight=100, deleted_per_s=3), desired=2))

    assert (said["BusySlots"], said["ProvisionedSlots"]) == (8, 8)
    assert said["CompletionsPerSecond"] == 3
    assert {"Started", "StartedLate", "LeasesLost"}.isdisjoint(said)


def test_the_first_tick_knows_of_no_rate_of_completions() -> None:
    seen = observe(queue(), workers=(worker(completions=20),))
    assert "CompletionsPerSecond" not in metrics_of(seen, PoolState())


def test_a_queue_that_can_not_be_read_is_not_an_empty_one() -> None:
    said = metrics_of(observe(queue(absence=Absence.DENIED)))
    assert {"Waiting", "OldestOverTarget", "ArrivalsPerSecond"}.isdisjoint(said)
    assert said["Decisions"] == 1


@pytest.mark.parametrize(
    ("state", "at_ceiling"), [(Condition.NORMAL, 0), (Condition.AT_CEILING, 1), (Condition.DOWNSTREAM, 0)]
)
def test_a_pool_that_has_been_late_at_its_ceiling_for_a_minute_says_so(state: Condition, at_ceiling: float) -> None:
    decision, _ = decide(POOL, TICKED, observe(queue()))
    assert published(replace(decision, state=state), False)["AtCeiling"] == at_ceiling


def test_a_decision_without_steps_says_that_it_was_made() -> None:
    bare = Decision("orders", NOW_S, 2, 3, Action.OUT, Reason.NEED, "because")
    assert published(bare, True) == {"Decisions": 1, "DesiredWorkers": 3, "ScaleEvents": 1, "AtCeiling": 0}


@given(waiting=st.integers(0, 10**6), in_flight=st.integers(0, 10**6), desired=st.integers(0, 500))
def test_busy_slots_are_never_more_than_the_slots_when_messages_in_flight_stand_for_them(
    waiting: int, in_flight: int, desired: int
) -> None:
    said = metrics_of(observe(queue(waiting=waiting, in_flight=in_flight), desired=desired))
    assert 0 <= said["BusySlots"] <= said["ProvisionedSlots"]
    assert set(said) <= set(UNITS)
