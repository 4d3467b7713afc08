"""Each limit changes the count only for its own reason, and says it."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core import guardrails
from tidegate.core.ceiling import Ceiling, ceiling
from tidegate.core.guardrails import Limit
from tidegate.core.model import Absence, Observation, Override, OverrideKind, PoolState, Reason, WorkerReport
from tidegate.core.signals import FleetSignals, read_signals

CEILING = Ceiling(50, "max_workers from settings")


def fleet(*workers: WorkerReport) -> FleetSignals | None:
    return read_signals(POOL, PoolState(), observe(workers=workers)).fleet


@pytest.mark.parametrize(
    ("max_slots", "platform", "expected"),
    [
        (None, None, Ceiling(50, "max_workers from settings")),
        (42, None, Ceiling(10, "max_slots 42")),
        (42, 7, Ceiling(7, "the maximum of ecs:prod/orders")),
        (400, 60, Ceiling(50, "max_workers from settings")),
    ],
)
def test_the_smallest_constraint_binds_and_is_named(
    max_slots: int | None, platform: int | None, expected: Ceiling
) -> None:
    assert ceiling(replace(POOL, max_slots=max_slots), capacity(maximum=platform)) == expected


@pytest.mark.parametrize(
    ("need", "limit", "expected"),
    [
        (50, CEILING, Limit(50)),
        (51, CEILING, Limit(50, Reason.MAXIMUM, "capped at 50 by max_workers from settings")),
        (51, Ceiling(9, "max_slots 36"), Limit(9, Reason.CEILING, "capped at 9 by max_slots 36")),
    ],
)
def test_the_need_is_cut_to_the_ceiling(need: int, limit: Ceiling, expected: Limit) -> None:
    assert guardrails.under_ceiling(need, limit) == expected


@pytest.mark.parametrize(
    ("current", "share", "workers", "expected"),
    [(0, 1.0, 4, 4), (1, 1.0, 4, 5), (20, 1.0, 4, 40), (20, 0.1, 4, 24), (3, 0.5, 1, 5), (90, 1.0, 4, 100)],
)
def test_a_step_out_is_the_larger_of_the_share_and_the_count(
    current: int, share: float, workers: int, expected: int
) -> None:
    pool = replace(POOL, ramp_share=share, ramp_workers=workers)
    limited = guardrails.ramp(100, current, pool)
    assert limited.workers == expected
    assert (limited.reason is Reason.RAMP) == (expected < 100)


def needs(*values: int, tick_s: float = 10.0) -> tuple[tuple[float, int], ...]:
    remembered: tuple[tuple[float, int], ...] = ()
    for tick, value in enumerate(values):
        remembered = guardrails.remember_need(remembered, NOW_S + tick * tick_s, value, POOL.hold_s)
    return remembered


def test_only_the_hold_time_and_the_need_before_it_are_remembered() -> None:
    assert [need for _, need in needs(*range(20))] == [13, 14, 15, 16, 17, 18, 19]


@pytest.mark.parametrize(
    ("seen", "current", "expected"),
    [
        ((3,), 3, Limit(3)),
        ((3, 3, 3, 3, 3, 3), 9, Limit(9, Reason.HOLD_TIME, "watching for 60 s before scaling in")),
        ((3, 3, 3, 3, 3, 3, 3), 9, Limit(3)),
        ((9, 3, 3, 5, 3, 3, 3, 3), 9, Limit(5, Reason.HOLD_TIME, "5 were needed within the last 60 s")),
        ((99, 3, 3, 3, 3, 3, 3), 9, Limit(9, Reason.HOLD_TIME, "50 were needed within the last 60 s")),
        ((99, 3, 3, 3, 3, 3, 3), 60, Limit(50, Reason.HOLD_TIME, "50 were needed within the last 60 s")),
    ],
)
def test_scale_in_waits_for_the_hold_time_and_goes_to_its_highest_need(
    seen: tuple[int, ...], current: int, expected: Limit
) -> None:
    assert guardrails.hold(seen[-1], current, needs(*seen), CEILING, POOL) == expected


@pytest.mark.parametrize(
    ("seen", "deploying", "reason"),
    [
        (observe(queue(1)), False, None),
        (observe(queue(1)), True, Reason.DEPLOYING),
        (observe(queue(1, at_s=NOW_S - 30)), False, Reason.SIGNAL_STALE),
        (observe(queue(1), queue(absence=Absence.THROTTLED)), False, Reason.SIGNAL_MISSING),
        (observe(queue(1), fleet_absence=Absence.DENIED), False, Reason.SIGNAL_MISSING),
    ],
)
def test_scale_in_needs_fresh_signals_and_no_deployment(
    seen: Observation, deploying: bool, reason: Reason | None
) -> None:
    signals = read_signals(POOL, PoolState(), seen)
    limited = guardrails.trusted(2, 5, signals, capacity(5, deploying=deploying))
    assert (limited.workers, limited.reason) == (2 if reason is None else 5, reason)
    assert guardrails.trusted(7, 5, signals, capacity(5, deploying=deploying)) == Limit(7)


@pytest.mark.parametrize(
    ("service_time_s", "expected"),
    [(0.8, 2), (10.0, 2), (10.1, 3)],
)
def test_busy_slots_keep_their_workers_and_long_jobs_keep_each_worker(service_time_s: float, expected: int) -> None:
    reports = fleet(worker("a", busy=4), worker("b", busy=1), worker("c", busy=1), worker("d"))
    limited = guardrails.busy_floor(1, 4, reports, service_time_s, POOL)
    assert (limited.workers, limited.reason) == (expected, Reason.BUSY_FLOOR)


def test_the_busy_floor_never_asks_for_more_than_there_is() -> None:
    reports = fleet(worker("a", busy=4), worker("b", busy=4), worker("c", busy=4))
    assert guardrails.busy_floor(1, 2, reports, 0.8, POOL).workers == 2
    assert guardrails.busy_floor(2, 2, reports, 0.8, POOL) == Limit(2)
    assert guardrails.busy_floor(3, 4, reports, 0.8, POOL) == Limit(3)
    assert guardrails.busy_floor(0, 2, None, 0.8, POOL) == Limit(0)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        (None, Limit(1, Reason.MINIMUM, "kept at 1 by min_workers from settings")),
        (3, Limit(3, Reason.MINIMUM, "kept at 3 by the minimum of ecs:prod/orders")),
        (0, Limit(1, Reason.MINIMUM, "kept at 1 by min_workers from settings")),
    ],
)
def test_the_larger_minimum_keeps_the_count_up_and_is_named(platform: int | None, expected: Limit) -> None:
    assert guardrails.minimum(0, POOL, capacity(minimum=platform)) == expected
    assert guardrails.minimum(9, POOL, capacity(minimum=platform)) == Limit(9)


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        (None, Limit(9)),
        (
            Override(OverrideKind.FREEZE, "ada@desk", NOW_S),
            Limit(4, Reason.FROZEN, "frozen by ada@desk until resumed; 9 would be right"),
        ),
        (
            Override(OverrideKind.PIN, "ada@desk", NOW_S, until_s=1_800_000_000.0, workers=7),
            Limit(7, Reason.PINNED, "pinned at 7 by ada@desk until 2027-01-15 08:00:00 UTC; 9 would be right"),
        ),
        (
            Override(OverrideKind.PIN, "ada@desk", NOW_S, workers=70),
            Limit(50, Reason.PINNED, "pinned at 70 by ada@desk until resumed; 9 would be right"),
        ),
    ],
)
def test_an_operators_hand_sets_the_count_and_says_who_and_until(hand: Override | None, expected: Limit) -> None:
    assert guardrails.override(9, 4, hand, CEILING) == expected
