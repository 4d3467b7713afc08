"""The count of workers on its way through the rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.core.decision import Reason, Scalar, Step
from tidegate.core.guardrails import Limit
from tidegate.core.model import Pool
from tidegate.core.need import Sized
from tidegate.core.observation import Observation
from tidegate.core.watch import Watched

__all__ = ["Trail"]


@dataclass(slots=True)
class Trail:
    """Each step is kept, and the last rule that changed the count, in words too."""

    pool: Pool
    seen: Observation
    watched: Watched
    workers: int
    steps: list[Step] = field(default_factory=list)
    reason: Reason | None = None
    note: str = ""
    sized: Sized | None = None
    """What the work needs; None where that can't be known."""
    notices: list[str] = field(default_factory=list)

    def apply(self, name: str, limit: Limit, values: Mapping[str, Scalar] | None = None) -> None:
        """The count as this rule leaves it, the rule's step, and its reason where it changed the count."""
        before, self.workers = self.workers, limit.workers
        if limit.reason is not None:
            self.reason, self.note = limit.reason, limit.note
        seen: dict[str, Scalar] = {"before": before, "after": limit.workers}
        if values:
            seen.update(values)
        self.steps.append(Step(name, seen, limit.note))
