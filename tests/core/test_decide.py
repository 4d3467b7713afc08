"""Whole decisions: the worked example, and the cases that must be told apart."""

from dataclasses import replace

import pytest

from tests.core.observations import HELD, NOW_S, POOL, STEADY_12, capacity, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Action, Decision, Reason
from tidegate.core.model import Override, OverrideKind, PoolState, Sample, ServiceTime
from tidegate.core.reports import WAIT_BOUNDS_S, WorkFigures


def value(decision: Decision, step: str, name: str) -> object:
    return next(s for s in decision.steps if s.name == step).values[name]


def test_the_worked_example_needs_48_slots_and_12_workers() -> None:
    reports = (worker("w1", busy=4, completions=120),)
    decision, state = decide(POOL, PoolState(samples=STEADY_12), observe(queue(9000), workers=reports))
    assert value(decision, "size", "slots") == pytest.approx(48.0)
    assert (decision.current, decision.desired, decision.action, decision.reason) == (1, 12, Action.OUT, Reason.NEED)
    assert decision.sentence == (
        "1 → 12 workers: 12.0/s arriving at 0.8 s each and 9000 waiting (head 60 s of 30 s allowed) need 12 workers"
    )
    order = (
        "signals capacity estimate size ceiling downstream ramp starting minimum hold contest override freshness busy "
        "retire"
    )
    assert " ".join(step.name for step in decision.steps) == order
    assert state.raises == ((NOW_S, 11),)
    assert state.desired == 12


def test_automatic_utilization_comes_from_the_load_and_the_measured_spread() -> None:
    automatic = replace(POOL, policy="littles-law", utilization=None, target_wait_s=0.8, drain_target_s=None)
    samples = tuple(Sample(NOW_S - 60 + 10 * n, 25.0 * n, 0, 0) for n in range(6))
    reports = (worker("w1", completions=25),)
    decision, _ = decide(automatic, PoolState(samples=samples), observe(queue(0), workers=reports))
    assert (value(decision, "size", "slots"), value(decision, "size", "utilization")) == (4, 0.5)
    spread = ServiceTime(runs=1000, sum_s=800, square_sum_s2=1280)
    decision, _ = decide(automatic, PoolState(samples=samples, service_time=spread), observe(workers=reports))
    assert (value(decision, "size", "slots"), value(decision, "size", "utilization")) == (5, 0.4)


def test_the_drain_time_is_what_is_left_until_the_target_with_a_floor() -> None:
    pool = replace(POOL, drain_target_s=None, target_wait_s=60, start_up_hint_s=20)
    fresh, _ = decide(pool, PoolState(), observe(queue(500, age_s=10)))
    late, _ = decide(pool, PoolState(), observe(queue(500, age_s=300)))
    assert (value(fresh, "size", "drain_s"), value(late, "size", "drain_s")) == (40, 20)
    slow = replace(pool, start_up_hint_s=90)
    assert value(decide(slow, PoolState(), observe(queue(500)))[0], "size", "drain_s") == 60


def test_a_first_look_says_that_arrivals_are_not_known_yet() -> None:
    decision, _ = decide(POOL, PoolState(), observe(queue(100)))
    assert "arrivals not known before the next look" in decision.sentence
    assert value(decision, "estimate", "arrivals_from") == "unmeasured"


def test_a_pool_at_its_minimum_is_not_said_to_be_on_its_way_below() -> None:
    decision, _ = decide(POOL, PoolState(), observe(queue(0), desired=1))
    assert (decision.reason, decision.sentence.split(": ")[0]) == (Reason.MINIMUM, "held at 1 worker")


def test_an_idle_pool_with_no_minimum_goes_to_zero_and_one_message_wakes_it() -> None:
    pool = replace(POOL, min_workers=0)
    assert decide(pool, HELD, observe(queue(0), desired=2))[0].desired == 1
    nothing = replace(HELD, needs=((NOW_S - 30, 0),))
    assert decide(pool, nothing, observe(queue(0), desired=2))[0].desired == 0
    assert decide(pool, nothing, observe(queue(1), seen=capacity(0)))[0].desired == 1


@pytest.mark.parametrize("mean_s", [0.0, 1e-9])
def test_handlers_too_short_to_measure_still_need_a_worker(mean_s: float) -> None:
    pool = replace(POOL, min_workers=0, service_time_hint_s=None, drain_target_s=1e6)
    state = PoolState(service_time=ServiceTime(100, 100 * mean_s, 0.0))
    assert decide(pool, state, observe(queue(1000), seen=capacity(0)))[0].desired == 1


