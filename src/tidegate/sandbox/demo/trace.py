"""When the demo's messages are sent: within the bins of a trace, or of a spike of its own."""

import random
from collections.abc import Iterator

from tidegate.config.trace import Bin, load_trace
from tidegate.errors import ConfigError, Fault
from tidegate.sandbox.demo.settings import DemoSettings

__all__ = ["plan", "send_times", "spike"]

CALM_PER_S = 5.0
SPIKE_PER_S = 40.0
MOST_MESSAGES = 1_000_000
"""The times are planned ahead; this many are some tens of megabytes, and hours of two cores' work."""
SPIKE_BEGINS, SPIKE_ENDS = 0.22, 0.58
"""Of the demo's length: long enough to see the fleet grow, and then to see it hold and shrink."""


def plan(settings: DemoSettings) -> list[float]:
    """The times of the whole demo. Raises ConfigError when the trace's file is no trace, or holds too much."""
    bins = spike(settings.length_s) if settings.trace is None else load_trace(settings.trace, settings.speed)
    planned = sum(each.count for each in bins if each.begin_s < settings.length_s)
    if planned > MOST_MESSAGES:
        fix = "send for less long (--for), or thin the trace"
        problem = f"that is {planned:,} messages, and the demo takes {MOST_MESSAGES:,} at most"
        raise ConfigError([Fault("--trace", str(settings.trace or "the spike"), problem, fix)])
    rng = random.Random(settings.seed)  # noqa: S311 - traffic, nothing secret
    return list(send_times(bins, settings.length_s, rng))


def spike(length_s: float) -> list[Bin]:
    """Five messages a second, forty for a good third of the time, and five again."""
    edges = (0.0, SPIKE_BEGINS * length_s, SPIKE_ENDS * length_s, length_s)
    rates = (CALM_PER_S, SPIKE_PER_S, CALM_PER_S)
    return [
        Bin(begin_s, end_s, round(rate * (end_s - begin_s)))
        for begin_s, end_s, rate in zip(edges, edges[1:], rates, strict=False)
    ]


def send_times(bins: list[Bin], length_s: float, rng: random.Random) -> Iterator[float]:
    """The times to send at, rising, up to `length_s`; within its bin a message falls anywhere."""
    for each in bins:
        if each.begin_s >= length_s:
            return
        for at_s in sorted(rng.uniform(each.begin_s, each.end_s) for _ in range(each.count)):
            if at_s < length_s:
                yield at_s
