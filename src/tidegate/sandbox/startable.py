"""What the sandbox's servers have in common: they run from `start` to `stop`, or in a `with` block."""

from abc import ABC, abstractmethod
from typing import Self

__all__ = ["Startable"]


class Startable(ABC):
    """A `with` block starts it and stops it again, however the block ends."""

    @abstractmethod
    def start(self) -> Self:
        """Returns itself, once it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Safe to call twice."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
