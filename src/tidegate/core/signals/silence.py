"""Workers that run, as the platform says, and of which nothing is heard: how many, for how long, and what follows.

One that reported and fell silent may be busy for all that is known, and its next report tells all that it did: nothing
is reckoned in its place, and nothing scaled in. One of which nothing was heard for a quarter of an hour is a worker
without the SDK, or one that can't write the table: it is taken to do what those do that report, unless it is proven
that it does nothing (`core.signals.hanging`).
"""

from tidegate.core.bounds import at_least
from tidegate.core.memory import Silence
from tidegate.core.model import PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerState
from tidegate.core.signals.astray import SILENT_LIMIT_S, written_off
from tidegate.core.signals.fleet import heard_of
from tidegate.core.signals.hanging import nothing_done
from tidegate.core.value import value

__all__ = ["Hearing", "hear", "is_mixed", "learn_silence", "said_of", "settled", "young_s"]

YOUNG_S = 60.0
"""From the start of a process to its first report, and some: where others don't report, none is waited for longer than
this, or than the longest start-up that was measured lately."""

MIXED_FORGOTTEN_S = 86_400.0
"""That some of a pool's workers don't report is remembered for a day without any such."""


@value
class Hearing:
    """`silence` and `mixed_at_s` are remembered under these names; `unheard` workers are taken to do as those that
    report; `stale`: others may be busy for all that is known."""

    silence: Silence = ()
    mixed_at_s: float | None = None
    unheard: int = 0
    stale: bool = False
    mixed: bool = False
    """Workers without reports are usual in this pool."""
    hanging: int = 0
    """Others that run and do nothing, as is proven."""


def hear(state: PoolState, seen: Observation, heard: int, *, uses_sdk: bool) -> Hearing:
    """What is made of the workers that run and do not report, beside `heard` that do. A pool that does not use the SDK
    only remembers them.
    """
    now_s, running = seen.now_s, seen.capacity.running
    silent = at_least(running - heard, 0)
    silence = learn_silence(state.silence, silent, now_s)
    mixed = is_mixed(state, now_s)
    if not uses_sdk or not silent:
        return Hearing(silence, state.mixed_at_s, mixed=mixed and uses_sdk)
    lapsed = _lapsed_s(seen, heard)
    listed = sum([each.silent_since_s is not None for each in state.retired])
    recent = sum([ago_s <= SILENT_LIMIT_S for ago_s in lapsed])
    given_up = written_off(state.retired, now_s)
    long_silent = settled(silence, now_s)
    unexplained = silent - sum([count for _, count in state.raises])
    if heard and long_silent > len(lapsed) + listed and unexplained > 0:
        mixed = True
    if mixed:
        unheard, stale = settled(silence, now_s, young_s(state)), min(silent, recent) > given_up
    else:
        unheard, stale = min(long_silent, unexplained), unexplained > max(long_silent if heard else 0, given_up)
    unheard = max(0, unheard - recent - listed) if heard else 0
    hanging = unheard if nothing_done(state.silent_work) else 0
    return Hearing(silence, now_s if mixed else state.mixed_at_s, unheard - hanging, stale, mixed, hanging)


def is_mixed(state: PoolState, now_s: float) -> bool:
    """Whether workers without reports have been usual within the last day."""
    return state.mixed_at_s is not None and now_s - state.mixed_at_s <= MIXED_FORGOTTEN_S


def young_s(state: PoolState) -> float:
    """For how long one that runs and has not reported may be starting still: it loads what it needs, and works not."""
    return max((YOUNG_S, *state.start_ups_s))


def _lapsed_s(seen: Observation, heard: int) -> list[float]:
    """For how long those have been silent whose last report is still in the table, and was not their farewell."""
    if heard == len(seen.fleet.workers):
        return []
    alive = {worker.worker_id for worker in heard_of(seen.fleet.workers, seen.now_s)}
    return [
        seen.now_s - worker.reported_at_s
        for worker in seen.fleet.workers
        if worker.worker_id not in alive and worker.state is not WorkerState.STOPPED
    ]


def learn_silence(known: Silence, silent: int, now_s: float) -> Silence:
    """Since when so many at least have been silent without a gap. Who is heard again is taken for the latest one.

    >>> learn_silence(((100.0, 2), (160.0, 1)), silent=4, now_s=170.0)
    ((100.0, 2), (160.0, 1), (170.0, 1))
    >>> learn_silence(((100.0, 2), (160.0, 1)), silent=1, now_s=170.0)
    ((100.0, 1),)
    """
    more = silent - sum([count for _, count in known])
    if more > 0:
        return (*known, (now_s, more))
    left = list(known)
    while more < 0:
        since_s, count = left.pop()
        if count + more > 0:
            left.append((since_s, count + more))
        more += count
    return tuple(left)


def settled(silence: Silence, now_s: float, after_s: float = SILENT_LIMIT_S) -> int:
    """How many have been silent for longer than `after_s`: by default so long that they are waited for no more."""
    return sum([count for since_s, count in silence if now_s - since_s > after_s])


def said_of(unheard: int, heard: int, running: int) -> str:
    """What is said of those that are reckoned with and not heard of; nothing where there are none."""
    if not unheard:
        return ""
    others = "the others" if heard + unheard >= running else f"{unheard} others"
    return (
        f"{heard} of {running} running workers report; what {others} do is reckoned from these, and they go by the "
        "plain change of the count: give them the SDK, let them write the fleet table, or stop what hangs "
        "(tidegate health)"
    )
