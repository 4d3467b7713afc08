"""A fleet of which only some report, taken as a whole: what the others do is what those do, worker for worker."""

from dataclasses import replace

from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.signals.news import Waits

__all__ = ["with_unheard"]


def with_unheard(fleet: FleetSignals, unheard: int, lately: int = 0) -> FleetSignals:
    """Slots, starts, ends and waits counted of all; what is a mean (service times, the longest wait) stays as told.

    What is begun is begun by those that take work, and by `lately` of the others that took some until just now; what
    is busy or ends is so in those on their way out as well.
    """
    if not unheard:
        return fleet
    times = 1.0 + unheard / fleet.workers
    begun = 1.0 + unheard / (min(fleet.workers, fleet.taking + lately) or fleet.workers)
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
        starts=fleet.starts * begun,
        departures=fleet.departures * times,
        ends=fleet.ends * times,
        waits=_times(fleet.waits, begun) if fleet.waits else None,
    )


def _times(waits: Waits, times: float) -> Waits:
    return replace(waits, starts=round(waits.starts * times), sum_s=waits.sum_s * times)
