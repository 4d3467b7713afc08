"""What a policy is shown of the queue: late, approximate and never from one moment, exactly as the scenario says."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.rig import Script, scenario
from tidegate.core.absence import Absence
from tidegate.core.observation import QueueObservation
from tidegate.lab.signals import Tally
from tidegate.lab.simulator import simulate


def counts(queue: QueueObservation) -> tuple[float | None, float | None, float | None]:
    return queue.visible.value, queue.in_flight.value, queue.delayed.value


def watch(made: Any, *steps: tuple[float, int], seed: int = 1) -> Script:
    script = Script(*(steps or ((0, made.initial_workers),)))
    simulate(made, script, seed=seed)
    return script


def test_without_lag_and_error_the_counts_are_those_of_the_moment() -> None:
    """One worker of one slot; at 5, 6 and 7 come messages of ten seconds; ends at 15, 25, 35."""
    script = watch(scenario([5, 6, 7], 10.0, initial_workers=1))
    seen = {t: counts(script.at(t).queues[0]) for t in (5, 6, 7, 8, 15, 16, 26)}
    assert seen == {
        5: (0, 0, 0),
        6: (0, 1, 0),
        7: (1, 1, 0),
        8: (2, 1, 0),
        15: (2, 1, 0),
        16: (1, 1, 0),
        26: (0, 1, 0),
    }


def test_a_count_is_between_zero_and_the_lag_old() -> None:
    """One message a second from 100 on, nobody takes any: a count of n speaks of the moment 100 + n."""
    made = scenario([100.0 + n for n in range(400)], 1.0, count_lag_s=60.0)
    ages_s = [seen.now_s - 100 - (seen.queues[0].visible.value or 0) for seen in watch(made).seen[200:480]]
    assert min(ages_s) == pytest.approx(0, abs=1.5)
    assert max(ages_s) == pytest.approx(60, abs=1.5)
    assert np.mean(ages_s) == pytest.approx(30, abs=4)


def test_a_count_is_off_by_up_to_the_error_either_way() -> None:
    made = scenario([0.0] * 1000 + [300.0], 1.0, count_error=0.3)
    visible = [seen.queues[0].visible.value or 0 for seen in watch(made).seen[1:300]]
    assert min(visible) == pytest.approx(700, abs=10)
    assert max(visible) == pytest.approx(1300, abs=10)
    assert np.mean(visible) == pytest.approx(1000, rel=0.05)


def test_visible_and_in_flight_are_not_of_one_moment() -> None:
    """A hundred messages are all taken at 50: readings of both counts may hold them twice, or not at all."""
    made = scenario([0.0] * 100, 200.0, length_s=120.0, start_up_s=50.0, count_lag_s=60.0)
    both = {counts(seen.queues[0])[:2] for seen in watch(made, (0, 100)).seen[52:110]}
    assert both == {(100, 0), (0, 100), (100, 100), (0, 0)}


def test_minutes_arrive_the_metric_lag_after_their_end() -> None:
    """Sixty messages in the first minute, thirty in the second, each done at once."""
    sent_s = [n + 0.5 for n in range(60)] + [60.5 + 2 * n for n in range(30)]
    made = scenario(sent_s, 0.25, length_s=300.0, initial_workers=1, metric_lag_s=45.0)
    script = watch(made)
    early = script.at(104).queues[0]
    assert (early.age_s.absence, early.sent_per_s.absence) == (Absence.MISSING, Absence.MISSING)
    for now_s, sent in ((105, 1.0), (164, 1.0), (165, 0.5), (224, 0.5), (225, 0.0)):
        queue = script.at(now_s).queues[0]
        taken_at_s = 60 * ((now_s - 45) // 60)
        assert (queue.sent_per_s.value, queue.sent_per_s.taken_at_s) == (sent, taken_at_s)
        assert (queue.deleted_per_s.value, queue.age_s.value) == (sent, 0.0)


@pytest.mark.parametrize(("in_flight_too", "age_s"), [(False, 50.0), (True, 55.0)])
def test_the_age_is_that_of_the_oldest_message_at_the_minutes_end(in_flight_too: bool, age_s: float) -> None:
    """At 60 the message of 5 is in flight since 5, that of 10 waits. AWS does not say which of them counts."""
    made = scenario([5, 10], 100.0, length_s=120, initial_workers=1, age_counts_in_flight=in_flight_too)
    script = Script((0, 1), tick_s=60.0)
    simulate(made, script, seed=1)
    assert script.at(60).queues[0].age_s.value == age_s


def test_a_message_received_three_times_leaves_the_age_metric() -> None:
    """docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html

    The poison message runs for 1 s at 0, 30 and 60, visible again 29 s after each, as long as there is a worker.
    """
    made = scenario([0.0], 1.0, length_s=400, initial_workers=1, poison_share=1.0, retry_after_s=29.0, max_receives=9)
    ages = {stop_s: watch(made, (0, 1), (stop_s, 0)).at(120).queues[0].age_s.value for stop_s in (35, 65)}
    assert ages == {35: 120.0, 65: 0.0}


def test_a_failed_message_is_in_flight_until_it_is_visible_again_and_is_never_deleted() -> None:
    made = scenario([0.0], 1.0, length_s=200, initial_workers=1, poison_share=1.0, retry_after_s=29.0, max_receives=2)
    script = watch(made)
    assert [counts(script.at(t).queues[0])[:2] for t in (1, 2, 20, 31, 59, 60, 61)] == [
        *[(0, 1)] * 5,
        (0, 1),
        (0, 0),
    ]
    assert {script.at(t).queues[0].deleted_per_s.value for t in (60, 120, 180)} == {0}


def test_a_lost_workers_message_is_in_flight_until_its_lease_lapses() -> None:
    made = scenario([0.0], 90.0, initial_workers=1, spot_losses_per_hour=60, lease_s=200.0)
    script = Script((0, 1), look=lambda truth: bool(max(truth.slots_free_in_s, default=0)))
    simulate(made, script, seed=10)
    lost_s = 37  # the first loss of this seed; see the test of leases
    assert script.looks[lost_s - 1 : lost_s + 1] == [True, False]
    assert {counts(script.at(t).queues[0])[:2] for t in range(lost_s, lost_s + 200)} == {(0, 1)}
    again_s = lost_s + 202
    assert script.looks[again_s]
    assert counts(script.at(again_s).queues[0])[:2] == (0, 1)


@given(
    st.lists(st.tuples(st.floats(0, 999), st.sampled_from([1, 1, 1, -1])), max_size=80),
    st.lists(st.integers(0, 1000), min_size=1, max_size=30).map(sorted),
)
def test_a_tally_counts_what_was_before_a_second(events: list[tuple[float, int]], asked: list[int]) -> None:
    tally = Tally(length_s=1000, look_back_s=0)
    for at_s, by in events:
        tally.add(np.array([at_s]), by)
    for second in asked:
        assert tally.before(second) == sum(by for at_s, by in events if at_s < second)
