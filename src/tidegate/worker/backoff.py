"""Waiting longer after each failure, at random, so that a fleet that failed together doesn't return together."""

from collections.abc import Callable

__all__ = ["Random", "full_jitter_s"]

Random = Callable[[], float]
"""A number from 0 (included) to 1 (excluded): `random.random`, or a fixed one in tests."""

_LARGEST_EXPONENT = 30


def full_jitter_s(failures: int, base_s: float, cap_s: float, random: Random) -> float:
    """Seconds to wait after so many failures in a row (1 or more): anything up to base × 2^(failures - 1) or the cap.

    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ ("full jitter")

    >>> full_jitter_s(3, base_s=1, cap_s=60, random=lambda: 0.5)
    2.0
    """
    return random() * float(min(cap_s, base_s * 2.0 ** min(failures - 1, _LARGEST_EXPONENT)))
