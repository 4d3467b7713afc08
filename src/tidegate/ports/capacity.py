"""What the controller sets: the desired count."""

from collections.abc import Sequence
from typing import Protocol

from tidegate.core.observation import Capacity

__all__ = ["CapacityTarget"]


class CapacityTarget(Protocol):
    """The desired count of one ECS service or Auto Scaling group."""

    @property
    def name(self) -> str:
        """For people: "ecs:cluster/service" or "asg:name"."""
        ...

    def read(self) -> Capacity: ...

    def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
        """Read again, then write only when that changes something; true when it wrote.

        `leaving` are the platform's names of workers that hold nothing any more: a platform that can be told names
        (`Capacity.removes_by_name`) removes these; one that can't chooses among those that are not protected.

        Raises CapacityChanged when the live desired count is neither `seen.desired` nor `desired`.
        """
        ...
