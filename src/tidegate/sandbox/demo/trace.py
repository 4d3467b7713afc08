"""When the demo's messages are sent: within the bins of a trace, or of a spike of its own."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tidegate.config.trace import Bin, load_trace
from tidegate.errors import ConfigError, Fault
from tidegate.sandbox.demo.settings import LONGEST_S, DemoSettings

__all__ = ["Plan", "plan", "send_times", "spike"]

CALM_PER_S = 5.0
SPIKE_PER_S = 40.0
SPIKE_LENGTH_S = 90.0
MOST_MESSAGES = 1_000_000
"""The times are planned ahead; this many are some tens of megabytes, and hours of two cores' work."""
SPIKE_BEGINS, SPIKE_ENDS = 0.22, 0.58
"""Of the demo's length: long enough to see the fleet grow, and then to see it hold and shrink."""


@dataclass(frozen=True, slots=True)
class Plan:
    """When each message is sent, in seconds from the start; for how long; and how many of the trace come too late."""

    times_s: list[float]
    length_s: float
    left_out: int


def plan(settings: DemoSettings) -> Plan:
    """The whole demo's traffic, as long as the settings say, or as the trace is, or 90 s.

    Raises ConfigError when the trace's file is no trace, or holds more than a demo can send.
    """
    bins = [] if settings.trace is None else load_trace(settings.trace, settings.speed)
    length_s = settings.length_s or min(LONGEST_S, bins[-1].end_s if bins else SPIKE_LENGTH_S)
    bins = bins or spike(length_s)
    planned = sum(each.count for each in bins if each.begin_s < length_s)
    if planned > MOST_MESSAGES:
        fix = "send for less long (--for), or thin the trace"
        problem = f"that is {planned:,} messages, and the demo takes {MOST_MESSAGES:,} at most"
        raise ConfigError([Fault("--trace", str(settings.trace or "the spike"), problem, fix)])
    rng = random.Random(settings.seed)  # noqa: S311 - traffic, nothing secret
    times_s = list(send_times(bins, length_s, rng))
    return Plan(times_s, length_s, left_out=sum(each.count for each in bins) - len(times_s))


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
