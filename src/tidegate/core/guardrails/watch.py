"""What a tick notices before anything is reckoned: who else has a hand on the pool, who is there, what was missed."""

import math

from tidegate.core.estimation.moved_in import moved_in
from tidegate.core.estimation.times import hold_s, start_up_s
from tidegate.core.guardrails.foreign import learn_foreign
from tidegate.core.guardrails.order import idle_since
from tidegate.core.guardrails.starting import learn_presence
from tidegate.core.memory import Contest, MovedIn, Presence, Skew
from tidegate.core.model import Override, Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.overrides import in_force
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.signals.hanging import said_of_hanging
from tidegate.core.signals.read import Signals
from tidegate.core.signals.silence import said_of
from tidegate.core.signals.skew import said_of_clocks
from tidegate.core.value import maker, value

__all__ = ["Watched", "watch"]


@value
class Watched:
    """What `PoolState` remembers under the same names, and `notices`: what was come upon, in words."""

    override: Override | None
    contest: Contest
    presence: Presence
    idle_since_s: float | None
    skew: Skew
    moved_in: MovedIn | None
    watched_since_s: float
    reported_at_s: float | None
    notices: tuple[str, ...]


_watched = maker(Watched)


def watch(pool: Pool, state: PoolState, seen: Observation, signals: Signals, skew: Skew) -> Watched:
    """Let overrides run out, notice a gap in the ticks and what others do, and remember that workers report."""
    now_s, watched_s = seen.now_s, state.watched_since_s
    since_s = math.inf if state.ticked_at_s is None else now_s - state.ticked_at_s
    gap = since_s > 3 * pool.tick_s and since_s > hold_s(pool, start_up_s(pool, state.start_ups_s))
    heard = [worker.reported_at_s for worker in seen.fleet.workers]
    contest, foreign = learn_foreign(pool, state, seen.capacity, now_s)
    said = said_of_clocks(skew), *_of_silent(signals, seen.capacity.running), _held_back(signals.fleet)
    return _watched(
        override=in_force(state.override, now_s),
        contest=contest,
        presence=learn_presence(state, signals, seen.capacity, now_s),
        idle_since_s=idle_since(state.idle_since_s, signals.fleet, signals.waiting, now_s),
        skew=skew,
        moved_in=moved_in(state.moved_in, signals, now_s),
        watched_since_s=now_s if gap or watched_s is None else watched_s,
        reported_at_s=max([*heard, state.reported_at_s or 0.0]) if heard else state.reported_at_s,
        notices=tuple([note for note in (foreign, signals.age_note, *said) if note]),
    )


def _of_silent(signals: Signals, running: int) -> tuple[str, str]:
    heard, hearing = signals.fleet.heard if signals.fleet else 0, signals.hearing
    return said_of(hearing.unheard, heard, running), said_of_hanging(hearing.hanging, heard, running)


def _held_back(fleet: FleetSignals | None) -> str:
    if fleet is None or not fleet.retries_held:
        return ""
    return f"the workers' retry budget has put off {fleet.retries_held} of the latest retries"
