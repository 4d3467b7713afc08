"""The platform under a worker: its protection, its notices, its termination."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["InstanceNotices", "InstanceWatch", "ScaleInProtection", "TerminationHook"]


class ScaleInProtection(Protocol):
    """The platform's promise not to choose this very worker when it scales in or deploys."""

    async def set_protected(self, protected: bool, for_s: float) -> None:
        """For `for_s` seconds from now (rounded up to what the platform takes), or no longer.

        Raises Blocked while a deployment is in the way, Gone when nothing can protect this worker, and as every port.
        """
        ...


@dataclass(frozen=True, slots=True)
class InstanceNotices:
    """What the platform has in mind for the instance that a worker runs on. Times are seconds since the epoch."""

    stops_at_s: float | None = None
    """A spot interruption: the instance is stopped or terminated then."""
    rebalance_at_s: float | None = None
    """Since then an interruption has been likelier than usual."""
    terminating: bool = False
    """The Auto Scaling group is about to terminate it."""


class InstanceWatch(Protocol):
    """Where a worker learns that its instance is about to go."""

    async def instance_id(self) -> str:
        """What the platform calls the instance. Raises as `look`."""
        ...

    async def look(self) -> InstanceNotices:
        """Raises Gone where nobody can tell, Denied when it can't be asked, else Unreachable."""
        ...


class TerminationHook(Protocol):
    """What holds the termination of a worker's instance up until it says that it is done."""

    async def keep(self) -> None:
        """It needs more time."""
        ...

    async def complete(self) -> None:
        """It is done. Both raise Invalid when no termination is being held up, and as every port."""
        ...
