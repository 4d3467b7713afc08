"""The load: all that the estimates of one tick say, as the need is sized by it."""

from dataclasses import field

from tidegate.core.estimation.committed import Committed
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.model import Outlook
from tidegate.core.value import value

__all__ = ["AGE_PARTS", "Load"]

AGE_PARTS = 8
"""Into so many the ages of what waits are told apart."""


@value
class Load:
    """What the estimates say: messages, seconds, and the variation of the service time."""

    arrivals: Estimate
    waiting: float
    head_age: Estimate
    service_time: Estimate
    variation: float
    start_up: Estimate
    slots_per_worker: int
    steady_per_s: float = 0.0
    """The rate that has lasted, without dumps."""
    mean_per_s: float = 0.0
    """The same with them: what messages that wait see pass."""
    committed: Committed = field(default_factory=Committed)
    lean: float = 0.0
    older: tuple[float, ...] = ()
    """Of what waits, the shares older than 0, 1 … `AGE_PARTS` − 1 parts of the head's age; () where that is unknown."""
    surge: float = 0.0
    outlook: Outlook = field(default_factory=Outlook)
    chance_per_s: float = 0.0
    """One standard deviation of the arrival rate's estimate."""
    calm: float = 0.0
    """The share of the pool's surges that chance alone explains."""
    fifo: bool = False
    loose: float = 0.0
    """How loosely the queue keeps its order (`core.estimation.looseness`)."""
    delayed: float = 0.0
    typical_per_s: float = 0.0
