"""Delayed messages are arrivals that are known beforehand, as far as a count without times can tell."""

from tidegate.core.estimation.estimate import Estimate

__all__ = ["DELAY_LONGEST_S", "known_per_s", "with_due"]

DELAY_LONGEST_S = 900.0
"""DelaySeconds is 15 minutes at most (API_SendMessage), so all that is delayed now comes due within that."""


def known_per_s(delayed: float) -> float:
    """Messages a second that must come due on average."""
    return delayed / DELAY_LONGEST_S


def with_due(arrivals: Estimate, delayed: float) -> Estimate:
    """At least the rate at which what is delayed must come due on average. More than that the count doesn't tell.

    >>> with_due(Estimate(2.0, "counts"), delayed=9000).value, with_due(Estimate(2.0, "counts"), delayed=90).value
    (10.0, 2.0)
    """
    least_per_s = known_per_s(delayed)
    return Estimate(least_per_s, "delayed, coming due") if least_per_s > arrivals.value else arrivals
