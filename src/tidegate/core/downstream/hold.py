"""The guard's cap on the workers: set at the first sign, kept while it lasts, lifted in steps that are watched.

Signs that come from outside (an alarm, calls that fail) end by themselves; after that the cap rises by a quarter, by a
half, then doubles. Signs that rest on a comparison (slow calls, a step that gained nothing) may be wrong for ever when
the work itself has changed. So a step is tried after a while; when it gains nothing, the wait until the next one
doubles, up to an hour.
"""

import math
from dataclasses import replace

from tidegate.core.downstream.state import Hold, Sign
from tidegate.core.downstream.step_effect import Effect
from tidegate.core.value import value

__all__ = ["Situation", "next_hold"]

FIRST_SHARE = 0.25
FIRST_WAIT_INTERVALS = 2.0
VERDICT_INTERVALS = 3.0
"""A step that is there and shows no harm in so many intervals has done none."""
LONGEST_WAIT_S = 3600.0
FORGOTTEN_S = 6 * 3600.0
"""A cap that nothing was held by for so long says nothing of today."""


@value
class Situation:
    """What the cap depends on besides itself. Counts are workers."""

    now_s: float
    running: int
    better: int
    """Where to go back to at a sign: the running ones, or fewer that complete as much."""
    need: int
    least: int
    most: int
    interval_s: float
    """How long it takes to see what a step bought."""
    measured: bool = True
    """What is done at this count is known well enough to compare a step with."""
    strained: bool = False
    """Handlers take much longer than they do when nothing is asked too much of."""


def next_hold(hold: Hold | None, sign: tuple[Sign, str] | None, effect: Effect, at: Situation) -> Hold | None:
    """The cap from now on; None: there is none."""
    hold = _after(hold, sign, effect, at)
    if hold is None or hold.base >= at.most or at.now_s - hold.touched_s > FORGOTTEN_S:
        return None
    return replace(hold, touched_s=at.now_s) if sign or at.need > hold.cap else hold


def _after(hold: Hold | None, sign: tuple[Sign, str] | None, effect: Effect, at: Situation) -> Hold | None:
    if sign is None:
        return None if hold is None else _well(hold, effect, at)
    kind, why = sign
    if hold is None or not hold.sick or kind is Sign.NO_GAIN:
        return _onset(hold, kind, why, at)
    if kind in (Sign.ALARM, Sign.FAILING):  # nothing is tried while it lasts
        base = min(hold.cap, hold.base)
        return replace(hold, cap=base, base=base, sign=kind, why=why, next_s=at.now_s + hold.wait_s)
    hold = replace(hold, sign=kind, why=why)
    if at.now_s < hold.next_s:
        return hold
    if hold.trying and at.running > hold.base:  # it is there, and calls are as slow as before
        return _onset(hold, kind, why, at)
    return hold if hold.trying else _try(hold, FIRST_SHARE, at)


def _onset(hold: Hold | None, kind: Sign, why: str, at: Situation) -> Hold:
    """Down to what runs, or to the count before the step that was being tried."""
    cap = max(at.least, at.better if hold is None else min(at.better, hold.base))
    wait_s = FIRST_WAIT_INTERVALS * at.interval_s if hold is None else min(2 * hold.wait_s, LONGEST_WAIT_S)
    return Hold(cap, cap, kind, why, True, at.now_s, at.now_s + wait_s, wait_s, FIRST_SHARE, at.now_s)


def _well(hold: Hold, effect: Effect, at: Situation) -> Hold:
    """No sign at this tick. What a comparison found holds until its time is up; all else recovers from here."""
    if hold.trying and effect is Effect.GAIN:
        wait_s = FIRST_WAIT_INTERVALS * at.interval_s
        return _try(replace(hold, sick=False, wait_s=wait_s), min(1.0, 2 * hold.share), at)
    if hold.sick and hold.sign is not Sign.NO_GAIN:
        return replace(hold, sick=False, share=FIRST_SHARE, next_s=at.now_s + at.interval_s)
    if at.now_s < hold.next_s:
        return hold
    if (
        hold.trying and at.running <= hold.base
    ) or not at.measured:  # nobody needed it yet, or there is no comparing it
        return replace(hold, next_s=at.now_s + at.interval_s)
    if hold.trying and at.strained:  # no proof either way: no reason to ask more of it
        return _onset(hold, hold.sign, hold.why, at)
    return _try(replace(hold, sick=False), min(1.0, 2 * hold.share) if hold.trying else hold.share, at)


def _try(hold: Hold, share: float, at: Situation) -> Hold:
    cap = hold.cap + max(1, math.ceil(hold.cap * share))
    return replace(hold, cap=cap, base=hold.cap, share=share, next_s=at.now_s + VERDICT_INTERVALS * at.interval_s)
