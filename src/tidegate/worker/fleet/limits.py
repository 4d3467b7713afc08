"""How much a pool's workers may do together: of all handlers, and of each job class."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tidegate.core.workers.permits import FLEET, Demand

__all__ = ["ANY_CLASS", "ClassLoad", "FleetLimits", "class_limit_name"]

ANY_CLASS: Final = "*"
"""Stands for every class that is not named."""


@dataclass(frozen=True, slots=True)
class ClassLoad:
    """What a worker has in hand of a class: handlers that run, and messages that wait to."""

    running: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class FleetLimits:
    """`slots`: handlers at a time of all workers together; `classes`: of one class. None, and no entry: no limit."""

    slots: int | None = None
    classes: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self.slots is not None or bool(self.classes)

    def of_class(self, job_class: str) -> int | None:
        """The limit of this class.

        >>> limits = FleetLimits(classes={"bulk": 2, "*": 5})
        >>> limits.of_class("bulk"), limits.of_class("mail"), FleetLimits().of_class("mail")
        (2, 5, None)
        """
        return self.classes.get(job_class, self.classes.get(ANY_CLASS))

    def demand(self, in_use: int, want: int) -> dict[str, Demand]:
        """What to ask for of the limit on all handlers; {} when there is none."""
        return {} if self.slots is None else {FLEET: Demand(self.slots, in_use, min(want, self.slots))}

    def class_demand(self, job_class: str, in_use: int, want: int) -> dict[str, Demand]:
        """What to ask for of this class's limit; {} when it has none."""
        limit = self.of_class(job_class)
        return {} if limit is None else {class_limit_name(job_class): Demand(limit, in_use, min(want, limit))}


def class_limit_name(job_class: str) -> str:
    """What a class's limit is called among the permits."""
    return f"class {job_class}"
