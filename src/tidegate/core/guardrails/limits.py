"""What stands between the workers needed and the workers asked for. One function each, each with its reason.

Every function takes the count so far and gives a `Limit`: the count after it, and the reason when it changed it.
"""

import math
from collections.abc import Sequence
from typing import Final

from tidegate.core.bounds import at_least, at_most
from tidegate.core.ceiling import Ceiling
from tidegate.core.decision import Reason
from tidegate.core.limit import Limit, left_alone
from tidegate.core.model import RAMP_S, Override, OverrideKind, Pool
from tidegate.core.observation import Capacity
from tidegate.core.overrides import describe
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.signals.read import Freshness, Signals

__all__ = [
    "busy_floor",
    "hold",
    "may_cut_off",
    "minimum",
    "overridden",
    "ramp",
    "remember_low",
    "remember_need",
    "to_the_need",
    "trusted",
    "under_ceiling",
]

LARGE_STEP = 0.25
"""A step down by so much of the workers waits for the hold time and no longer."""

PATIENCE_AT_MOST_S = 1800.0
"""However small a step is, and however likely chance explains it: so far back are needs remembered."""

_FRESH: Final = Freshness.FRESH
_HOLD_TIME: Final = Reason.HOLD_TIME
AFTER_GRACE_S = 5.0
"""Of the stop timeout, what a worker keeps for letting go: its handlers have that much less (`worker_settings`)."""


def under_ceiling(need: int, limit: Ceiling) -> Limit:
    """Never ask for more than the bottleneck can take."""
    if need <= limit.workers:
        return left_alone(need)
    return Limit(limit.workers, limit.reason, f"capped at {limit.workers} by {limit.binds}")


def ramp(workers: int, current: int, pool: Pool) -> Limit:
    """Out fast, but in steps: at most the larger of a share of the current count and a number of workers per tick.

    A tick that is longer than `RAMP_S` takes as many steps as it is so long, the last one in part.

    >>> pool = Pool("orders", 30, 0, 100, ramp_share=1.0, ramp_workers=4, tick_s=10)
    >>> ramp(50, current=1, pool=pool).workers, ramp(50, current=20, pool=pool).workers
    (5, 40)
    >>> from dataclasses import replace
    >>> ramp(50, current=1, pool=replace(pool, tick_s=20)).workers
    10
    """
    most, steps = current, at_least(pool.tick_s / RAMP_S, 1.0)
    while most < workers and steps > 0:
        most += _step(most, pool) if steps >= 1.0 else _step(most, pool, steps)
        steps -= 1.0
    if workers <= most:
        return left_alone(workers)
    return Limit(most, Reason.RAMP, f"stepping to {most} on the way to {workers}")


def _step(current: int, pool: Pool, part: float = 1.0) -> int:
    """The most workers of one step; of a part of one as many as make it up together."""
    share = pool.ramp_share if part == 1.0 else math.pow(1.0 + pool.ramp_share, part) - 1.0
    return max(math.ceil(current * share), math.ceil(pool.ramp_workers * part))


def remember_need(
    needs: Sequence[tuple[float, int]], now_s: float, need: int, hold_s: float
) -> tuple[tuple[float, int], ...]:
    """The needs within the hold time that no later one reaches: as much as their maximum can ever ask for.

    >>> remember_need(((10.0, 9), (20.0, 4), (30.0, 3)), now_s=40.0, need=4, hold_s=25.0)
    ((40.0, 4),)
    """
    begin, end = _lately(needs, now_s - hold_s)
    while end > begin and needs[end - 1][1] <= need:
        end -= 1
    return (*needs[begin:end], (now_s, need))


def remember_low(lows: Sequence[tuple[float, int]], now_s: float, need: int) -> tuple[tuple[float, int], ...]:
    """The needs of the last half-hour that no later one undercuts: as much as their minimum can ever ask for.

    >>> remember_low(((10.0, 2), (20.0, 4), (30.0, 6)), now_s=40.0, need=4)
    ((10.0, 2), (20.0, 4), (40.0, 4))
    """
    begin, end = _lately(lows, now_s - PATIENCE_AT_MOST_S)
    while end > begin and lows[end - 1][1] > need:
        end -= 1
    return (*lows[begin:end], (now_s, need))


def _lately(entries: Sequence[tuple[float, int]], since_s: float) -> tuple[int, int]:
    """The places from the first entry that is no older on up to the end; seldom more than one is older."""
    begin = 0
    while begin < len(entries) and entries[begin][0] < since_s:
        begin += 1
    return begin, len(entries)


def hold(
    workers: int,
    current: int,
    needs: Sequence[tuple[float, int]],
    watched_s: float,
    limit: Ceiling,
    hold_s: float,
    *,
    patient: bool,
) -> Limit:
    """In slowly: down to the highest need of the hold time, and not at all before that time has been watched.

    When `patient`, a small step down waits longer, in proportion, up to half an hour: it saves little, and chance alone
    takes it back.
    What was needed above the ceiling holds nothing up: it could not be had.
    """
    if workers >= current:
        return left_alone(workers)
    if watched_s < hold_s:
        return Limit(current, _HOLD_TIME, f"watching for {hold_s:g} s before scaling in")
    most, now_s, held_s = limit.workers, needs[-1][0], hold_s
    for place in range(len(needs) - 1, -1, -1):  # the newest first: needs fall, so each is higher than the one after it
        lower = at_least(at_most(needs[place][1], most), workers)
        if lower >= current:
            break
        held_s = patience_s(hold_s, (current - lower) / current) if patient else hold_s
        ago_s = now_s - needs[place - 1][0] if place else math.inf
        if held_s <= watched_s and ago_s > held_s:
            return _held(lower, workers, f"up to {lower} needed within the last {held_s:.0f} s")
    highest = max(at_most(need, most) for at_s, need in needs if now_s - at_s <= held_s)
    return Limit(current, _HOLD_TIME, f"up to {highest} needed within the last {held_s:.0f} s")


