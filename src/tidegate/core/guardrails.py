"""What stands between the workers needed and the workers asked for. One function each, each with its reason.

Every function takes the count so far and gives a `Limit`: the count after it, and the reason when it changed it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tidegate.core.ceiling import Ceiling
from tidegate.core.model import Capacity, Override, OverrideKind, Pool, Reason
from tidegate.core.signals import FleetSignals, Freshness, Signals

__all__ = ["Limit", "busy_floor", "hold", "minimum", "override", "ramp", "remember_need", "trusted", "under_ceiling"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A count of workers, and why it is another than before (None: this rule left it alone)."""

    workers: int
    reason: Reason | None = None
    note: str = ""


def under_ceiling(need: int, limit: Ceiling) -> Limit:
    """Never ask for more than the bottleneck can take."""
    if need <= limit.workers:
        return Limit(need)
    reason = Reason.MAXIMUM if limit.binds.startswith("max_workers") else Reason.CEILING
    return Limit(limit.workers, reason, f"capped at {limit.workers} by {limit.binds}")


def ramp(workers: int, current: int, pool: Pool) -> Limit:
    """Out fast, but in steps: at most the larger of a share of the current count and a number of workers per tick.

    >>> pool = Pool("orders", 30, 0, 100, ramp_share=1.0, ramp_workers=4)
    >>> ramp(50, current=1, pool=pool).workers, ramp(50, current=20, pool=pool).workers
    (5, 40)
    """
    most = current + max(math.ceil(current * pool.ramp_share), pool.ramp_workers)
    if workers <= most:
        return Limit(workers)
    return Limit(most, Reason.RAMP, f"stepping to {most} on the way to {workers}")


def remember_need(
    needs: Sequence[tuple[float, int]], now_s: float, need: int, hold_s: float
) -> tuple[tuple[float, int], ...]:
    """The needs of the hold time and the one just before it, which proves that the whole time is covered."""
    before = [entry for entry in needs if entry[0] <= now_s - hold_s]
    within = [entry for entry in needs if now_s - hold_s < entry[0] < now_s]
    return (*before[-1:], *within, (now_s, need))


def hold(workers: int, current: int, needs: Sequence[tuple[float, int]], limit: Ceiling, pool: Pool) -> Limit:
    """In slowly: down to the highest need of the hold time, and not at all before that time has been watched.

    What was needed above the ceiling holds nothing up: it could not be had.
    """
    if workers >= current:
        return Limit(workers)
    now_s = needs[-1][0]
    if now_s - needs[0][0] < pool.hold_s:
        return Limit(current, Reason.HOLD_TIME, f"watching for {pool.hold_s:g} s before scaling in")
    highest = min(max(need for _, need in needs), limit.workers)
    if highest <= workers:
        return Limit(workers)
    kept = min(current, highest)
    return Limit(kept, Reason.HOLD_TIME, f"{highest} were needed within the last {pool.hold_s:g} s")


def trusted(workers: int, current: int, signals: Signals, capacity: Capacity) -> Limit:
    """Scale in only on signals that are there and fresh, and never while a deployment replaces workers."""
    if workers >= current:
        return Limit(workers)
    if capacity.deploying:
        return Limit(current, Reason.DEPLOYING, "a deployment is replacing workers")
    for name, state in (("counts", signals.counts), ("workers' reports", signals.fleet_state)):
        if state is Freshness.STALE:
            return Limit(current, Reason.SIGNAL_STALE, f"{name} are stale")
        if state is not Freshness.FRESH:
            return Limit(current, Reason.SIGNAL_MISSING, f"{name} are {state}")
    return Limit(workers)


def busy_floor(workers: int, current: int, fleet: FleetSignals | None, service_time_s: float, pool: Pool) -> Limit:
    """Never fewer workers than the running handlers occupy, as the workers report it.

    A worker told to stop has the stop timeout to finish what it holds. Where three mean service times fit into that,
    enough slots for the busy ones are enough; where they don't, every worker with a busy slot stays.
    """
    if fleet is None or workers >= current:
        return Limit(workers)
    packed = math.ceil(fleet.busy / pool.slots_per_worker)
    floor = packed if 3 * service_time_s <= pool.stop_timeout_s else fleet.busy_workers
    if workers >= floor:
        return Limit(workers)
    return Limit(min(current, floor), Reason.BUSY_FLOOR, f"{fleet.busy} slots in {fleet.busy_workers} workers are busy")


def minimum(workers: int, pool: Pool, capacity: Capacity) -> Limit:
    """Never fewer than the pool's minimum (or the schedule's), nor than the platform's own."""
    limits = [(pool.min_workers, f"min_workers from {pool.limits_from}")]
    if capacity.min_workers is not None:
        limits.append((capacity.min_workers, f"the minimum of {capacity.target}"))
    floor, source = max(limits, key=lambda limit: limit[0])
    return Limit(workers) if workers >= floor else Limit(floor, Reason.MINIMUM, f"kept at {floor} by {source}")


def override(workers: int, current: int, hand: Override | None, limit: Ceiling) -> Limit:
    """An operator's freeze keeps the count as it is; a pin sets it, at most to the ceiling. Both say who and until."""
    if hand is None:
        return Limit(workers)
    until = "until resumed"
    if hand.until_s is not None:
        until = f"until {datetime.fromtimestamp(hand.until_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if hand.kind is OverrideKind.FREEZE or hand.workers is None:
        return Limit(current, Reason.FROZEN, f"frozen by {hand.who} {until}; {workers} would be right")
    pinned = min(hand.workers, limit.workers)
    return Limit(pinned, Reason.PINNED, f"pinned at {hand.workers} by {hand.who} {until}; {workers} would be right")
