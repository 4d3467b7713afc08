"""What each rule between the need and the count comes to."""

from functools import lru_cache

from tidegate.core.decision import Reason
from tidegate.core.value import value

__all__ = ["Limit", "left_alone"]


@value
class Limit:
    """A count of workers, and why it is another than before (None: this rule left it alone)."""

    workers: int
    reason: Reason | None = None
    note: str = ""


@lru_cache(maxsize=1024)
def left_alone(workers: int) -> Limit:
    """The count as it was: nearly all rules of a tick say so, hence one for each count."""
    return Limit(workers)
