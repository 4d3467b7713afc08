"""How loosely a queue keeps the order in which messages came, as the waits of those that start together show it.

From a queue of few shards, each in order, messages start nearly as they came. Where they are picked at random, one that
waits is passed over by chance, and waits differ by as much as they are long: exponentially, with a squared coefficient
of variation of 1. So they do where a backlog has stood for long, for the shards' lengths drift apart. AWS promises no
more than an attempt at order ("best-effort ordering", standard-queues-message-order); how long a backlog may stand on
purpose follows from what its waits show.
"""

import math

from tidegate.core.model import Looseness
from tidegate.core.signals.news import Waits

__all__ = ["SHARDS", "learn_looseness", "looseness", "spread_share"]

SHARDS = 8
"""What a standard queue is taken to be made of, beyond what shows: each in order, read at random."""

MOST_SHARDS = 24
"""Of three times as many nothing is concluded: in a short backlog they make up nearly all that waits differ by."""

WAITED_LEAST_S = 10.0
"""Shorter waits differ by when a slot polls."""

IN_ORDER, AT_RANDOM = 0.25, 0.75
"""Squared variations up to which a tick's waits are in order, and from which they are random: while a backlog grows or
shrinks the waits of a tick change by themselves, and they are told in buckets up to twice as wide as they begin."""

EVIDENCE_KEPT_S = 7200.0
DOUBTED_STARTS = 100.0
"""As many starts in order are taken to have been seen before any."""

DOUBT = 0.15
"""Such a share of starts out of order is usual wherever a backlog stands: only what is beyond it counts."""


def learn_looseness(
    known: Looseness, waits: Waits | None, counted: float, target_s: float, elapsed_s: float
) -> Looseness:
    """Add the waits of a tick while `counted` messages wait: how far they are at random, the surer the more wait.

    Only where some waited for the whole target (seconds): what differs without that is no harm, and shards drift apart
    at constant load as well. Else what is known fades.

    >>> waits = Waits(starts=101, late_share=0.0, p99_s=300.0, mean_s=60.0, variation=0.55)
    >>> learn_looseness(Looseness(), waits, counted=480.0, target_s=300.0, elapsed_s=10.0)
    Looseness(starts=95.0, spread=47.5)
    """
    kept = math.exp(-elapsed_s / EVIDENCE_KEPT_S)
    if waits is None or waits.p99_s < target_s or waits.mean_s < WAITED_LEAST_S or counted <= MOST_SHARDS:
        return Looseness(known.starts * kept, known.spread * kept)
    by_shards = MOST_SHARDS / counted
    at_random = min(1.0, max(0.0, (waits.variation - by_shards - IN_ORDER) / (AT_RANDOM - IN_ORDER)))
    weight = (waits.starts - 1) * (1.0 - by_shards)
    return Looseness(known.starts * kept + weight, known.spread * kept + weight * at_random)


def looseness(known: Looseness) -> float:
    """From 0, few shards, to 1, messages that are picked at random."""
    share = known.spread / (known.starts + DOUBTED_STARTS)
    return max(0.0, share - DOUBT) / (1.0 - DOUBT)


def spread_share(ahead: float, loose: float) -> float:
    """One standard deviation of the starts that a message sees before its own, as a share of those that are `ahead`.

    Of few shards ± √((shards − 1) × ahead), of messages that are picked at random as many as there are.

    >>> round(spread_share(700.0, 0.0), 9), round(spread_share(700.0, 0.99), 9)
    (0.1, 1.0)
    """
    return math.sqrt((SHARDS - 1) / ahead + loose)
