"""The count of workers on its way through the rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.core.decision import Reason, Scalar, Step
from tidegate.core.estimation.load import Load
from tidegate.core.guardrails.watch import Watched
from tidegate.core.limit import Limit
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.signals.read import Signals
from tidegate.core.sizing.need import Sized

__all__ = ["Ruled", "Trail"]

Ruled = tuple[str, int, Limit, Mapping[str, Scalar]]
"""A rule's name, the count before it, what it made of that, and what else it went by."""


@dataclass(slots=True)
class Trail:
    """What was seen and reckoned at this tick, and what each rule did; `core.explain.told` puts it into words."""

    pool: Pool
    before: PoolState
    """As it was when the tick began."""
    seen: Observation
    signals: Signals
    watched: Watched
    slots_per_worker: int
    serving: int
    """Workers that take work, or will once they have started."""
    workers: int
    """As many as the last rule has left."""
    load: Load | None = None
    """None where no service time is known, or no counts."""
    sized: Sized | None = None
    """What the work needs; None where that can't be known."""
    quiet: Step | None = None
    """What a fair queue's quiet groups need, where there are noisy ones."""
    ruled: list[Ruled] = field(default_factory=list)
    reason: Reason | None = None
    """Of the last rule that changed the count, and that in words."""
    note: str = ""
    notices: list[str] = field(default_factory=list)

    def apply(self, name: str, limit: Limit, values: Mapping[str, Scalar] = {}) -> None:  # only read
        """The count as this rule leaves it, and its reason where it changed the count."""
        self.ruled.append((name, self.workers, limit, values))
        self.workers = limit.workers
        if limit.reason is not None:
            self.reason, self.note = limit.reason, limit.note
