"""What an estimate is: a value, and where it came from."""

from tidegate.core.value import value

__all__ = [
    "Estimate",
]


@value
class Estimate:
    """A value and where it came from.

    `error`: one standard deviation of what chance has in it beyond what the usual way to reckon it has, as where a
    shorter window is believed; 0: nothing.
    """

    value: float
    source: str
    error: float = 0.0
