"""Tick on a grid until told to stop; what is in hand then is finished."""

import math
import threading
from collections.abc import Callable

from tidegate.controller.controller import Controller, Outcome
from tidegate.ports import Clock, EventSink

__all__ = ["next_due", "run_times", "run_until_stopped"]


def next_due(due_s: float, now_s: float, tick_s: float) -> tuple[float, int]:
    """When the tick after the one due at `due_s` is due, and how many grid points have passed unused.

    The grid stays where it is, so that ticks don't drift by the time that they take. A clock that was set back starts a
    new grid: waiting for the old one could take hours.

    >>> next_due(100, 103, 10)
    (110, 0)
    >>> next_due(100, 110, 10)
    (110, 0)
    >>> next_due(100, 125, 10)
    (130, 2)
    >>> next_due(100, 40, 10)
    (50, 0)
    """
    if now_s < due_s:
        return now_s + tick_s, 0
    missed = max(0, math.ceil((now_s - due_s) / tick_s) - 1)
    return due_s + (missed + 1) * tick_s, missed


def run_until_stopped(
    controller: Controller,
    tick_s: float,
    clock: Clock,
    stop: threading.Event,
    sink: EventSink,
    beat: Callable[[float, int], None] | None = None,
) -> None:
    """Tick now and then every `tick_s` seconds. After `stop` no tick starts; those in hand run to their end.

    `beat` is told after each: the time, and how many ticks the pool that is best off has missed.
    """
    due_s = clock.now()
    while not stop.is_set():
        controller.tick()
        if beat is not None:
            beat(clock.now(), controller.least_missed())
        due_s, missed = next_due(due_s, clock.now(), tick_s)
        if missed:
            sink.overran(None, missed)
        if clock.wait(stop, max(0.0, due_s - clock.now())):
            break
    controller.finish()


def run_times(
    controller: Controller, times: int, tick_s: float, clock: Clock, left_s: Callable[[], float], sink: EventSink
) -> list[Outcome]:
    """Tick `times` times, `tick_s` seconds apart; each pool's last outcome.

    A tick starts only while more than its wait is left by `left_s` (which counts what it needs itself as gone), so that
    whoever gave the time does not end it half done. Ticks that are left out are said.
    """
    began_s, never = clock.now(), threading.Event()
    controller.tick()
    for number in range(1, times):
        pause_s = max(0.0, began_s + number * tick_s - clock.now())
        if left_s() < pause_s:
            sink.overran(None, times - number)
            break
        clock.wait(never, pause_s)
        controller.tick()
    return controller.finish()
