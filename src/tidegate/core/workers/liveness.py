"""Is a worker alive, or does it only look so? Judged by what it completes while messages wait. Seconds of a steady
clock.

A process that runs, polls and keeps leases may still do nothing: its threads in a deadlock, its handlers waiting for a
dependency that never answers. An idle worker is healthy, and so is one with a long job while nothing waits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Health", "Sight", "longest_silence_s", "p99_s", "verdict"]

_TIMES_P99: Final = 10
_LEAST_S: Final = 60.0
_UNKNOWN_S: Final = 3600.0
_ENDS_TO_KNOW: Final = 20


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen of a worker at `at_s`."""

    at_s: float
    slots: int
    started_at_s: Sequence[float] = ()
    """When each handler that runs was started."""
    quiet_since_s: float = 0.0
    """When a handler last ended or said that it goes on, or the worker last was idle."""
    messages_wait: bool | None = None
    """Whether any wait for a slot, in hand or in the queue; None: not known, or not asked."""


@dataclass(frozen=True, slots=True)
class Health:
    """A verdict and its one line."""

    healthy: bool
    line: str
    slots: int
    busy: int
    live: int
    """Slots that are free, or whose handler has not been silent for too long."""


def p99_s(service_times_s: Sequence[float]) -> float | None:
    """The time that 99 of 100 handlers take at most; None while fewer than twenty have ended.

    >>> p99_s([0.1] * 99 + [5.0]), p99_s([1.0])
    (0.1, None)
    """
    if len(service_times_s) < _ENDS_TO_KNOW:
        return None
    ordered = sorted(service_times_s)
    return ordered[math.ceil(0.99 * len(ordered)) - 1]


def longest_silence_s(p99: float | None, stuck_after_s: float | None) -> float:
    """How long nothing may end while messages wait: as set, else ten times the p99 and a minute at least.

    An hour while it is not known how long handlers take: a first job may be a long one.

    >>> longest_silence_s(2.0, None), longest_silence_s(60.0, None), longest_silence_s(None, None)
    (60.0, 600.0, 3600.0)
    >>> longest_silence_s(2.0, stuck_after_s=300.0)
    300.0
    """
    if stuck_after_s is not None:
        return stuck_after_s
    return _UNKNOWN_S if p99 is None else max(_LEAST_S, _TIMES_P99 * p99)


def verdict(sight: Sight, longest_s: float) -> Health:
    """Unhealthy when handlers run, messages wait, and for longer than `longest_s` nothing has ended.

    >>> verdict(Sight(at_s=100, slots=2, started_at_s=(10, 95), quiet_since_s=94, messages_wait=True), 60).line
    'healthy: 2 of 2 slots busy, 1 of them live, last sign of life 6 s ago'
    >>> verdict(Sight(at_s=100, slots=2, started_at_s=(10, 20), quiet_since_s=21, messages_wait=True), 60).line
    'stuck: 2 of 2 slots busy, 0 of them live; messages wait and for 79 s nothing has ended (60 s at most)'
    >>> verdict(Sight(at_s=100, slots=2), 60).line
    'healthy: idle, 2 slots free'
    """
    busy = len(sight.started_at_s)
    stuck = sum(sight.at_s - started_s > longest_s for started_s in sight.started_at_s)
    silent_s = max(0.0, sight.at_s - sight.quiet_since_s)
    live = max(0, sight.slots - stuck)
    if busy == 0:
        return Health(True, f"healthy: idle, {sight.slots} slots free", sight.slots, 0, live)
    what = f"{busy} of {sight.slots} slots busy, {busy - stuck} of them live"
    if silent_s > longest_s and sight.messages_wait:
        line = f"stuck: {what}; messages wait and for {silent_s:.0f} s nothing has ended ({longest_s:.0f} s at most)"
        return Health(False, line, sight.slots, busy, live)
    return Health(True, f"healthy: {what}, last sign of life {silent_s:.0f} s ago", sight.slots, busy, live)
