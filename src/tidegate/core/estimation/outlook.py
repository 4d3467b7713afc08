"""What the arrival rate of one blind window tells of the next: what it falls back to, and how far beyond it may rise.

In trains of bursts the rate of now says little: headroom for a multiple of it buys workers at the peak of one burst,
and none in the lull before the next. Where rates last or drift it says nearly all. Which of the two it is, is learned.
"""

import math

from tidegate.core.bounds import at_least, at_most, within
from tidegate.core.estimation.adapt import SURGE_QUANTILE
from tidegate.core.model import Outlook
from tidegate.core.value import value

__all__ = ["learn_outlook", "to_bear_per_s"]

MEMORY_S = 3600.0
TICK_AT_MOST_S = 60.0
"""After a gap in the ticks one look is worth no more than that: it shows a mean of the gap, and no pair of windows."""

PRIOR_WINDOWS = 5.0
"""A pool that has seen fewer is taken to go on as it goes now, and to surge by a multiple of that."""

SEEN_SIGMAS = 2.0
"""What is further above the mean than this has not been seen before: nothing is known of what it falls back to."""

HIGH_STEP_PER_S = 0.004
HIGH_LEAST, HIGH_MOST = 0.5, 4.0
"""Of the usual miss. At rest about 2 where misses are normal."""

STANDBY_SHARE = 0.5
STANDBY_WINDOWS = 10.0
"""What stands by for surges costs half of what the work itself does at most, of an hour's mean with ten windows of
nothing before it: one burst in a pool's life is no reason to wait for the next."""


@value
class _Line:
    """√rate of the next window over √rate of this one: least squares, drawn towards a slope of 1 while few are seen."""

    then: float
    now: float
    slope: float
    spread: float
    """The mean square of what it misses by."""
    seen: float
    """The highest √rate that is in the range of what was seen."""

    def expected(self, root: float) -> float:
        """√rate to be expected after `root`; what is beyond the range seen is taken to stay."""
        within = root if root < self.seen else self.seen
        expected = self.now + self.slope * (within - self.then) + root - within
        return expected if expected > 0.0 else 0.0


def learn_outlook(known: Outlook, pair: tuple[float, float] | None, blind: float, elapsed_s: float) -> Outlook:
    """Add a tick: √rate of the blind window before the latest one, and of that (`pair`, as rates).

    Square roots, for Poisson noise is then the same at all rates. `high` follows the 95 % quantile of what the line
    misses by, in mean misses: at rest when one in twenty is above.
    """
    if elapsed_s <= 0 or pair is None:
        return known
    then, now = map(math.sqrt, pair)
    miss, high, worth_s = 0.0, known.high, at_most(elapsed_s, TICK_AT_MOST_S)
    if known.windows > 0:
        miss = now - _line(known).expected(then)
        above = miss > high * known.missed / known.windows
        step = HIGH_STEP_PER_S * worth_s
        high += step * (SURGE_QUANTILE if above else SURGE_QUANTILE - 1.0)
    kept, new = math.exp(-worth_s / MEMORY_S), worth_s / blind
    return Outlook(
        windows=known.windows * kept + new,
        then=known.then * kept + new * then,
        now=known.now * kept + new * now,
        then_square=known.then_square * kept + new * then * then,
        then_now=known.then_now * kept + new * then * now,
        now_square=known.now_square * kept + new * now * now,
        missed=known.missed * kept + new * abs(miss),
        high=within(high, HIGH_LEAST, HIGH_MOST),
    )


def to_bear_per_s(known: Outlook, rate_per_s: float, growth: float, share: float) -> float:
    """The part `share` of the arrival rate that may be there a blind window from now, with a bound on what stands by.

    `growth` is by what factor rates rise: it counts for a pool that has seen little, and for what is new to it.

    >>> to_bear_per_s(Outlook(), 8.0, 2.0, 0.25)
    4.0
    """
    multiple = rate_per_s * growth * share
    if known.windows <= 0:
        return multiple
    line, root = _line(known), math.sqrt(rate_per_s)
    expected, miss = line.expected(root), known.high * known.missed / known.windows
    usual = expected**2 + line.spread  # of a square: the square of the mean, and the spread
    standby = at_most(
        at_least((expected + miss) ** 2 - usual, 0.0) * share,
        STANDBY_SHARE * known.now_square / (known.windows + STANDBY_WINDOWS),
    )
    new = 1.0 - min(root, line.seen) ** 2 / rate_per_s if rate_per_s > 0 else 0.0
    trust = known.windows / (known.windows + PRIOR_WINDOWS)
    return multiple + trust * (at_least(usual * share + standby, new * multiple) - multiple)


def _line(known: Outlook) -> _Line:
    count = known.windows
    then, now = known.then / count, known.now / count
    then_spread = known.then_square / count - then**2
    now_spread = known.now_square / count - now**2
    then_spread = then_spread if then_spread > 0.0 else 0.0
    now_spread = now_spread if now_spread > 0.0 else 0.0
    both = known.then_now / count - then * now
    fitted = within(both / then_spread, 0.0, 1.0) if then_spread > 0 else 1.0
    slope = (count * fitted + PRIOR_WINDOWS) / (count + PRIOR_WINDOWS)
    spread = now_spread - 2.0 * slope * both + slope**2 * then_spread
    return _Line(then, now, slope, spread if spread > 0.0 else 0.0, then + SEEN_SIGMAS * math.sqrt(then_spread))
