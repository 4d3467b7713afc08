"""What the guard has learnt by this tick: of reports, and of what a step has shown to be a mistake."""

from dataclasses import replace

from tidegate.core.downstream.calm import as_long_when_quiet
from tidegate.core.downstream.curve import followed_curve, without_more
from tidegate.core.downstream.dependencies import accept_as_usual, learn_dependencies
from tidegate.core.downstream.probe import FROM_OUTSIDE
from tidegate.core.downstream.state import GuardMemory, Hold, Sign
from tidegate.core.downstream.step_effect import cost_completions, followed
from tidegate.core.downstream.worth import Worth, bought_at
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["accepted", "looked", "unlearned"]

ABOUT = 1.05
"""Two averages of slots in use that are nearer are the same."""


def looked(
    memory: GuardMemory, fleet: FleetSignals, now_s: float, elapsed_s: float, mean_s: float, variation: float
) -> GuardMemory:
    """What the workers report of the last `elapsed_s`, added to what is known; see `followed`."""
    memory = followed(memory, fleet, now_s, elapsed_s, mean_s, variation)
    if fleet.unheard:  # completions that are reckoned from some workers do not show what a step bought
        memory = replace(memory, before=None)
    if memory.level is None or not (memory.dependencies or fleet.calls):
        return memory
    return replace(
        memory,
        dependencies=learn_dependencies(memory.dependencies, fleet.calls, elapsed_s, held=memory.hold is not None),
        curve=followed_curve(memory.curve, fleet, memory.level, now_s, elapsed_s),
    )


def unlearned(memory: GuardMemory, it: Worth, best: int | None, slots_per_worker: int, busy_now: float) -> GuardMemory:
    """Without the hold, or with a higher one, where it took for a sick dependency what is none.

    More slots are seen to buy completions, up to the most that a sign was found at; handlers run as long now that few
    slots are in use; or the first step back has cost completions. What completes most is not held below that.
    """
    if it.buys:
        memory = replace(memory, dependencies=accept_as_usual(memory.dependencies))
    hold, level = memory.hold, memory.level
    if hold is not None and hold.sign not in FROM_OUTSIDE and level is not None:
        found = hold.found_slots
        if it.knee is None and found is not None and bought_at(memory.curve, found / ABOUT):
            return _released(memory)
        if as_long_when_quiet(hold, level, slots_per_worker, busy_now):
            return _released(memory)
        if it.more and best is not None and hold.base < best:
            memory = replace(memory, hold=replace(hold, base=best, cap=max(best, hold.cap), base_s=None))
    return _gone_back_from(memory)


def _gone_back_from(memory: GuardMemory) -> GuardMemory:
    hold, level, above = memory.hold, memory.level, memory.above
    if above is None or level is None or (hold is not None and hold.easing):
        return memory
    wrong = cost_completions(level, above)
    if wrong is None:
        return memory
    mistaken = wrong and hold is not None and hold.sign is Sign.NO_GAIN and hold.knee is None
    return _released(memory) if mistaken else replace(memory, above=None)


def _released(memory: GuardMemory) -> GuardMemory:
    return replace(memory, above=None, hold=None, dependencies=accept_as_usual(memory.dependencies))


def accepted(memory: GuardMemory, was: Hold | None, hold: Hold | None, best: int | None) -> GuardMemory:
    """Slow calls are usual from now on when they have nothing to do with how many workers there are.

    That is so where a step out has helped, or a step back has not. One that helped above what completed most until then
    shows that it is no longer so: what was seen of more is forgotten.
    """
    if was is None:
        return memory
    helped = was.trying and (hold is None or hold.base > was.base)
    if helped and best is not None and was.cap > best:
        memory = replace(memory, curve=without_more(memory.curve))
    proved = helped or (was.easing and hold is not None and hold.trying)
    return replace(memory, dependencies=accept_as_usual(memory.dependencies)) if proved else memory
