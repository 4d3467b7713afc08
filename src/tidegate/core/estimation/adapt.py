"""What a pool learns of itself over hours: how far its traffic surges, and how much standing wait it has earned."""

import math
from bisect import bisect_left
from collections.abc import Sequence

from tidegate.core.bounds import at_least, at_most, within
from tidegate.core.estimation.arrivals import windowed_per_s
from tidegate.core.estimation.samples import Samples
from tidegate.core.model import Pool, Sample
from tidegate.core.signals.news import Waits
from tidegate.core.signals.read import Signals

__all__ = [
    "BAND_SIGMAS",
    "SIGNAL_LAG_S",
    "SURGE_QUANTILE",
    "blind_s",
    "calm_share",
    "growth",
    "late_by_age",
    "learn_lean",
    "learn_margin",
    "learn_surge",
    "margin_by_age",
]

SIGNAL_LAG_S = 30.0
"""Counts are up to a minute old ("can take a minute or more to converge", API_GetQueueAttributes): half of it."""

BAND_SIGMAS = 2.0
"""Of the need's own error. A worker is given up only where the need stays enough below what is there by so much."""

SURGE_SIGMAS = 1.645
"""Of a normal spread, up to its 95 % quantile."""

CALM_FACTOR = 2.0
"""A surge is learned from few and noisy counts: chance is taken to explain twice its own variance."""

EARNED_IN_S = 600.0
SURGE_QUANTILE = 0.95
SURGE_STEP_PER_S = 0.002
LATE_BEARABLE = 0.005
MARGIN_FULL_S = 300.0
MARGIN_MEMORY_S = 7200.0
MARGIN_MOST = 1.0
MARGIN_LATE = 0.005
AGE_CONTRADICTS = 0.8
"""An oldest age of so much of the target is too near to it for a wait to be carried on purpose."""


def blind_s(pool: Pool, start_up_s: float) -> float:
    """What happens within this time can't be answered within it: the signals' lag, a tick, a worker's start-up."""
    return SIGNAL_LAG_S + pool.tick_s + start_up_s


def growth(surge: float) -> float:
    """The factor by which the arrival rate may rise over the blind window.

    >>> growth(0.0), round(growth(0.4142), 3)
    (1.0, 2.0)
    """
    return (1.0 + surge) ** 2


def calm_share(surge: float, rate_per_s: float, blind: float) -> float:
    """The share of the pool's surges, by variance, that chance alone explains: 1 at constant load, little in bursts.

    √rate of Poisson arrivals counted over a window varies by 1 ÷ (4 × window), the slope over it by 6/5 of that, and
    the difference of two windows by twice that (variance stabilising: M. S. Bartlett, JRSS Supplement 3, 1936).

    >>> calm_share(0.05, 10.0, 100.0), round(calm_share(0.4, 1.0, 100.0), 2)
    (1.0, 0.2)
    """
    by_chance = CALM_FACTOR * SURGE_SIGMAS**2 * 0.6 / at_least(rate_per_s * blind, 1.0)
    return 1.0 if surge**2 <= by_chance else by_chance / surge**2


def learn_surge(
    surge: float,
    pair: tuple[float, float] | None,
    samples: Sequence[Sample],
    blind: float,
    elapsed_s: float,
    count_error: float = 0.0,
) -> float:
    """Follow the 95 % quantile of (√rate of this blind window − √rate of the one before) ÷ √rate then.

    Square roots make the Poisson noise of all rates alike; plain ratios explode at low volume. A step down for each
    tick that stays below, nineteen times as far up for one above: at rest when one in twenty is above. Surges are what
    is left of that when the counts' own error is taken off, by variance: else a standing backlog, which is counted 30 %
    high or low, would pass for bursts. `pair` are the rates of the window before and of this one
    (`core.estimation.arrivals.window_pair_per_s`).
    """
    if pair is None:
        return surge
    then, now = pair
    step = SURGE_STEP_PER_S * at_most(elapsed_s, 60.0)
    by_error = _by_error(Samples.of(samples), blind, count_error) / then if then > 0 and count_error else 0.0
    above = now > then * growth(math.hypot(surge, SURGE_SIGMAS * by_error))
    return within(surge + step * (SURGE_QUANTILE if above else SURGE_QUANTILE - 1.0), 0.0, 3.0)


