"""What is played: a pool, its traffic, and what goes wrong meanwhile. Seconds, unless named otherwise."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.outside.sqs import Message
from tidegate import Pool

__all__ = ["Faults", "Scenario", "Signals"]


@dataclass(frozen=True, slots=True)
class Signals:
    """How well the queue and the workers can be seen.

    Hosts publish their counts every `count_every_s`, off by `noise`. CloudWatch's minutes come `metric_lag_s` after
    their end, or never (None). `reporting` of the workers use the SDK.
    """

    count_every_s: float = 20.0
    noise: float = 0.05
    metric_lag_s: float | None = 60.0
    reporting: float = 1.0
    age_counts_in_flight: bool = False
    classed: bool = True


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong. Times are from the start; `outage` is when no tick runs.

    `takes_effect_s`: the platform takes a new count so much later, and shows the old one until then. `refused` is the
    share of settings that it refuses. `slower` multiplies service times from a moment on.
    """

    failed_starts: float = 0.0
    spot_losses_per_hour: float = 0.0
    deploys_s: tuple[float, ...] = ()
    outage: tuple[float, float] | None = None
    table_outage: tuple[float, float] | None = None
    takes_effect_s: float = 0.0
    refused: float = 0.0
    purge_s: float | None = None
    slower: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """`traffic` makes the messages, sorted by when they are sent; `pool_at` gives the settings of a moment."""

    name: str
    pool: Pool
    traffic: Callable[[random.Random], list[Message]]
    hours: float = 2.0
    start_up_s: float = 60.0
    start_up_spread: float = 0.3
    fifo: bool = False
    at_random: bool = False
    """A standard queue keeps no order at all."""
    signals: Signals = field(default_factory=Signals)
    faults: Faults = field(default_factory=Faults)
    pool_at: Callable[[Pool, float], Pool] = lambda pool, _: pool
    tick_s: float = 10.0
    """How often the controller looks: 60 s is a Lambda's schedule."""
