"""The guard in closed loop and virtual time: a sick dependency gets no more workers, a change of the work does."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.observations import NOW_S, observe, queue
from tests.core.plant import POOL, Plant
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Action, Decision, Reason
from tidegate.core.model import Override, OverrideKind, PoolState
from tidegate.core.observation import Alarm
from tidegate.core.stored.codec import from_json, to_json

HOUR_S = 3600.0


def alarm(state: str | None = "ALARM", at_s: float = NOW_S, absence: Absence | None = None) -> Alarm:
    return Alarm("payments-5xx", state, at_s, absence, "")


def outs(decisions: list[Decision]) -> list[tuple[float, int]]:
    """(seconds since the first decision, workers added) of each step out."""
    return [(d.at_s - decisions[0].at_s, d.desired - d.current) for d in decisions if d.action is Action.OUT]


def first_held(decisions: list[Decision]) -> int:
    return next(n for n, decision in enumerate(decisions) if decision.reason is Reason.DOWNSTREAM)


def overloaded(**how: float | bool | str) -> Plant:
    """Settled below the dependency's limit of 30 busy slots; then twice the arrivals, which are above it."""
    pool = replace(POOL, step_back=bool(how.get("step_back", True)))
    plant = Plant(pool, arrivals_per_s=10.0, limit_slots=30.0, dependency=str(how.get("dependency", "")))
    plant.run(900)
    plant.arrivals_per_s = 20.0
    return plant


def test_a_dependency_at_its_limit_gets_no_workers_but_single_tries_ever_further_apart() -> None:
    plant = overloaded()
    decisions = plant.run(2 * HOUR_S)
    held = decisions[first_held(decisions) :]
    found_out = next(decision for decision in held if decision.action is Action.IN)
    tries = outs(held)
    assert all(added <= 3 for _, added in tries)
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(tries)]
    assert len(tries) <= 6
    assert all(later > 1.5 * earlier for earlier, later in pairwise(gaps))
    assert "from 8 to 20 workers handlers went from 2.2 to 7.4 s and completed 12.2/s" in found_out.sentence


def test_nothing_is_added_any_more_once_it_is_known_how_many_help() -> None:
    plant = overloaded(dependency="payments")
    settled = plant.run(4 * HOUR_S)[360:]
    assert outs(settled) == []
    assert {decision.desired for decision in settled} == {8}


def test_what_was_known_of_a_dependency_that_is_given_more_room_is_found_out_anew() -> None:
    plant = overloaded(dependency="payments")
    plant.run(2 * HOUR_S)
    assert plant.desired == 8
    plant.limit_slots = 90.0
    plant.run(2 * HOUR_S)
    assert plant.desired >= 12
    assert plant.waiting < 1


@pytest.mark.parametrize("strain", [0.25, 0.4, 0.5])
def test_a_dependency_that_serves_calls_more_slowly_the_more_there_are_is_not_held_for_long(strain: float) -> None:
    plant = Plant(arrivals_per_s=10.0, limit_slots=10.0, strain=strain, dependency="payments")
    plant.run(900)
    plant.arrivals_per_s = 20.0
    plant.run(1800)
    assert plant.waiting < 1
    plant.arrivals_per_s = 5.0
    plant.run(1800)
    plant.arrivals_per_s = 20.0
    again = plant.run(1800)
    assert sum(decision.reason is Reason.DOWNSTREAM for decision in again) <= 12, "until the first runs have ended"
    assert plant.waiting < 1


def test_a_hold_ends_when_jobs_turn_out_as_long_with_few_of_them_at_a_time() -> None:
    plant = overloaded()
    plant.run(300)
    assert plant.state.guard.hold is not None
    plant.arrivals_per_s, plant.waiting, plant.service_s = 2.0, 0.0, 7.0
    plant.run(600)
    assert plant.state.guard.hold is None


def test_stepping_back_ends_the_collapse_that_more_workers_had_made() -> None:
    plant = overloaded()
    plant.run(900)
    assert plant.running <= 12
    plant.arrivals_per_s = 10.0
    plant.run(HOUR_S)
    assert plant.waiting < 1


