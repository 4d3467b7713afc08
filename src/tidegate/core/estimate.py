"""What an estimate is: a value, and where it came from."""

from dataclasses import dataclass

__all__ = [
    "Estimate",
]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and where it came from."""

    value: float
    source: str
