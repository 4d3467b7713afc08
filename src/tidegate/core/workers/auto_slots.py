"""How many things to do at a time: the law by which a pool's slots grow and shrink. Pure: looks in, a count out.

Four rules, in this order at each look:

1. *Back off* (AIMD, as TCP does): when more than a tenth of what ended failed or timed out, the limit becomes 0.7 of
   the slots; while all is well it is raised by one at a time. Latency alone is no sign: timeouts that are all alike
   look like stable latency (Netflix/concurrency-limits #134).
2. *Grow* when the head of the queue has waited longer than the target, and not for a moment only. How fast its wait
   rises tells what is missing: when the slots start a share 1 - slope of what arrives, slots ÷ (1 - slope) keep up.
   By four at a time at most; not at all while the wait falls fast enough by itself.
3. *Retire one* when idleness is beyond doubt: the mean number of busy slots, less than a utilization of 0.9 of one slot
   fewer, by four times the error of that mean. The closer the call, the longer it is looked at. Between this mark and
   the one for growth lies a gap, hence no oscillation under a constant load.
4. *Bounds* hold always: the least, the most, the limit.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["AutoSlots", "Look", "SlotState", "first_slots", "look_every_s", "next_slots"]

_LARGEST_STEP: Final = 4
_STEEPEST: Final = 0.9
_FULL: Final = 0.9
_DOUBT: Final = 4.0
_LEAST_IDLE_S: Final = 0.5
_LEAST_WINDOW_S: Final = 5.0
_WINDOW_ITEMS: Final = 20

_FAILING: Final = 0.1
_ENDED_TO_JUDGE: Final = 10
_DECREASE: Final = 0.7
_LEAST_CALM_S: Final = 1.0

_MEMORY: Final = 0.1
_FINEST_LOOK_S: Final = 0.01
_COARSEST_LOOK_S: Final = 1.0
_FINE_TARGETS: Final = 2
_LEAST_HORIZON_S: Final = 2.0
_HORIZON_TARGETS: Final = 10


@dataclass(frozen=True, slots=True)
class AutoSlots:
    """Between `least` and `most` slots, so that nothing waits longer than `target_wait_s` for one."""

    least: int
    most: int
    target_wait_s: float


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen at `at_s` (a steady clock), and what happened since the look before."""

    at_s: float
    head_wait_s: float
    """How long the first in the queue has waited; 0 when nothing waits."""
    busy: float
    """Mean number of busy slots since the look before."""
    ended: int = 0
    failed: int = 0
    """Of those that ended: errors and timeouts."""
    service_time_sum_s: float = 0.0
    """Over those that ended."""


@dataclass(frozen=True, slots=True)
class SlotState:
    """The slots, and what the next look is judged with."""

    slots: int
    limit: float
    """What errors and timeouts allow just now."""
    seen_at_s: float
    service_time_s: float = 0.0
    """Decayed mean; 0 until something has ended."""
    over: tuple[float, float] | None = None
    """When the head's wait was first over the target, or was last acted upon, and what it was; None: it is not over."""
    idle_s: float = 0.0
    """How long idleness has been measured, and the slot-seconds that were busy meanwhile."""
    idle_busy_s: float = 0.0
    ended: int = 0
    failed: int = 0
    deaf_until_s: float = -math.inf
    """What ends before this was started at the higher count."""
    calm_since_s: float = -math.inf


def look_every_s(rule: AutoSlots) -> float:
    """Twice per target wait, from every 10 ms to every second.

    >>> look_every_s(AutoSlots(2, 32, target_wait_s=0.05))
    0.025
    """
    return min(_COARSEST_LOOK_S, max(_FINEST_LOOK_S, rule.target_wait_s / 2))


def first_slots(rule: AutoSlots, now_s: float) -> SlotState:
    """As few as may be: growing costs a moment, beginning with too many may break what they share."""
    return SlotState(slots=rule.least, limit=rule.most, seen_at_s=now_s, calm_since_s=now_s)


def next_slots(rule: AutoSlots, state: SlotState, look: Look) -> SlotState:
    """One look further. Changes the slots by +1 to +4 or -1, or down to the limit at once; mostly not at all.

    The head of the queue has waited 80 ms, as it had two targets ago: a little is missing, and the wait must fall.

    >>> rule = AutoSlots(least=2, most=32, target_wait_s=0.05)
    >>> state = first_slots(rule, now_s=0.0)
    >>> for at_s in (0.0, 0.1):
    ...     state = next_slots(rule, state, Look(at_s, head_wait_s=0.08, busy=2))
    >>> state.slots
    3
    """
    elapsed_s = max(0.0, look.at_s - state.seen_at_s)
    state = _judged(rule, _counted(state, look), look)
    if look.head_wait_s > rule.target_wait_s:
        state = _grown(rule, state, look)
    else:
        state = _retired(rule, replace(state, over=None), look, elapsed_s)
    slots = max(rule.least, min(rule.most, math.floor(state.limit), state.slots))
    return replace(state, slots=slots)


