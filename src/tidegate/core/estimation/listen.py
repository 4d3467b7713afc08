"""What the workers' reports bring that is remembered at each tick, whether counts can be read or not."""

import math

from tidegate.core.estimation.times import learn_start_up, learn_start_up_seen, pending_only
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.signals.fleet import fleet_limit
from tidegate.core.signals.hanging import learn_silent_work
from tidegate.core.signals.read import Signals
from tidegate.core.signals.silence import settled, young_s
from tidegate.core.value import changed

__all__ = ["listen"]


def listen(pool: Pool, state: PoolState, seen: Observation, signals: Signals) -> PoolState:
    """With who has come, who is silent, what was begun, and how workers are set up: as told now, else as last told."""
    hearing, fleet = signals.hearing, signals.fleet
    if fleet is None and state.reported_at_s is None and signals.fleet_readable:  # a pool without the SDK
        starting = learn_start_up_seen(pool, state, seen.capacity)
    else:
        starting = learn_start_up(state, seen.capacity, seen.fleet)
    raises = starting.raises
    begun = settled(hearing.silence, seen.now_s, young_s(state))
    if hearing.mixed or hearing.unheard:
        young = settled(hearing.silence, math.inf) - begun
        raises = pending_only(raises, max(0, seen.capacity.desired - seen.capacity.running) + young)
    return changed(
        state,
        raises=raises,
        known_workers=starting.known_workers,
        start_ups_s=starting.start_ups_s,
        unsampled=state.unsampled + (fleet.starts if fleet else 0),
        silence=hearing.silence,
        silent_work=learn_silent_work(
            state.silent_work, fleet, begun, signals.waiting, signals.in_flight, signals.deleted_per_s
        ),
        mixed_at_s=hearing.mixed_at_s,
        reports_read_at_s=seen.now_s if signals.fleet_heard else state.reports_read_at_s,
        slots_per_worker=fleet.slots_per_worker if fleet else state.slots_per_worker,
        fleet_slots=fleet_limit(state.fleet_slots, fleet),
    )
