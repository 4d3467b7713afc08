"""Each limit changes the count only for its own reason, and says it."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.ceiling import Ceiling, ceiling
from tidegate.core.decision import Reason
from tidegate.core.guardrails import limits
from tidegate.core.limit import Limit
from tidegate.core.model import Override, OverrideKind, PoolState
from tidegate.core.observation import Observation
from tidegate.core.overrides import describe, in_force
from tidegate.core.reports import WorkerReport
from tidegate.core.signals.read import Signals, read_signals

CEILING = Ceiling(50, "max_workers from settings", Reason.MAXIMUM)


def signals(*workers: WorkerReport, in_flight: int = 0) -> Signals:
    return read_signals(POOL, PoolState(), observe(queue(0, in_flight), workers=workers))


@pytest.mark.parametrize(
    ("max_slots", "platform", "expected"),
    [
        (None, None, CEILING),
        (42, None, Ceiling(10, "max_slots 42")),
        (42, 7, Ceiling(7, "the maximum of ecs:prod/orders")),
        (400, 60, CEILING),
    ],
)
def test_the_smallest_constraint_binds_and_is_named(
    max_slots: int | None, platform: int | None, expected: Ceiling
) -> None:
    assert ceiling(replace(POOL, max_slots=max_slots), capacity(maximum=platform), slots_per_worker=4) == expected


@pytest.mark.parametrize(
    ("need", "limit", "expected"),
    [
        (50, CEILING, Limit(50)),
        (51, CEILING, Limit(50, Reason.MAXIMUM, "capped at 50 by max_workers from settings")),
        (51, Ceiling(9, "max_slots 36"), Limit(9, Reason.CEILING, "capped at 9 by max_slots 36")),
    ],
)
def test_the_need_is_cut_to_the_ceiling(need: int, limit: Ceiling, expected: Limit) -> None:
    assert limits.under_ceiling(need, limit) == expected


@pytest.mark.parametrize(
    ("current", "share", "workers", "expected"),
    [(0, 1.0, 4, 4), (1, 1.0, 4, 5), (20, 1.0, 4, 40), (20, 0.1, 4, 24), (3, 0.5, 1, 5), (90, 1.0, 4, 100)],
)
def test_a_step_out_is_the_larger_of_the_share_and_the_count(
    current: int, share: float, workers: int, expected: int
) -> None:
    pool = replace(POOL, ramp_share=share, ramp_workers=workers)
    limited = limits.ramp(100, current, pool)
    assert limited.workers == expected
    assert (limited.reason is Reason.RAMP) == (expected < 100)


@pytest.mark.parametrize(
    ("tick_s", "expected"), [(1.0, 8), (10.0, 8), (15.0, 12), (20.0, 16), (25.0, 23), (30.0, 32), (60.0, 256)]
)
def test_a_tick_that_is_longer_than_ten_seconds_takes_a_step_for_each_ten_of_its_seconds(
    tick_s: float, expected: int
) -> None:
    pool = replace(POOL, ramp_share=1.0, ramp_workers=4, tick_s=tick_s)
    assert limits.ramp(1000, 4, pool).workers == expected


@given(st.integers(0, 200), st.floats(0, 4), st.integers(1, 50), st.integers(1, 6))
def test_a_long_tick_comes_as_far_as_so_many_short_ones(current: int, share: float, workers: int, ticks: int) -> None:
    pool = replace(POOL, ramp_share=share, ramp_workers=workers, tick_s=10.0)
    stepped = current
    for _ in range(ticks):
        stepped = limits.ramp(10**9, stepped, pool).workers
    assert limits.ramp(10**9, current, replace(pool, tick_s=10.0 * ticks)).workers == stepped


def needs(*values: int, kept_s: float = 60.0) -> tuple[tuple[float, int], ...]:
    remembered: tuple[tuple[float, int], ...] = ()
    for tick, value in enumerate(values):
        remembered = limits.remember_need(remembered, NOW_S + tick * 10, value, kept_s)
    return remembered


@pytest.mark.parametrize(
    ("seen", "kept"),
    [(range(20), [19]), (range(20, 0, -1), [7, 6, 5, 4, 3, 2, 1]), ([3, 9, 4, 4, 5, 2], [9, 5, 2])],
)
def test_only_needs_of_the_hold_time_that_no_later_one_exceeds_are_remembered(seen: list[int], kept: list[int]) -> None:
    assert [need for _, need in needs(*seen)] == kept


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60))
def test_the_highest_remembered_is_the_highest_of_the_hold_time(seen: list[int]) -> None:
    assert max(need for _, need in needs(*seen)) == max(seen[-7:])


@pytest.mark.parametrize(
    ("seen", "current", "watched_s", "expected"),
    [
        ((3,), 3, 0, Limit(3)),
        ((3, 3, 3, 3, 3, 3), 9, 59, Limit(9, Reason.HOLD_TIME, "watching for 60 s before scaling in")),
        ((3, 3, 3, 3, 3, 3, 3), 9, 60, Limit(3)),
        ((9, 8, 8, 8, 8, 8, 8, 8), 9, 70, Limit(9, Reason.HOLD_TIME, "up to 9 needed within the last 135 s")),
        ((9, *[8] * 14), 9, 140, Limit(8)),
        ((9, 3, 3, 5, 3, 3, 3, 3), 9, 70, Limit(5, Reason.HOLD_TIME, "up to 5 needed within the last 60 s")),
        ((99, 3, 3, 3, 3, 3, 3), 9, 60, Limit(9, Reason.HOLD_TIME, "up to 50 needed within the last 60 s")),
        ((99, *[3] * 6), 60, 60, Limit(60, Reason.HOLD_TIME, "up to 50 needed within the last 90 s")),
    ],
)
def test_scale_in_waits_for_the_hold_time_and_goes_to_its_highest_need(
    seen: tuple[int, ...], current: int, watched_s: float, expected: Limit
) -> None:
    assert (
        limits.hold(seen[-1], current, needs(*seen, kept_s=1800.0), watched_s, CEILING, 60.0, patient=True) == expected
    )


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
    read = read_signals(POOL, PoolState(), seen)
    limited = limits.trusted(2, 5, read, capacity(5, deploying=deploying))
    assert (limited.workers, limited.reason) == (2 if reason is None else 5, reason)
    assert limits.trusted(7, 5, read, capacity(5, deploying=deploying)) == Limit(7)


BUSY = (worker("a", busy=4), worker("b", busy=1), worker("c", busy=1), worker("d"))


@pytest.mark.parametrize(
    ("service_time_s", "variation", "expected"),
    [(0.8, 1.0, 2), (3.5, 1.0, 2), (3.7, 1.0, 4), (24.0, 0.0, 2), (26.0, 0.0, 4), (2.0, 4.0, 4), (math.inf, 1.0, 4)],
)
def test_busy_slots_keep_workers_enough_and_handlers_that_outlast_the_stop_timeout_keep_all(
    service_time_s: float, variation: float, expected: int
) -> None:
    limited = limits.busy_floor(1, 4, signals(*BUSY), service_time_s, variation, POOL)
    assert (limited.workers, limited.reason) == (expected, Reason.BUSY_FLOOR)


def test_an_idle_fleet_of_long_handlers_may_go() -> None:
    assert limits.busy_floor(0, 2, signals(worker("a"), worker("b")), math.inf, 1.0, POOL) == Limit(0)


def test_the_floor_counts_the_slots_that_workers_have_not_those_of_the_settings() -> None:
    single = tuple(worker(f"w{n}", busy=1, slots=1) for n in range(10))
    assert limits.busy_floor(1, 12, signals(*single), 0.8, 1.0, POOL).workers == 10


def test_without_reports_messages_in_flight_keep_their_workers() -> None:
    limited = limits.busy_floor(1, 10, signals(in_flight=9), 600, 1.0, POOL)
    assert limited == Limit(3, Reason.BUSY_FLOOR, "9 messages are in flight and no worker reports")
    assert limits.busy_floor(0, 2, signals(), 0.8, 1.0, POOL) == Limit(0)


def test_the_busy_floor_never_asks_for_more_than_there_is() -> None:
    full = signals(worker("a", busy=4), worker("b", busy=4), worker("c", busy=4))
    assert limits.busy_floor(1, 2, full, 0.8, 1.0, POOL).workers == 2
    assert limits.busy_floor(2, 2, full, 0.8, 1.0, POOL) == Limit(2)
    assert limits.busy_floor(3, 4, full, 0.8, 1.0, POOL) == Limit(3)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        (None, Limit(1, Reason.MINIMUM, "kept at 1 by min_workers from settings")),
        (3, Limit(3, Reason.MINIMUM, "kept at 3 by the minimum of ecs:prod/orders")),
        (0, Limit(1, Reason.MINIMUM, "kept at 1 by min_workers from settings")),
        (
            60,
            Limit(
                50, Reason.MAXIMUM, "the minimum of ecs:prod/orders asks for 60, capped by max_workers from settings"
            ),
        ),
    ],
)
def test_the_larger_minimum_keeps_the_count_up_under_the_ceiling_and_is_named(
    platform: int | None, expected: Limit
) -> None:
    assert limits.minimum(0, POOL, CEILING, capacity(minimum=platform)) == expected
    assert limits.minimum(99, POOL, CEILING, capacity(minimum=platform)) == Limit(99)


FROZEN = Override(OverrideKind.FREEZE, "ada@desk", NOW_S)
PINNED = Override(OverrideKind.PIN, "ada@desk", NOW_S, until_s=1_800_000_000.0, workers=7)


@pytest.mark.parametrize(
    ("override", "platform_minimum", "expected"),
    [
        (None, None, Limit(9)),
        (FROZEN, None, Limit(4, Reason.FROZEN, "frozen by ada@desk until resumed")),
        (
            PINNED,
            None,
            Limit(7, Reason.PINNED, "pinned at 7 by ada@desk until 2027-01-15 08:00:00 UTC"),
        ),
        (
            replace(PINNED, until_s=None, workers=70),
            None,
            Limit(50, Reason.PINNED, "pinned at 70 by ada@desk until resumed"),
        ),
        (
            replace(PINNED, until_s=None, workers=0),
            2,
            Limit(2, Reason.PINNED, "pinned at 0 by ada@desk until resumed"),
        ),
    ],
)
def test_an_override_sets_the_count_within_the_bounds_and_says_who_and_until(
    override: Override | None, platform_minimum: int | None, expected: Limit
) -> None:
    assert limits.overridden(9, 4, override, CEILING, capacity(minimum=platform_minimum)) == expected


@pytest.mark.parametrize("until_s", [-1.0, 1e12, 1e300, math.inf, math.nan])
def test_an_override_with_an_end_that_no_calendar_has_is_still_described(until_s: float) -> None:
    assert describe(replace(PINNED, until_s=until_s)) == "pinned at 7 by ada@desk until resumed"


def test_an_override_holds_until_its_end_and_not_at_it() -> None:
    assert in_force(PINNED, 1_799_999_999.9) is PINNED
    assert in_force(PINNED, 1_800_000_000.0) is None
    assert in_force(FROZEN, 1e12) is FROZEN
    assert in_force(None, 0.0) is None


def test_a_step_down_beyond_the_band_goes_all_the_way_to_the_need() -> None:
    held = Limit(49, Reason.HOLD_TIME, "up to 49")
    assert limits.to_the_need(held, 40, 50, band=1.9).workers == 48
    assert limits.to_the_need(held, 48, 50, band=20.0) == Limit(48)
    assert limits.to_the_need(held, 40, 49, band=1.9) == held


@given(st.lists(st.tuples(st.floats(0, 2400), st.integers(0, 50)), max_size=30), st.integers(0, 50))
def test_the_lows_kept_give_the_least_need_of_the_last_half_hour(past: list[tuple[float, int]], need: int) -> None:
    lows: tuple[tuple[float, int], ...] = ()
    for ago_s, count in sorted(past, reverse=True):
        lows = limits.remember_low(lows, NOW_S - ago_s, count)
    kept = limits.remember_low(lows, NOW_S, need)
    recent = [count for ago_s, count in past if ago_s <= limits.PATIENCE_AT_MOST_S]
    assert kept[0][1] == min([*recent, need])
