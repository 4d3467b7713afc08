"""What an estimate is: a value, and where it came from."""

from tidegate.core.value import value

__all__ = [
    "Estimate",
]


@value
class Estimate:
    """A value and where it came from."""

    value: float
    source: str