def to_the_need(held: Limit, workers: int, current: int, band: float) -> Limit:
    """Down by the whole difference once it is worth a step: the needs that are held have the band (workers) on top.

    Between the band and the need nothing moves; the next step down is as far away as the last.
    """
    if not workers < held.workers < current:
        return held
    return _held(max(workers, math.ceil(held.workers - band)), workers, held.note)


def _held(kept: int, workers: int, note: str) -> Limit:
    return Limit(kept, _HOLD_TIME, note) if kept > workers else left_alone(workers)


def patience_s(hold_s: float, share: float) -> float:
    """How long a step down by this share of the workers is waited for.

    >>> patience_s(60.0, share=0.5), patience_s(60.0, share=0.05), patience_s(60.0, share=0.001)
    (60.0, 300.0, 1800.0)
    """
    return at_least(hold_s, at_most(hold_s * LARGE_STEP / share, PATIENCE_AT_MOST_S))


def overridden(workers: int, current: int, override: Override | None, limit: Ceiling, capacity: Capacity) -> Limit:
    """An operator's freeze keeps the count as it is; a pin sets it, within the ceiling and the platform's bounds."""
    if override is None:
        return left_alone(workers)
    if override.kind is OverrideKind.FREEZE or override.workers is None:
        return Limit(current, Reason.FROZEN, describe(override))
    pinned = min(max(override.workers, capacity.min_workers or 0), limit.workers)
    return Limit(pinned, Reason.PINNED, describe(override))


def trusted(workers: int, current: int, signals: Signals, capacity: Capacity) -> Limit:
    """Scale in only on signals that are there and fresh, and never while a deployment replaces workers."""
    if workers >= current:
        return left_alone(workers)
    if capacity.deploying:
        return Limit(current, Reason.DEPLOYING, "a deployment is replacing workers")
    for name, state in (("counts", signals.counts), ("reports of some workers", signals.fleet_state)):
        if state is Freshness.STALE:
            return Limit(current, Reason.SIGNAL_STALE, f"{name} are stale")
        if state is not _FRESH:
            return Limit(current, Reason.SIGNAL_MISSING, f"{name} are {state}")
    return left_alone(workers)


def minimum(workers: int, pool: Pool, limit: Ceiling, capacity: Capacity) -> Limit:
    """Never fewer than the pool's minimum (or the schedule's), nor than the platform's own; but under the ceiling."""
    floor = at_least(pool.min_workers, capacity.min_workers or 0)
    if workers >= at_most(floor, limit.workers):
        return left_alone(workers)
    source = (
        f"min_workers from {pool.limits_from}" if floor == pool.min_workers else f"the minimum of {capacity.target}"
    )
    if floor > limit.workers:
        return Limit(limit.workers, limit.reason, f"{source} asks for {floor}, capped by {limit.binds}")
    return Limit(floor, Reason.MINIMUM, f"kept at {floor} by {source}")


def busy_floor(
    workers: int,
    current: int,
    signals: Signals,
    service_time_s: float,
    variation: float,
    pool: Pool,
    *,
    drain: bool = False,
) -> Limit:
    """Never fewer workers than the running handlers need; and none fewer where one of them could be cut off.

    A worker told to stop has the stop timeout, less a little, to finish what it holds, and which worker is stopped is
    the platform's choice. So where running handlers may take longer than that, nobody is stopped while any slot is
    busy. Without reports, messages in flight stand for busy slots: too many (some back off), which is the safe side.
    `drain`: busy workers may go as well, where their handlers can end.
    """
    if workers >= current:
        return left_alone(workers)
    fleet = signals.fleet
    if fleet is None:
        floor = min(current, math.ceil(signals.in_flight / pool.slots_per_worker))
        note = f"{signals.in_flight:.0f} messages are in flight and no worker reports"
    elif may_cut_off(fleet, service_time_s, variation, pool):
        floor, note = current, f"{fleet.busy} slots are busy with handlers that may outlast the stop timeout"
    else:
        floor = 0 if drain else min(current, math.ceil(fleet.busy / fleet.slots_per_worker))
        note = f"{fleet.busy} slots in {fleet.busy_workers} workers are busy"
    return left_alone(workers) if workers >= floor else Limit(floor, Reason.BUSY_FLOOR, note)


def may_cut_off(fleet: FleetSignals, service_time_s: float, variation: float, pool: Pool) -> bool:
    """Whether a running handler could outlast the stop timeout, if the platform stopped its worker."""
    return fleet.busy > 0 and not _fits(service_time_s, variation, pool.stop_timeout_s - AFTER_GRACE_S)


def _fits(service_time_s: float, variation: float, grace_s: float) -> bool:
    """True when a running handler ends within the grace but for about one in a thousand.

    Exponential times (variation 1) need seven means: e^-7; fixed ones need one; in between, and beyond, by the standard
    deviation.
    """
    return service_time_s * (1 + 6 * math.sqrt(variation)) <= grace_s