def test_without_step_back_the_count_is_held_where_it_was_found_out_and_not_above() -> None:
    plant = overloaded(step_back=False)
    decisions = plant.run(HOUR_S)
    first = first_held(decisions)
    found_out_at = decisions[first].desired
    assert found_out_at >= 15
    assert max(decision.desired for decision in decisions[first:]) <= math.ceil(1.25 * found_out_at)
    assert decisions[-1].desired == found_out_at


def test_jobs_that_are_longer_for_good_are_not_mistaken_for_a_sick_dependency_for_long() -> None:
    plant = Plant(arrivals_per_s=10.0)
    plant.run(900)
    plant.service_s = 6.0
    decisions = plant.run(1200)
    assert any(decision.reason is Reason.DOWNSTREAM for decision in decisions), "mistaken at first, which this is about"
    assert plant.state.guard.hold is None
    assert plant.waiting < 1
    assert plant.desired >= 20


def test_a_burst_on_a_healthy_dependency_is_never_held() -> None:
    plant = Plant(arrivals_per_s=5.0)
    plant.run(900)
    plant.arrivals_per_s = 50.0
    decisions = plant.run(1200)
    assert not any(decision.reason is Reason.DOWNSTREAM for decision in decisions)
    assert plant.state.guard.hold is None


def test_failing_calls_hold_at_once_and_recovery_is_gradual() -> None:
    plant = Plant(arrivals_per_s=10.0, dependency="payments")
    plant.run(900)
    before = plant.desired
    plant.bad_share = 0.4
    plant.run(60)
    plant.arrivals_per_s = 60.0
    sick = plant.run(300)
    assert max(decision.desired for decision in sick) == before
    assert "payments fails (40% of its calls, usually" in sick[-1].sentence
    plant.bad_share = 0.0
    well = plant.run(1800)
    assert outs(well)[0][1] == 2
    assert all(decision.desired <= 2 * decision.current for decision in well)
    assert plant.state.guard.hold is None
    assert plant.waiting < 1


def test_slow_calls_hold_until_a_step_shows_that_more_workers_still_help() -> None:
    plant = Plant(arrivals_per_s=10.0, dependency="search")
    plant.run(900)
    plant.service_s = 7.0
    decisions = plant.run(1800)
    held = decisions[first_held(decisions)]
    assert "search is slow (" in held.sentence or "handlers went from" in held.sentence
    assert plant.state.guard.hold is None
    assert plant.desired >= 24
    usual = plant.state.guard.dependencies["search"]
    assert not usual.slow
    assert usual.usual_s == pytest.approx(7.0, rel=0.1)


def test_an_alarm_in_alarm_holds_for_as_long_as_it_lasts() -> None:
    pool = replace(POOL, hold_on_alarms=("payments-5xx",))
    plant = Plant(pool, arrivals_per_s=10.0)
    plant.run(900)
    plant.arrivals_per_s = 30.0
    sick = []
    for _ in range(30):
        plant.alarms = (alarm(at_s=plant.now_s),)
        sick += plant.run(10)
    decision = sick[-1]
    assert (decision.desired, decision.reason) == (8, Reason.DOWNSTREAM)
    assert "capped at 8 by the downstream guard: alarm payments-5xx is in ALARM" in decision.sentence
    plant.alarms = (alarm("OK", at_s=plant.now_s),)
    plant.run(1500)
    assert plant.waiting < 1


@pytest.mark.parametrize(
    ("state", "age_s", "absence", "unknown"),
    [
        ("OK", 0.0, None, None),
        ("INSUFFICIENT_DATA", 0.0, None, None),
        ("ALARM", 301.0, None, "payments-5xx (stale)"),
        (None, 0.0, Absence.DENIED, "payments-5xx (denied)"),
        (None, 0.0, Absence.GONE, "payments-5xx (gone)"),
    ],
)
def test_an_alarm_that_is_not_known_to_be_in_alarm_holds_nothing_and_that_is_shown(
    state: str | None, age_s: float, absence: Absence | None, unknown: str | None
) -> None:
    plant = Plant(replace(POOL, hold_on_alarms=("payments-5xx",)), arrivals_per_s=30.0)
    plant.alarms = (alarm(state, at_s=NOW_S + 10 - age_s, absence=absence),)
    (decision,) = plant.run(10)
    assert decision.reason is not Reason.DOWNSTREAM
    values = next(step.values for step in decision.steps if step.name == "downstream")
    assert values.get("alarms_unknown") == unknown