@pytest.mark.parametrize(
    ("absence", "reason"),
    [
        (Absence.GONE, Reason.QUEUE_GONE),
        (Absence.DENIED, Reason.QUEUE_DENIED),
        (Absence.THROTTLED, Reason.SIGNAL_MISSING),
        (Absence.UNREACHABLE, Reason.SIGNAL_MISSING),
        (Absence.INVALID, Reason.SIGNAL_MISSING),
    ],
)
def test_a_queue_that_cannot_be_read_holds_the_count_and_is_an_error_not_zero(absence: Absence, reason: Reason) -> None:
    decision, _ = decide(POOL, HELD, observe(queue(absence=absence), desired=7))
    assert (decision.desired, decision.action, decision.reason) == (7, Action.HOLD, reason)
    assert decision.errors == (f"orders: the queue is {absence}",)
    assert decision.sentence.startswith("held at 7 workers: the queue's counts are")


def test_stale_counts_of_nothing_hold_the_count() -> None:
    decision, _ = decide(POOL, HELD, observe(queue(0, at_s=NOW_S - 100), desired=7))
    assert (decision.desired, decision.reason) == (7, Reason.SIGNAL_STALE)


def test_a_blind_tick_still_keeps_the_minimum() -> None:
    decision, _ = decide(POOL, HELD, observe(queue(absence=Absence.THROTTLED), seen=capacity(0)))
    assert (decision.desired, decision.reason) == (1, Reason.MINIMUM)


def test_without_a_service_time_one_worker_is_started_to_measure_with() -> None:
    pool = replace(POOL, min_workers=0, service_time_hint_s=None)
    decision, _ = decide(pool, PoolState(), observe(queue(500), seen=capacity(0)))
    assert (decision.desired, decision.reason) == (1, Reason.UNMEASURED)
    idle, _ = decide(pool, PoolState(), observe(queue(0), seen=capacity(0)))
    assert (idle.desired, idle.action) == (0, Action.HOLD)
    assert "service_time_hint" in idle.sentence


def looked_at_long_jobs(seconds: int, *, waiting: int, desired: int) -> Decision:
    """One worker began four jobs at once, none has ended; nobody knows how long they take."""
    pool = replace(POOL, min_workers=0, target_wait_s=300.0, service_time_hint_s=None)
    state, decisions = PoolState(), list[Decision]()
    for elapsed_s in range(0, seconds + 1, 10):
        now_s = NOW_S + elapsed_s
        began = WorkFigures(span_s=10.0, starts=4 if elapsed_s == 0 else 0)
        told = replace(worker(busy=4, at_s=now_s), recent=began, total=WorkFigures(span_s=elapsed_s + 10.0, starts=4))
        there = capacity(decisions[-1].desired if decisions else desired, running=1, at_s=now_s)
        seen = observe(queue(waiting, in_flight=4, at_s=now_s), seen=there, workers=(told,), at_s=now_s)
        decision, state = decide(pool, state, seen)
        decisions.append(decision)
    return decisions[-1]


def test_handlers_that_have_not_ended_are_reckoned_with_what_they_have_taken_so_far() -> None:
    """No hint, and jobs of hours: what waits would else wait until the first of them ends."""
    early = looked_at_long_jobs(10, waiting=3, desired=1)
    assert early.desired == 1
    late = looked_at_long_jobs(400, waiting=3, desired=1)
    assert late.desired == 2
    assert "none given up" in late.sentence
    size = next(step for step in late.steps if step.name == "estimate").values
    assert size["service_time_from"] == "still running"
    assert size["service_time_s"] == pytest.approx(400, rel=0.05)


def test_what_handlers_have_taken_so_far_gives_no_worker_up() -> None:
    decision = looked_at_long_jobs(400, waiting=0, desired=7)
    assert decision.desired == 7


def test_long_jobs_in_flight_with_an_empty_backlog_keep_their_workers() -> None:
    """Which worker is stopped is the platform's choice, so none is while a long handler runs anywhere."""
    state = replace(HELD, service_time=ServiceTime(100, 60_000, 4e7))
    busy = tuple(worker(f"w{n}", busy=1) for n in range(5))
    decision, _ = decide(POOL, state, observe(queue(0, in_flight=5), desired=6, workers=(*busy, worker("w9"))))
    assert (decision.desired, decision.reason) == (6, Reason.BUSY_FLOOR)


