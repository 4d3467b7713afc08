"""What the guard's cap depends on besides itself, at one tick."""

from dataclasses import replace

from tidegate.core.downstream.levels import balanced, busy, full, mean_run_s, settled, tells
from tidegate.core.downstream.state import Hold, Level
from tidegate.core.downstream.stretch import Stretch, eased, stretch
from tidegate.core.value import value

__all__ = ["Situation", "with_level"]

STRAINED = 1.5
EVEN = 0.1
"""Of slots in use, how far the runs that ended may differ from them where a step back is made or judged by these."""


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
    in_use: float = 0.0
    """Slots."""
    best: int | None = None
    """As many complete most, and more are known to buy nothing; None: that is not known."""
    steps_back: bool = True
    """Fewer may be tried than run."""
    measured: bool = True
    """What is done at this count is known well enough to compare a step with."""
    strained: bool = False
    """Handlers take much longer than they do when nothing is asked too much of."""
    used: bool = True
    """More is in use than there is at the hold's base."""
    undecided: bool = False
    """It is not known yet what the last step back did."""
    full: bool = False
    """All slots are in use, and how long handlers run has settled."""
    mean_s: float | None = None
    """Seconds that handlers run at this count."""
    calm: Stretch | None = None
    """Of handlers, against those when nothing is asked too much of. This and the others: None while not known."""
    grown: Stretch | None = None
    """Of handlers, against those at the hold's base."""
    eased: Stretch | None = None
    """Of handlers at the count that was gone back from, against now."""


def with_level(at: Situation, level: Level, hold: Hold | None, quick_s: float, slots_per_worker: int) -> Situation:
    """With what workers have reported at the present count; `quick_s`: the service time at its best."""
    mean_s = mean_run_s(level)
    at = replace(
        at,
        measured=tells(level),
        strained=mean_s > STRAINED * quick_s,
        full=full(level) and balanced(level, EVEN),
        in_use=busy(level) if tells(level) else at.in_use,
        mean_s=mean_s if tells(level) else None,
    )
    if hold is None:
        return at
    return replace(
        at,
        measured=tells(level) if hold.calm_s is None else settled(level),
        used=busy(level) > hold.base * slots_per_worker,
        calm=stretch(level, hold.calm_s),
        grown=stretch(level, hold.base_s),
        eased=eased(level, hold.above_s) if balanced(level, EVEN) else None,
    )
