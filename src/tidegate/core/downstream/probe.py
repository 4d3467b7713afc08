"""Finding out what a count is worth: a step out or a step back, what it showed, and what follows.

A step out is judged by how much longer handlers run than at its base. Where nothing is known yet to compare it with,
the base is measured first. A count that bought nothing is the knee: the cap may come back up to below it without delay,
but the knee itself is tried only when its time has come, one worker at a time, and the wait doubles with each failure.

Where handlers run far longer than when all is calm, fewer are tried instead: that finds out as much and asks less. If
they are served sooner for it, it stays so; if not, it is not their number that was slow.
"""

import math
from dataclasses import replace

from tidegate.core.downstream.situation import Situation
from tidegate.core.downstream.state import Hold, Sign
from tidegate.core.downstream.stretch import Effect

__all__ = [
    "FIRST_SHARE",
    "FIRST_WAIT_INTERVALS",
    "FROM_OUTSIDE",
    "PROBE_SHARE",
    "bought",
    "ease_early",
    "eased",
    "gained",
    "probe",
    "step_out",
    "unmeasured",
]

FROM_OUTSIDE = (Sign.ALARM, Sign.FAILING)
"""Signs that end by themselves, and rest on no comparison."""

FIRST_SHARE = 0.25
PROBE_SHARE = 0.1
"""After a step that gained nothing: one worker up to ten."""
BOLD = 0.25
CAUTIOUS = 0.5
"""Lost of a step that gained: with less than a quarter lost the next one is twice as large, with more than a half no
larger, and in between a quarter at most."""
OVERDONE = 1.25
"""Handlers run by so much longer than when all is calm: it is tried if fewer complete as much."""
FIRST_WAIT_INTERVALS = 2.0
VERDICT_INTERVALS = 3.0
"""A step that is there and shows no harm in so many intervals has done none."""
SURE_SIGMAS = 1.0


def bought(hold: Hold, effect: Effect, at: Situation) -> Effect:
    """What the step out that is being tried has bought; `effect` when the base was not measured."""
    if at.running <= hold.base or not at.used:
        return Effect.UNKNOWN
    if hold.base_s is None:
        return effect
    return Effect.UNKNOWN if at.grown is None else at.grown.bought(at.running / hold.base, _sigmas(hold, at))


def gained(hold: Hold, at: Situation) -> Hold | None:
    """After a step out that was worth it. None: it has doubled the count and reached the ceiling, all is well."""
    share = _next_share(hold, at)
    hold = replace(hold, sick=False, base_s=at.mean_s)
    if hold.knee is not None and hold.cap + 1 == hold.knee:
        return replace(hold, base=hold.cap, share=PROBE_SHARE, next_s=at.now_s + hold.wait_s)
    if hold.knee is not None and hold.cap < hold.knee:
        return step_out(hold, share, at)
    later = step_out(replace(hold, knee=None, wait_s=FIRST_WAIT_INTERVALS * at.interval_s), share, at)
    return None if hold.share >= 1.0 and later.cap >= at.most else later


def probe(hold: Hold, at: Situation) -> Hold:
    """The wait is over: a step back where far too much is asked, else a step out from a base that is measured.

    Neither while it is not known yet what the last step back did.
    """
    if at.undecided:
        return replace(hold, next_s=at.now_s + at.interval_s)
    if _overdone(hold, at):
        return _ease(hold, at)
    if unmeasured(hold):
        return replace(hold, next_s=at.now_s + at.interval_s)
    if _known(hold.base, at):
        return replace(hold, next_s=at.now_s + hold.wait_s)
    return step_out(replace(hold, sick=hold.sick and hold.sign is Sign.SLOW), hold.share, at)


def ease_early(hold: Hold, at: Situation) -> Hold:
    """Before the wait is over: asking less needs none."""
    return _ease(hold, at) if _overdone(hold, at) else hold