def _by_error(samples: Samples, blind: float, count_error: float) -> float:
    """What the counts' error makes of √now − √then, times √then: one standard deviation.

    A slope over n points is off by √(12/n) of each point's error ÷ the window; its square root by half of that, and two
    windows differ by √2 of it.
    """
    waiting = samples.waiting[bisect_left(samples.at_s, samples.at_s[-1] - 2 * blind) :]
    points = len(waiting) / 2
    return count_error * sum(waiting) / len(waiting) * math.sqrt(6.0 / points) / blind


def learn_lean(pool: Pool, lean: float, signals: Signals, elapsed_s: float) -> float:
    """Earned over ten minutes of waits in time, halved by late ones, lost at once when the oldest age contradicts."""
    if pool.economy == "prompt":
        return 0.0
    target_s = pool.target_wait_s
    if signals.age_s is not None and signals.age_s > AGE_CONTRADICTS * target_s:
        return 0.0
    waits = signals.fleet.waits if signals.fleet else None
    if waits is not None and waits.late_share > LATE_BEARABLE:
        return lean / 2
    if waits is None and signals.age_s is None:
        return lean
    return at_most(lean + at_most(elapsed_s, 60.0) / EARNED_IN_S, 1.0)


def learn_margin(
    margin: float, waits: Waits | None, told_s: float, mean_per_s: float, elapsed_s: float, *, limited: bool
) -> float:
    """Integral action on what counts: the share of the pool's work added to its need while measured waits are late.

    Five minutes' worth of the usual traffic late doubles the need; what is in time takes it back, slowly. A burst is no
    more worth than the time that it took, which is no longer than those waits tell of (`told_s`), however long ago the
    last tick was: else one that wakes an idle pool doubled its need in a tick. Nothing is added while what was needed
    could not be had (anti-windup: at a ceiling or on the way up a ramp).
    """
    faded = margin * math.exp(-elapsed_s / MARGIN_MEMORY_S)
    if waits is None or mean_per_s <= 0:
        return faded
    worth_s = min(waits.starts / mean_per_s, told_s)
    return _integrated(faded, waits.late_share, worth_s, limited=limited)


def late_by_age(target_s: float, signals: Signals, samples: Sequence[Sample]) -> float | None:
    """Where no worker tells of waits: all are late (1) while the oldest age is over the target and the queue is as long
    as such waits make it, none (0) while it is not; None where neither is known.

    Half as long will do, for counts may be low. A shorter one has an old head for another reason: AWS does not say
    whether the age counts what is in flight, and a standard queue may leave one message lying.
    """
    if signals.age_s is None or len(samples) < 2:
        return None
    if signals.age_s <= target_s:
        return 0.0
    long = samples[-1].waiting >= target_s / 2 * windowed_per_s(Samples.of(samples), MARGIN_FULL_S)
    return 1.0 if long and samples[-1].waiting > 0 else None


def margin_by_age(margin: float, late_share: float | None, elapsed_s: float, *, limited: bool) -> float:
    """As `learn_margin`, by the oldest age: a tick is worth its time, a minute at most."""
    faded = margin * math.exp(-elapsed_s / MARGIN_MEMORY_S)
    return faded if late_share is None else _integrated(faded, late_share, min(elapsed_s, 60.0), limited=limited)


def _integrated(margin: float, late_share: float, worth_s: float, *, limited: bool) -> float:
    over = (late_share - MARGIN_LATE) * worth_s / MARGIN_FULL_S
    return within(margin + (at_most(over, 0.0) if limited else over), 0.0, MARGIN_MOST)
