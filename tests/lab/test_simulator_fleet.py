"""The platform by hand: start-up, drain, cancelling, faults, and the bill, on timelines short enough to work out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.lab.rig import Fixed, Script, scenario
from tidegate.lab.outcome import Outcome
from tidegate.lab.scenario import Downstream
from tidegate.lab.simulator import simulate


def waits(outcome: Outcome) -> list[float]:
    return [round(float(wait_s), 4) for wait_s in outcome.waits_s]


def test_a_worker_takes_its_first_message_when_it_has_started_up() -> None:
    outcome = simulate(scenario([0.0], 5.0), Script((0, 1)), seed=1)
    assert waits(outcome) == [30.0]
    assert (outcome.worker_seconds, outcome.work_seconds, outcome.cost) == (35.0, 5.0, 7.0)
    assert (outcome.starts, outcome.stops, outcome.end_s) == (1, 0, 35.0)


def test_a_worker_runs_as_many_messages_at_once_as_it_has_slots() -> None:
    outcome = simulate(scenario([0, 0, 0], 4.0, slots_per_worker=2), Script((0, 1)), seed=1)
    assert waits(outcome) == [30.0, 30.0, 34.0]
    assert (outcome.worker_seconds, outcome.work_seconds) == (38.0, 6.0)


def test_start_up_times_spread_evenly_about_their_mean() -> None:
    made = scenario([0.0] * 400, 1e4, start_up_s=100.0, start_up_spread=0.25)
    ready_s = np.sort(simulate(made, Fixed(400), seed=1).waits_s)
    assert ready_s[0] >= 75
    assert ready_s[-1] <= 125
    assert np.quantile(ready_s, (0.25, 0.5, 0.75)) == pytest.approx([87.5, 100.0, 112.5], abs=4)


def test_a_worker_told_to_go_finishes_its_message_takes_no_other_and_is_paid_until_then() -> None:
    made = scenario([0, 20], [100, 5], initial_workers=1)
    outcome = simulate(made, Script((0, 1), (10, 0), (20, 1)), seed=1)
    assert waits(outcome) == [0.0, 30.0]  # the second waits for a new worker, asked for at 20
    assert outcome.worker_seconds == 100 + (100 - 20)  # all is done at 100, and both are paid until then
    assert (outcome.starts, outcome.stops, outcome.end_s) == (2, 1, 100.0)


def test_an_idle_worker_told_to_go_is_gone_at_once() -> None:
    outcome = simulate(scenario([0.0], 100.0, initial_workers=2), Script((0, 2), (40, 1)), seed=1)
    assert outcome.worker_seconds == 100 + 40


@pytest.mark.parametrize(
    ("service_s", "kept_until_s"),
    [
        ([50, 60, 70], "the emptiest goes: nothing is held by it"),
        ([50, 60, 70, 80], "the one that is done first goes"),
    ],
)
def test_the_least_busy_worker_goes_first(service_s: Sequence[float], kept_until_s: str) -> None:
    """Slots are taken in the order 0, 1 | 2, 3 (workers of two); three messages leave the second worker half idle."""
    made = scenario([0.0] * len(service_s), service_s, slots_per_worker=2, initial_workers=2)
    outcome = simulate(made, Script((0, 2), (10, 1)), seed=1)
    second, first = {3: (70.0, 70.0), 4: (60.0, 80.0)}[len(service_s)]
    assert outcome.worker_seconds == second + first, kept_until_s


def test_workers_that_are_starting_are_cancelled_before_any_that_run_the_latest_first() -> None:
    script = Script((0, 1), (5, 2), (10, 3), (15, 2), (20, 1), look=lambda truth: truth.starting_ready_in_s.tolist())
    outcome = simulate(scenario([0.0], 100.0, initial_workers=1), script, seed=1)
    assert [script.looks[t] for t in (6, 11, 16, 21)] == [[29.0], [24.0, 29.0], [19.0], []]
    assert outcome.worker_seconds == 100 + (20 - 5) + (15 - 10)
    assert (outcome.starts, outcome.stops, outcome.reversals) == (3, 2, 1)


@pytest.mark.parametrize(("minimum_s", "paid_s"), [(0, 100 + 15), (60, 100 + 60), (150, 150 + 150)])
def test_every_worker_is_paid_for_the_minimum(minimum_s: float, paid_s: float) -> None:
    made = scenario([0.0], 100.0, initial_workers=1, billing_minimum_s=minimum_s)
    assert simulate(made, Script((0, 1), (5, 2), (20, 1)), seed=1).worker_seconds == paid_s


def test_a_start_that_fails_is_paid_and_followed_by_another() -> None:
    made = scenario([0.0], 5.0, failed_start_share=0.7)
    outcome = simulate(made, Script((0, 1), look=lambda truth: (truth.running, len(truth.starting_ready_in_s))), seed=4)
    failures = outcome.starts - 1
    assert failures > 0
    assert waits(outcome) == [30.0 * outcome.starts]
    assert outcome.worker_seconds == 30.0 * outcome.starts + 5


def test_when_no_start_succeeds_the_run_is_given_up_and_says_so() -> None:
    made = scenario([0.0, 1.0], 5.0, failed_start_share=1.0)
    outcome = simulate(made, Script((0, 1), tick_s=10), seed=1)
    give_up_s = 3 * 1 + 10 * (10 + 30) + 3600
    assert (outcome.unserved, outcome.late_share, outcome.end_s) == (2, 1.0, give_up_s)
    assert waits(outcome) == [give_up_s, give_up_s - 1]


def lossy(**how: Any) -> Outcome:
    made = scenario(
        [10.0 * n for n in range(200)], 8.0, initial_workers=2, spot_losses_per_hour=20, lease_s=45.0, **how
    )
    return simulate(made, Script((0, 2)), seed=2)


def test_lost_workers_are_replaced_with_no_change_of_the_desired_count() -> None:
    outcome = lossy()
    assert outcome.starts > 5
    assert (outcome.unserved, outcome.stops, outcome.changes) == (0, 0, 0)


def test_without_losses_two_workers_are_all_there_ever_is() -> None:
    made = scenario([10.0 * n for n in range(200)], 8.0, initial_workers=2)
    assert simulate(made, Script((0, 2)), seed=2).starts == 2


def test_a_lost_workers_message_comes_back_when_its_lease_lapses() -> None:
    """One worker, and one message that takes longer than workers live: it runs again a lease after each loss."""
    made = scenario([0.0], 60.0, initial_workers=1, spot_losses_per_hour=60, lease_s=200.0)
    script = Script((0, 1), look=lambda truth: bool(max(truth.slots_free_in_s, default=0)))
    outcome = simulate(made, script, seed=10)  # a seed with three losses, each with a worker back within the lease
    changes_s = np.flatnonzero(np.diff(script.looks)) + 1  # busy or not, looked at each second
    lost_s, again_s = changes_s[1::2], changes_s[2::2]
    assert len(lost_s) == 3
    assert again_s - lost_s == pytest.approx(200, abs=1)
    assert outcome.end_s == pytest.approx(again_s[-1] + 60, abs=1)
    assert (waits(outcome), outcome.unserved) == ([0.0], 0)


@pytest.mark.parametrize(("strain", "ends_s"), [(1.0, 20.0), (2.0, 40.0)])
def test_above_its_capacity_the_downstream_slows_every_new_run(strain: float, ends_s: float) -> None:
    """Four at once on a capacity of two: the first two run at full speed, the fourth (4 ÷ 2) ^ strain as long."""
    made = scenario([0.0] * 4, 10.0, initial_workers=4, downstream=Downstream(2.0, strain))
    assert simulate(made, Fixed(4), seed=1).end_s == ends_s


def test_the_desired_count_stays_within_the_scenarios_bounds() -> None:
    made = scenario([0.0], 50.0, min_workers=2, initial_workers=2, max_workers=3)
    script = Script((0, 9), (10, 0))
    outcome = simulate(made, script, seed=1)
    assert outcome.desired.tolist() == [2, 3, 2]
    assert outcome.desired_at_s.tolist() == [0.0, 0.0, 10.0]