def eased(hold: Hold, at: Situation) -> Hold:
    """While fewer are tried."""
    over = at.now_s >= hold.next_s
    if at.eased is None or at.running > hold.cap:
        return replace(hold, cap=hold.base, sick=False, next_s=at.now_s + hold.wait_s) if over else hold
    effect = at.eased.bought(hold.base / hold.cap, _sigmas(hold, at))
    if effect is Effect.NO_GAIN:
        next_s = at.now_s + hold.wait_s
        return replace(hold, base=hold.cap, knee=hold.base, base_s=at.mean_s, share=PROBE_SHARE, next_s=next_s)
    unsettled = at.eased.times + at.eased.error < 1.0  # longer runs than with more: those above were not over yet
    return hold if effect is Effect.UNKNOWN or (unsettled and not over) else _as_many_again(hold, at.eased.times, at)


def step_out(hold: Hold, share: float, at: Situation) -> Hold:
    """So much more of the cap, but not past the knee or what completes most: only from right there, and then by one."""
    if _known(hold.cap, at):
        return replace(hold, base=hold.cap, next_s=at.now_s + hold.wait_s)
    cap = hold.cap + max(1, math.ceil(hold.cap * share))
    if hold.knee is not None:
        cap = max(hold.cap + 1, min(cap, hold.knee - 1))
    if at.best is not None:
        cap = max(hold.cap + 1, min(cap, at.best))
    return replace(hold, cap=cap, base=hold.cap, share=share, next_s=at.now_s + VERDICT_INTERVALS * at.interval_s)


def _known(count: int, at: Situation) -> bool:
    """Whether a step out from `count` is answered without one.

    More were seen to buy nothing, and handlers run longer here than when all is calm: what they call has not recovered.
    """
    if at.best is None or count < at.best or at.calm is None:
        return False
    return at.calm.times - at.calm.error > 1.0


def unmeasured(hold: Hold) -> bool:
    """Whether it is not known yet what a step out would be compared with."""
    return hold.sign not in FROM_OUTSIDE and hold.calm_s is not None and hold.base_s is None


def _as_many_again(hold: Hold, times: float, at: Situation) -> Hold:
    """Fewer completed less at the same pace: up again and beyond, for what handlers take now is what they take."""
    above_s = hold.above_s or 0.0
    calm_s = above_s / max(1.0, times)
    longer = hold.calm_s is not None and calm_s > OVERDONE * hold.calm_s
    hold = replace(hold, cap=hold.base, calm_s=calm_s, base_s=above_s, sick=False)
    return step_out(hold, FIRST_SHARE if longer else PROBE_SHARE, at)


def _overdone(hold: Hold, at: Situation) -> bool:
    if not (hold.sick and at.steps_back and not hold.trying) or at.undecided or at.calm is None:
        return False
    return at.calm.times - at.calm.error > OVERDONE


def _ease(hold: Hold, at: Situation) -> Hold:
    """Half-way down to where slots ÷ calm time would be as many completions, by factors; while more are needed.

    All the way, as many are completed only if their number is what is slow; in between, either is seen.
    """
    times = 1.0 if at.calm is None else at.calm.times
    fewer = max(at.least, min(hold.base - 1, math.ceil(hold.base / math.sqrt(max(1.0, times)))))
    if at.full and at.need > hold.base and fewer < hold.base:
        next_s = at.now_s + 2 * VERDICT_INTERVALS * at.interval_s
        return replace(hold, cap=fewer, above_s=at.mean_s, next_s=next_s)
    return replace(hold, next_s=max(hold.next_s, at.now_s + at.interval_s)) if at.now_s >= hold.next_s else hold


def _next_share(hold: Hold, at: Situation) -> float:
    lost = 0.0 if at.grown is None else at.grown.lost(at.running / hold.base)
    if lost < BOLD:
        return min(1.0, 2 * hold.share)
    return hold.share if lost >= CAUTIOUS else min(2 * hold.share, max(hold.share, FIRST_SHARE))


def _sigmas(hold: Hold, at: Situation) -> float:
    """When the time is up, what is more likely decides."""
    return SURE_SIGMAS if at.now_s < hold.next_s else 0.0