def test_long_jobs_without_the_sdk_keep_a_worker_for_each_slot_in_flight() -> None:
    pool = replace(POOL, slots_per_worker=1, service_time_hint_s=600)
    decision, _ = decide(pool, HELD, observe(queue(0, in_flight=10), desired=12))
    assert (decision.desired, decision.reason) == (10, Reason.BUSY_FLOOR)


def test_workers_that_fell_silent_are_not_taken_for_idle_ones() -> None:
    heard = tuple(worker(f"w{n}") for n in range(2))
    decision, _ = decide(POOL, HELD, observe(queue(0, in_flight=8), desired=10, workers=heard))
    assert (decision.desired, decision.reason) == (10, Reason.SIGNAL_STALE)


def test_workers_with_other_slots_than_the_settings_say_are_sized_by_what_they_have() -> None:
    single = tuple(worker(f"w{n}", slots=1, completions=1) for n in range(4))
    decision, _ = decide(POOL, PoolState(samples=STEADY_12), observe(queue(9000), desired=4, workers=single))
    assert value(decision, "size", "slots_per_worker") == 1
    assert decision.steps[0].note == "slots per worker: 1 as the workers report, 4 in the settings"


def test_a_frozen_pool_stays_and_a_pinned_one_goes_where_it_is_pinned_until_the_time_is_up() -> None:
    frozen = replace(HELD, override=Override(OverrideKind.FREEZE, "ada", NOW_S - 5))
    decision, kept = decide(POOL, frozen, observe(queue(9000), desired=3))
    assert (decision.desired, decision.reason, kept.override) == (3, Reason.FROZEN, frozen.override)
    pinned = replace(HELD, override=Override(OverrideKind.PIN, "ada", NOW_S - 5, until_s=NOW_S + 1, workers=20))
    assert decide(POOL, pinned, observe(queue(0), desired=3))[0].desired == 20
    lapsed, state = decide(POOL, pinned, observe(queue(0, at_s=NOW_S + 1), desired=3, at_s=NOW_S + 1))
    assert (lapsed.desired, state.override) == (1, None)


def pin(workers: int) -> PoolState:
    return replace(HELD, override=Override(OverrideKind.PIN, "ada", NOW_S - 5, workers=workers), reported_at_s=NOW_S)


def test_a_pin_goes_below_the_minimum_at_once_but_not_on_missing_signals_nor_under_running_handlers() -> None:
    idle = tuple(worker(f"w{n}") for n in range(6))
    assert decide(POOL, pin(0), observe(queue(0), desired=6, workers=idle))[0].desired == 0
    silent, _ = decide(POOL, pin(0), observe(queue(0), desired=6))
    assert (silent.desired, silent.reason) == (6, Reason.SIGNAL_STALE)
    long = replace(pin(1), service_time=ServiceTime(100, 60_000, 4e7))
    busy = tuple(worker(f"w{n}", busy=1) for n in range(6))
    held, _ = decide(POOL, long, observe(queue(0, in_flight=6), desired=6, workers=busy))
    assert (held.desired, held.reason) == (6, Reason.BUSY_FLOOR)
    for decision in (silent, held):
        assert "by ada until resumed" in decision.sentence, "every decision under an override says so"


def test_a_controller_that_was_away_watches_again_before_it_scales_in() -> None:
    away = replace(HELD, ticked_at_s=NOW_S - 3600, watched_since_s=NOW_S - 7200)
    decision, state = decide(POOL, away, observe(queue(0), desired=5))
    assert (decision.desired, decision.reason, state.watched_since_s) == (5, Reason.HOLD_TIME, NOW_S)


def test_the_measured_waits_are_in_the_decision() -> None:
    waits = tuple(3 if edge == 45 else 0 for edge in (*WAIT_BOUNDS_S, 0))
    decision, _ = decide(POOL, HELD, observe(queue(0), workers=(worker(completions=3, waits=waits),)))
    assert (value(decision, "signals", "late_share"), value(decision, "signals", "wait_p99_s")) == (1.0, 45)


def test_a_desired_count_set_by_somebody_else_is_noticed() -> None:
    decision, _ = decide(POOL, replace(HELD, desired=4), observe(queue(0), desired=9))
    note = next(step.note for step in decision.steps if step.name == "capacity")
    assert note == "desired was 4 when tidegate last set it: somebody else sets it too"
