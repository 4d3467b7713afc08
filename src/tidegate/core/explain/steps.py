"""What was seen and what was made of it, as the first steps of a decision."""

from tidegate.core.decision import Scalar, Step, shown
from tidegate.core.estimation.load import Load
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.signals.read import Signals

__all__ = ["capacity_step", "estimate_step", "signals_step"]

_UNTOLD = "messages in flight ÷ deletions a second: what backs off in flight after a failure counts as worked on"


def signals_step(pool: Pool, state: PoolState, signals: Signals, now_s: float) -> Step:
    """Each signal as it was read, and how far it can be trusted."""
    fleet = signals.fleet
    waits = fleet.waits if fleet else None
    values: dict[str, Scalar] = {
        "since_s": None if state.ticked_at_s is None else shown(now_s - state.ticked_at_s, 2),
        "counts": str(signals.counts),
        "waiting": signals.waiting,
        "in_flight": signals.in_flight,
        "delayed": signals.delayed,
        "age_s": signals.age_s,
        "age": signals.age,
        "sent_per_s": signals.sent_per_s,
        "deleted_per_s": signals.deleted_per_s,
        "fleet": str(signals.fleet_state),
        "reporting": fleet.workers - fleet.unheard if fleet else 0,
        "busy_slots": fleet.busy if fleet else None,
        "completed": fleet.departures if fleet else None,
        "leases_lost": fleet.leases_lost if fleet else None,
        "waits_measured": waits.starts if waits else None,
        "late_share": shown(waits.late_share, 4) if waits else None,
        "wait_p99_s": waits.p99_s if waits else None,
    }
    notes = (_reports(pool, signals), signals.age_note, signals.unseen)
    return Step("signals", values, "; ".join(filter(None, notes)))


def _reports(pool: Pool, signals: Signals) -> str:
    fleet = signals.fleet
    if fleet is None:
        return "no worker reports"
    if fleet.slots_per_worker == pool.slots_per_worker:
        return ""
    return f"slots per worker: {fleet.slots_per_worker} as the workers report, {pool.slots_per_worker} in the settings"


def capacity_step(state: PoolState, seen: Observation, slots_per_worker: int) -> Step:
    """The platform's counts, and whether somebody else set the desired one."""
    capacity = seen.capacity
    foreign = state.desired is not None and state.desired != capacity.desired
    note = f"desired was {state.desired} when tidegate last set it: somebody else sets it too" if foreign else ""
    values = {
        "desired": capacity.desired,
        "slots": capacity.desired * slots_per_worker,
        "running": capacity.running,
        "pending": capacity.pending,
        "deploying": capacity.deploying,
    }
    return Step("capacity", values, note)


def estimate_step(pool: Pool, load: Load) -> Step:
    """Rates and times, each with its source."""
    values: dict[str, Scalar] = {
        "arrivals_per_s": shown(load.arrivals.value, 3),
        "arrivals_from": load.arrivals.source,
        "service_time_s": shown(load.service_time.value, 4),
        "service_time_from": load.service_time.source,
        "variation": shown(load.variation, 3),
        "head_age_s": shown(load.head_age.value, 2),
        "head_age_from": load.head_age.source,
        "oldest_over_target": shown(load.head_age.value / pool.target_wait_s, 3),
        "start_up_s": shown(load.start_up.value, 2),
        "start_up_from": load.start_up.source,
    }
    return Step("estimate", values, _UNTOLD if load.service_time.source == "cloudwatch" else "")
