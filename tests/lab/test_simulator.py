"""A run as a whole: the same again for the same seed, its statistics, and the policy's side of it."""

import random
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from tests.lab.rig import Fixed, Script, scenario
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.model import Pool, PoolState
from tidegate.lab.outcome import Outcome, outcome_of
from tidegate.lab.policy import NO_HANDLER_IS_CUT_OFF_S, Tidegate, Truth
from tidegate.lab.scenario import Downstream, Scenario
from tidegate.lab.simulator import simulate
from tidegate.lab.traces import scenario_from_trace, synthetic


def busy_hour(**how: Any) -> Scenario:
    """An hour of bursts with everything that can go wrong."""
    bins = synthetic("bursty", seed=5, mean_per_s=4.0, length_s=3600)
    trouble: dict[str, Any] = {
        "failed_start_share": 0.1,
        "spot_losses_per_hour": 0.5,
        "poison_share": 0.01,
        "downstream": Downstream(60.0),
        "max_workers": 30,
    }
    return scenario_from_trace(
        bins, name="hour", load_slots=20, target_wait_s=60, start_up_s=30, seed=5, **(trouble | how)
    )


def same(one: Outcome, other: Outcome) -> bool:
    return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(Outcome))


def test_the_same_scenario_policy_and_seed_give_the_same_outcome_to_the_last_bit() -> None:
    policy = Tidegate()
    assert same(simulate(busy_hour(), policy, seed=9), simulate(busy_hour(), policy, seed=9))


@pytest.mark.parametrize(
    "how",
    [
        {"count_lag_s": 30.0},
        {"start_up_spread": 0.1},
        {"failed_start_share": 0.0},
        {"spot_losses_per_hour": 0.0},
        {"poison_share": 0.0},
        {"downstream": None},
        {"order": "fifo"},
    ],
)
def test_each_trouble_makes_a_difference(how: dict[str, Any]) -> None:
    assert not same(simulate(busy_hour(), Tidegate(), seed=9), simulate(busy_hour(**how), Tidegate(), seed=9))


def test_another_seed_is_another_run_of_the_same_work() -> None:
    made = busy_hour()
    one, other = simulate(made, Tidegate(), seed=1), simulate(made, Tidegate(), seed=2)
    assert one.work_seconds == other.work_seconds
    assert not np.array_equal(one.waits_s, other.waits_s)


def test_a_blind_policy_gets_the_same_run_as_one_that_reads_the_fleet() -> None:
    """Leaving the reports out is about speed alone."""
    looking = Fixed(7)
    looking.reads_fleet = True
    made = busy_hour()
    assert same(simulate(made, Fixed(7), seed=1), simulate(made, looking, seed=1))


def test_the_policy_is_asked_from_zero_on_at_each_tick_until_all_is_done() -> None:
    script = Script((0, 1), tick_s=7.0)
    outcome = simulate(scenario([0.0], 40.0, length_s=50, start_up_s=0.0), script, seed=1)
    assert [seen.now_s for seen in script.seen] == [0, 7, 14, 21, 28, 35, 42, 49]
    assert outcome.end_s == 50
    assert script.seen[-1].capacity.running == 1


def test_a_policy_that_does_not_read_the_fleet_is_shown_none() -> None:
    script = Script((0, 1))
    script.reads_fleet = False
    simulate(scenario([0.0], 40.0), script, seed=1)
    assert {(seen.fleet.workers, seen.fleet.absence) for seen in script.seen} == {((), Absence.MISSING)}


def test_the_truth_is_the_exact_present() -> None:
    """Two workers of one slot, ready at 0: messages of 25 s at 10, 12, 14 and 16; a third worker asked for at 15."""

    def look(t: Truth) -> Any:
        arrays = (t.starting_ready_in_s.tolist(), t.slots_free_in_s.tolist(), t.waiting_arrivals_s.tolist())
        return (t.now_s, t.desired, t.running, t.waiting, t.head_age_s, t.rate_per_s), arrays, t.mean_service_s

    made = scenario([10, 12, 14, 16], 25.0, initial_workers=2, length_s=100)
    script = Script((0, 2), (15, 3), look=look)
    simulate(made, script, seed=1)
    assert script.looks[0] == ((0, 2, 2, 0, 0, 0), ([], [0, 0], []), 25.0)
    assert script.looks[20] == ((20, 3, 2, 2, 6, 4 / 20), ([25], [15, 17], [14, 16]), 25.0)
    assert script.looks[90][0][-1] == 0.0
    assert script.looks[70][0][-1] == 3 / 60


def test_nothing_to_do_is_a_run_too() -> None:
    outcome = simulate(scenario([], 1.0, length_s=100.0, initial_workers=2), Fixed(1), seed=1)
    assert (outcome.messages, outcome.late_share, outcome.cost, outcome.end_s) == (0, 0.0, 0.0, 100.0)
    assert (outcome.worker_seconds, outcome.worst_hour_late_share) == (100.0, 0.0)


