"""What the downstream guard remembers of a pool between ticks. Bounded, and JSON like the rest of the state."""

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from tidegate.core.value import value

__all__ = ["Curve", "DependencyMemory", "GuardMemory", "Hold", "Level", "Past", "Point", "Sign"]

ERROR_LEAST = 0.03
"""No mean run is known better, however many runs it is of: slots in use are told every few seconds."""


class Sign(StrEnum):
    """What says that more workers would not help: the first two while they last, the others until a step disproves."""

    ALARM = "alarm"
    FAILING = "failing"
    SLOW = "slow"
    NO_GAIN = "no_gain"


@value
class DependencyMemory:
    """Recent calls of one dependency, faded over a minute, and what is usual for it."""

    calls: float = 0.0
    bad: float = 0.0
    time_sum_s: float = 0.0
    usual_s: float | None = None
    usual_bad: float = 0.0
    failing: bool = False
    slow: bool = False

    @property
    def mean_s(self) -> float:
        """Of the recent calls."""
        return self.time_sum_s / self.calls if self.calls else 0.0

    @property
    def bad_share(self) -> float:
        """Of the recent calls: errors, timeouts and 429s."""
        return self.bad / self.calls if self.calls else 0.0


@value
class Past:
    """Some of a level's sums, faded more slowly: what is more in these was before what is in those."""

    span_s: float = 0.0
    busy_s: float = 0.0
    runs: float = 0.0


@value
class Level:
    """What was done while so many workers ran, in faded sums; `busy_s` of `open_s` slot-seconds were used."""

    workers: int
    since_s: float
    span_s: float = 0.0
    busy_s: float = 0.0
    open_s: float = 0.0
    completions: float = 0.0
    runs: float = 0.0
    sum_s: float = 0.0
    square_sum_s2: float = 0.0
    variation: float = 0.0
    """Squared coefficient of variation of handler runs, as learnt over minutes: few runs show too little of it."""
    changed_s: float | None = None
    """When more slots were last taken into use than usual here; None: not since `since_s`."""
    past: Past | None = None
    """What was done here before, too; None: nothing has been added yet."""


@value
class Hold:
    """A cap on the workers. `sick`: nothing is tried before `next_s`.

    Above `base` it is a step out that is being tried, below it a step back. Times of handler runs are seconds.
    """

    cap: int
    base: int
    sign: Sign
    why: str
    sick: bool
    since_s: float
    next_s: float
    wait_s: float
    share: float
    """Of the cap, what the next step adds."""
    touched_s: float
    """When it last mattered."""
    knee: int | None = None
    """The lowest count that was found to complete no more than a lower one."""
    calm_s: float | None = None
    """How long handlers run when nothing is asked too much of."""
    base_s: float | None = None
    """And at `base`, with all slots in use: what a step out is compared with."""
    above_s: float | None = None
    """And at the count that was last gone back from: what a step back is compared with."""
    found_slots: float | None = None
    """The most slots that were in use when a sign was found."""

    @property
    def trying(self) -> bool:
        """Whether a step above the last good count is being tried."""
        return self.cap > self.base

    @property
    def easing(self) -> bool:
        """Whether it is being tried if fewer complete as much."""
        return self.cap < self.base


@value
class Point:
    """Handler runs while about so many slots were in use, in faded sums. Made with the first of them."""

    band: int
    at_s: float
    """When the last of them ended."""
    runs: float = 0.0
    slot_runs: float = 0.0
    """Slots in use, summed over the runs."""
    sum_s: float = 0.0
    square_sum_s2: float = 0.0
    full_runs: float = 0.0
    """Those while nearly all slots that there were were in use."""

    @property
    def slots(self) -> float:
        """In use, on average."""
        return self.slot_runs / self.runs

    @property
    def run_s(self) -> float:
        """The mean run."""
        return self.sum_s / self.runs

    @property
    def rate_per_s(self) -> float:
        """Completions, by Little's law."""
        return self.slots / self.run_s

    @property
    def error(self) -> float:
        """One standard deviation of the mean run, of it."""
        variance_s2 = max(0.0, self.square_sum_s2 / self.runs - self.run_s**2)
        return math.hypot(math.sqrt(variance_s2 / self.runs) / self.run_s, ERROR_LEAST)


@value
class Curve:
    """How long handlers run by how many slots are in use; `points` by rising slots."""

    points: tuple[Point, ...] = ()
    load: float | None = None
    """Slots in use, averaged over a service time."""
    workers: int = 0
    """That take work, about, since `since_s`; what they do has settled `settles_s` later at the earliest."""
    since_s: float = 0.0
    settles_s: float = 0.0


@value
class GuardMemory:
    """`before` is the level before the last step out, while it is not known yet what that step bought.

    `above` is the level that was stepped back from, while it is not known yet whether that was right.
    """

    dependencies: Mapping[str, DependencyMemory] = field(default_factory=dict)
    before: Level | None = None
    level: Level | None = None
    above: Level | None = None
    hold: Hold | None = None
    curve: Curve = field(default_factory=Curve)
    """Only where handlers name dependencies."""
