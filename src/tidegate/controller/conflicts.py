"""A state that somebody else has changed meanwhile: read again, decide again."""

from collections.abc import Callable
from typing import TypeVar

from tidegate.errors import StateConflict

__all__ = ["again_on_conflict"]

T = TypeVar("T")


def again_on_conflict(tries: int, once: Callable[[], T]) -> T:
    """What `once` gives, at the last of `tries` at the latest. Raises StateConflict when that one met another too.

    At once, without a pause: the other has saved by then. Three lines, and no library that a cold start would load.
    """
    for _ in range(tries - 1):
        try:
            return once()
        except StateConflict:
            continue
    return once()
