"""The rule by which a desired count is written: compare with what is live, then set."""

from tidegate.core.observation import Capacity
from tidegate.errors import CapacityChanged

__all__ = ["must_write"]


def must_write(desired: int, seen: Capacity, live: Capacity) -> bool:
    """Whether `desired` has to be written, given what the decision saw and what is there now.

    Neither ECS nor Auto Scaling can write on a condition, so a change by others between this check and the write is
    overwritten; re-reading makes that window milliseconds long instead of a whole tick. Raises CapacityChanged.
    """
    if live.desired == desired:
        return False
    if live.desired != seen.desired:
        raise CapacityChanged(live.target, seen.desired, live.desired)
    return True
