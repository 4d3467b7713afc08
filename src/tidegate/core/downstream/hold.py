"""The guard's cap on the workers: set at the first sign, kept while it lasts, lifted in steps that are watched.

Signs that come from outside (an alarm, calls that fail) end by themselves; after that the cap rises by a quarter, by a
half, then doubles. Signs that rest on a comparison (slow calls, a step that gained nothing) may be wrong for ever when
the work itself has changed. So a step is tried after a while; when it gains nothing, the wait until the next one
doubles, up to an hour.
"""

from dataclasses import replace

from tidegate.core.downstream.probe import (
    FIRST_SHARE,
    FIRST_WAIT_INTERVALS,
    FROM_OUTSIDE,
    PROBE_SHARE,
    bought,
    ease_early,
    eased,
    gained,
    probe,
    step_out,
    unmeasured,
)
from tidegate.core.downstream.situation import Situation
from tidegate.core.downstream.state import Hold, Sign
from tidegate.core.downstream.stretch import Effect

__all__ = ["FORGOTTEN_S", "LONGEST_WAIT_S", "next_hold"]

LONGEST_WAIT_S = 3600.0
FORGOTTEN_S = 6 * 3600.0
"""A cap that nothing was held by for so long says nothing of today."""


def next_hold(hold: Hold | None, sign: tuple[Sign, str] | None, effect: Effect, at: Situation) -> Hold | None:
    """The cap from now on; None: there is none."""
    if hold is None:
        hold = None if sign is None else _first(*sign, at)
    elif sign is not None and sign[0] is not Sign.SLOW:
        hold = _seen(hold, *sign, at)
    elif hold.easing:
        hold = eased(hold, at)
    elif sign is not None:
        hold = _slow(replace(hold, sign=Sign.SLOW, why=sign[1]), hold, effect, at)
    else:
        hold = _well(hold, effect, at)
    if hold is None or hold.base >= at.most or at.now_s - hold.touched_s > FORGOTTEN_S:
        return None
    return replace(hold, touched_s=at.now_s) if sign or at.need > hold.cap else hold


def _first(kind: Sign, why: str, at: Situation) -> Hold:
    """Down to what runs, or to the count before the step that was being tried."""
    cap, wait_s = max(at.least, at.better), FIRST_WAIT_INTERVALS * at.interval_s
    return Hold(
        cap=cap,
        base=cap,
        sign=kind,
        why=why,
        sick=True,
        since_s=at.now_s,
        next_s=at.now_s + wait_s,
        wait_s=wait_s,
        share=FIRST_SHARE,
        touched_s=at.now_s,
        above_s=at.mean_s,
        found_slots=at.in_use,
    )


def _again(hold: Hold, kind: Sign, why: str, at: Situation) -> Hold:
    """Back to the base, or to what is known to be better; the next step is farther off, and smaller."""
    base = max(at.least, hold.base if kind is Sign.SLOW else min(at.better, hold.base))
    wait_s = min(2 * hold.wait_s, LONGEST_WAIT_S)
    return replace(
        hold,
        cap=base,
        base=base,
        sign=kind,
        why=why,
        sick=True,
        since_s=at.now_s,
        next_s=at.now_s + wait_s,
        wait_s=wait_s,
        share=FIRST_SHARE if kind in FROM_OUTSIDE else PROBE_SHARE,
        touched_s=at.now_s,
        knee=hold.knee if kind in FROM_OUTSIDE or at.running <= base else min(at.running, hold.knee or at.running),
        base_s=hold.base_s if base == hold.base else None,
        above_s=at.mean_s,
        found_slots=max(at.in_use, hold.found_slots or 0.0),
    )


def _seen(hold: Hold, kind: Sign, why: str, at: Situation) -> Hold:
    """A sign that is sure while it lasts: nothing is tried."""
    if not hold.sick or kind is Sign.NO_GAIN:
        return _again(hold, kind, why, at)
    base = min(hold.cap, hold.base)
    return replace(hold, cap=base, base=base, sign=kind, why=why, next_s=at.now_s + hold.wait_s)


def _slow(hold: Hold, was: Hold, effect: Effect, at: Situation) -> Hold | None:
    """Calls are slow, which they may be for another reason than how many there are."""
    if hold.trying and hold.base_s is not None:
        return _well(hold, effect, at)
    if not hold.sick and (hold.trying or was.sign in FROM_OUTSIDE):
        return _again(hold, hold.sign, hold.why, at)
    hold = replace(hold, sick=True)
    if at.now_s < hold.next_s:
        return ease_early(hold, at)
    if hold.trying and at.running > hold.base:  # it is there, and calls are as slow as before
        return _again(hold, hold.sign, hold.why, at)
    return hold if hold.trying else probe(hold, at)


def _well(hold: Hold, effect: Effect, at: Situation) -> Hold | None:
    """No sign at this tick. What a comparison found holds until its time is up; all else recovers from here."""
    effect = bought(hold, effect, at) if hold.trying else Effect.UNKNOWN
    if effect is Effect.GAIN:
        return gained(hold, at)
    if effect is Effect.NO_GAIN:
        return _again(hold, hold.sign, hold.why, at)
    if hold.sick and hold.sign in FROM_OUTSIDE:
        return replace(hold, sick=False, share=FIRST_SHARE, next_s=at.now_s + at.interval_s)
    if at.now_s < hold.next_s:
        return ease_early(hold, at)
    return _time_is_up(hold, at)


def _time_is_up(hold: Hold, at: Situation) -> Hold:
    unused = hold.trying and (at.running <= hold.base or not at.used)
    if unused or not at.measured or (not hold.trying and unmeasured(hold)):  # nobody needed it, or nothing to compare
        return replace(hold, next_s=at.now_s + at.interval_s)
    if not hold.trying:
        return probe(hold, at)
    if at.strained:  # no proof either way: no reason to ask more of it
        return _again(hold, hold.sign, hold.why, at)
    return step_out(replace(hold, sick=False), min(1.0, 2 * hold.share), at)