def _counted(state: SlotState, look: Look) -> SlotState:
    state = replace(state, seen_at_s=look.at_s)
    if look.ended == 0:
        return state
    mean_s = look.service_time_sum_s / look.ended
    share = 1.0 if state.service_time_s == 0 else 1 - (1 - _MEMORY) ** look.ended
    state = replace(state, service_time_s=state.service_time_s + share * (mean_s - state.service_time_s))
    if look.at_s < state.deaf_until_s:
        return state
    return replace(state, ended=state.ended + look.ended, failed=state.failed + look.failed)


def _judged(rule: AutoSlots, state: SlotState, look: Look) -> SlotState:
    """Multiplicative decrease once there is enough to judge by, additive increase after each calm while."""
    if state.ended >= _ENDED_TO_JUDGE:
        if state.failed > _FAILING * state.ended:
            limit = max(float(rule.least), _DECREASE * min(state.slots, state.limit))
            deaf_until_s = look.at_s + max(state.service_time_s, look_every_s(rule))
            return replace(state, limit=limit, ended=0, failed=0, deaf_until_s=deaf_until_s, calm_since_s=deaf_until_s)
        state = replace(state, ended=0, failed=0)
    calm_s = max(_LEAST_CALM_S, _LARGEST_STEP * state.service_time_s)
    if state.limit < rule.most and look.at_s - state.calm_since_s >= calm_s:
        return replace(state, limit=min(float(rule.most), math.floor(state.limit) + 1.0), calm_since_s=look.at_s)
    return state


def _grown(rule: AutoSlots, state: SlotState, look: Look) -> SlotState:
    state = replace(state, idle_s=0.0, idle_busy_s=0.0)
    if state.over is None:
        return replace(state, over=(look.at_s, look.head_wait_s))
    since_s, wait_s = state.over
    looked_s = look.at_s - since_s
    if looked_s < rule.target_wait_s:
        return state
    slope = max(-1.0, min(_STEEPEST, (look.head_wait_s - wait_s) / looked_s))
    missing = _slots_that_bring_it_down(rule, state.slots, look.head_wait_s, slope) - state.slots
    if missing < _LARGEST_STEP and looked_s < _FINE_TARGETS * rule.target_wait_s:
        return state  # a small lack is told from chance by a longer look
    step = max(0, min(_LARGEST_STEP, missing))
    return replace(state, slots=state.slots + step, over=(look.at_s, look.head_wait_s))


def _slots_that_bring_it_down(rule: AutoSlots, slots: int, head_wait_s: float, slope: float) -> int:
    """Keep up, and bring the wait down to the target within the horizon."""
    horizon_s = max(_LEAST_HORIZON_S, _HORIZON_TARGETS * rule.target_wait_s)
    keep_up = slots / (1 - slope)
    return math.ceil(keep_up * (1 + (head_wait_s - rule.target_wait_s) / horizon_s))


def _retired(rule: AutoSlots, state: SlotState, look: Look, elapsed_s: float) -> SlotState:
    """The mean of n busy slots over a time t is known to the root of n × service time ÷ t (Poisson arrivals)."""
    if state.idle_s > max(_LEAST_WINDOW_S, _WINDOW_ITEMS * state.service_time_s):
        state = replace(state, idle_s=0.0, idle_busy_s=0.0)  # what was busy long ago says nothing of now
    state = replace(
        state, idle_s=state.idle_s + elapsed_s, idle_busy_s=state.idle_busy_s + max(0.0, look.busy) * elapsed_s
    )
    if state.slots <= rule.least or state.idle_s < max(_LEAST_IDLE_S, rule.target_wait_s, state.service_time_s):
        return state
    mean = state.idle_busy_s / state.idle_s
    error = math.sqrt(max(mean, 1.0) * state.service_time_s / state.idle_s)
    if mean + _DOUBT * error > _FULL * (state.slots - 1):
        return state
    return replace(state, slots=state.slots - 1, idle_s=0.0, idle_busy_s=0.0)