def test_a_pin_is_above_the_guard_and_a_minimum_too() -> None:
    pool = replace(POOL, hold_on_alarms=("payments-5xx",), min_workers=6)
    plant = Plant(pool, arrivals_per_s=10.0, desired=2, running=2)
    plant.alarms = (alarm(at_s=NOW_S + 10),)
    (decision,) = plant.run(10)
    assert (decision.desired, decision.reason) == (6, Reason.MINIMUM)
    plant.state = replace(plant.state, override=Override(OverrideKind.PIN, "ada", NOW_S, workers=20))
    (pinned,) = plant.run(10)
    assert (pinned.desired, pinned.reason) == (20, Reason.PINNED)


def test_a_guard_that_is_switched_off_looks_at_nothing() -> None:
    plant = overloaded()
    plant.pool = replace(POOL, downstream_guard=False)
    decisions = plant.run(900)
    assert not any(decision.reason is Reason.DOWNSTREAM for decision in decisions)
    assert plant.state.guard == PoolState().guard


def test_without_reports_only_alarms_are_looked_at() -> None:
    plant = Plant(replace(POOL, hold_on_alarms=("payments-5xx",)), arrivals_per_s=30.0)
    plant.run(60)
    plant.alarms = (alarm(at_s=plant.now_s + 10),)
    seen_desired = plant.desired

    seen = replace(
        observe(queue(5000, at_s=plant.now_s + 10), desired=seen_desired, at_s=plant.now_s + 10), alarms=plant.alarms
    )
    decision, _ = decide(plant.pool, PoolState(), seen)
    assert (decision.desired, decision.reason) == (seen_desired, Reason.DOWNSTREAM)


@settings(max_examples=15)
@given(st.floats(1, 40), st.floats(0.5, 8), st.floats(8, 200), st.floats(0, 2), st.floats(0, 1), st.booleans())
def test_the_guard_never_adds_and_what_it_remembers_survives_json(
    arrivals: float, service_s: float, limit: float, strain: float, bad_share: float, step_back: bool
) -> None:
    plant = Plant(
        replace(POOL, step_back=step_back),
        arrivals,
        service_s,
        limit,
        strain,
        dependency="payments",
        bad_share=bad_share,
    )
    for decision in plant.run(400):
        cap = next(step.values for step in decision.steps if step.name == "downstream")
        assert cap["after"] <= cap["before"]  # type: ignore[operator]  # both are counts
        assert 1 <= decision.desired <= plant.pool.max_workers
    assert from_json(PoolState, to_json(plant.state)) == plant.state


def test_while_a_step_is_in_doubt_no_further_one_is_made() -> None:
    plant = overloaded()
    decisions = plant.run(120)
    doubt = next(n for n, decision in enumerate(decisions) if decision.reason is Reason.DOWNSTREAM)
    assert "handlers take longer since there are" in decisions[doubt].sentence
    assert all(decision.desired <= decisions[doubt].current for decision in decisions[doubt:])


def test_an_alarm_before_a_step_is_judged_goes_back_to_before_it() -> None:
    plant = Plant(replace(POOL, hold_on_alarms=("payments-5xx",)), arrivals_per_s=10.0)
    plant.run(900)
    plant.arrivals_per_s = 20.0
    while (before := plant.state.guard.before) is None:
        plant.run(10)
    plant.alarms = (alarm(at_s=plant.now_s + 10),)
    plant.run(10)
    assert plant.state.guard.hold is not None
    assert plant.state.guard.hold.cap == before.workers


def test_a_ceiling_below_what_runs_stays_the_ceiling_while_a_step_is_in_doubt() -> None:
    plant = overloaded()
    plant.run(70)
    plant.pool = replace(plant.pool, max_workers=5)
    (decision,) = plant.run(10)
    steps = {step.name: step.values["after"] for step in decision.steps if "after" in step.values}
    assert (steps["ceiling"], steps["downstream"]) == (5, 5)