def sums(waits_s: list[float], **how: Any) -> Outcome:
    made = scenario([*range(len(waits_s))], 2.0, slots_per_worker=4)
    given: dict[str, Any] = {
        "waits_s": np.array(waits_s),
        "end_s": 7200.0,
        "worker_seconds": 30.0,
        "starts": 1,
        "stops": 0,
        "desired_at_s": np.array([0.0]),
        "desired": np.array([1]),
    }
    return outcome_of(made, "by hand", 1, **(given | how))


def test_late_is_longer_than_the_target_and_never_is_late() -> None:
    outcome = sums([0.0, 10.0, 10.1, float("nan")])
    assert (outcome.late_share, outcome.unserved) == (0.5, 1)
    assert outcome.wait_max_s == 7197.0
    assert outcome.wait_p50_s == pytest.approx(10.05)


def test_cost_is_what_was_paid_over_the_work_of_always_busy_workers() -> None:
    outcome = sums([0.0] * 10)
    assert (outcome.work_seconds, outcome.cost) == (10 * 2 / 4, 30 / 5)


@pytest.mark.parametrize(
    ("desired", "changes", "reversals"),
    [([1], 0, 0), ([1, 2, 3], 2, 0), ([1, 2, 1], 2, 1), ([3, 1, 2, 1, 0, 4], 5, 3)],
)
def test_changes_and_reversals_of_the_desired_count(desired: list[int], changes: int, reversals: int) -> None:
    outcome = sums([0.0], desired=np.array(desired), desired_at_s=np.arange(len(desired)))
    assert (outcome.changes, outcome.reversals, outcome.changes_per_hour) == (changes, reversals, changes / 2)


def test_the_worst_hour_counts_only_hours_with_enough_messages() -> None:
    arrivals_s = np.concatenate([np.linspace(0, 3599, 200), np.linspace(3600, 7199, 200), [7200.0]])
    made = scenario(arrivals_s.tolist(), 1.0)
    late_s = np.where((arrivals_s > 3600) & (arrivals_s < 5400), 99.0, 0.0)
    late_s[-1] = 99.0
    outcome = outcome_of(
        made, "by hand", 1, waits_s=late_s, end_s=7300.0, worker_seconds=1.0, starts=0, stops=0,
        desired_at_s=np.zeros(1), desired=np.zeros(1, int),
    )  # fmt: skip
    assert outcome.worst_hour_late_share == pytest.approx(0.5, abs=0.01)


class Shadow(Tidegate):
    """Checks each decision against `decide` called by hand."""

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        super().reset(scenario, rng)
        pool = Pool("hour", 60, 0, 30, slots_per_worker=4, utilization=0.6, hold_s=300.0, service_time_hint_s=2.0)
        self.pool = replace(pool, stop_timeout_s=NO_HANDLER_IS_CUT_OFF_S)
        self.state = PoolState()
        self.decisions = 0

    def desired(self, seen: Any, truth: Any) -> int:
        wanted = super().desired(seen, truth)
        decision, self.state = decide(self.pool, self.state, seen)
        assert decision == self.last
        self.decisions += 1
        return wanted


def test_tidegate_in_the_lab_is_the_production_decision_with_its_knobs() -> None:
    policy = Shadow(utilization=0.6, hold_s=300.0)
    outcome = simulate(busy_hour(service_time_hint_s=2.0), policy, seed=3)
    assert policy.decisions >= 360
    assert outcome.changes > 3


def test_tidegate_keeps_up_with_traffic_that_rises_and_learns_the_start_up_time() -> None:
    bins = synthetic("step", seed=1, mean_per_s=5.0, length_s=7200)
    made = scenario_from_trace(bins, name="step", load_slots=20, target_wait_s=60, start_up_s=30, seed=1)
    policy = Tidegate()
    outcome = simulate(made, policy, seed=1)
    assert outcome.late_share < 0.01
    assert outcome.cost < 3
    assert policy.last is not None
    estimate = next(step for step in policy.last.steps if step.name == "estimate")
    assert estimate.values["start_up_from"] == "measured"


def test_a_dump_on_one_worker_is_answered_within_the_first_long_tick_that_sees_it() -> None:
    """With one step of the ramp per tick of half a minute most of its workers came a tick later, and 48 % were late."""
    arrivals = np.sort(np.concatenate([np.arange(1.0, 1800.0, 5.0), np.linspace(905.0, 906.0, 3000)]))
    made = scenario(arrivals.tolist(), 5.0, target_wait_s=90.0, slots_per_worker=4, initial_workers=1)
    assert simulate(made, Tidegate(tick_s=30.0), seed=1).late_share < 0.01
