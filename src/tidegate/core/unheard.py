"""A fleet of which only some report, taken as a whole: what the others do is what those do, worker for worker."""

from dataclasses import replace

from tidegate.core.fleet import FleetSignals
from tidegate.core.news import Waits

__all__ = ["with_unheard"]


def with_unheard(fleet: FleetSignals, unheard: int) -> FleetSignals:
    """Slots, starts, ends and waits counted of all; what is a mean (service times, the longest wait) stays as told."""
    if not unheard:
        return fleet
    times = 1.0 + unheard / (fleet.taking or fleet.workers)
    slots = fleet.slots + unheard * fleet.slots_per_worker
    return replace(
        fleet,
        workers=fleet.workers + unheard,
        taking=fleet.taking + unheard,
        unheard=unheard,
        slots=slots,
        busy=min(slots, round(fleet.busy * times)),
        busy_workers=round(fleet.busy_workers * times),
        idle=round(fleet.idle * times),
        barred=round(fleet.barred * times),
        buffered=round(fleet.buffered * times),
        starts=fleet.starts * times,
        departures=fleet.departures * times,
        ends=fleet.ends * times,
        waits=_times(fleet.waits, times) if fleet.waits else None,
    )


def _times(waits: Waits, times: float) -> Waits:
    return replace(waits, starts=round(waits.starts * times), sum_s=waits.sum_s * times)
