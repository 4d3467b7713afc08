"""One invocation of the Lambda function. Each is `ticks_per_invocation` ticks of every pool, by the same code as
`tidegate once`.

Settings and clients are made by the first invocation of an execution environment and kept for those that follow, and so
is what CloudWatch said: it is asked once a minute, however often the function is called.
"""

import functools
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tidegate.aws.clients import ANSWER_LIMIT_S
from tidegate.config import Settings
from tidegate.controller.controller import Outcome
from tidegate.core.notation.durations import format_duration
from tidegate.entrypoints.clock import SystemClock
from tidegate.entrypoints.collector import paused
from tidegate.entrypoints.logs import LogSink, make_logger
from tidegate.entrypoints.recording import recording
from tidegate.entrypoints.service import tick_times
from tidegate.entrypoints.show import error_text
from tidegate.entrypoints.sources import load_from
from tidegate.entrypoints.wiring import Wired, wire
from tidegate.errors import ConfigError, Fault, TidegateError

__all__ = ["LONGEST_TICK_S", "PoolsFailed", "handler"]

LONGEST_TICK_S: Final = 2 * ANSWER_LIMIT_S
"""Kept of the function's time-out for the last tick: two endpoints one after the other that never answer."""

_EVERY_S = 60.0
"""Schedules call once a minute at most:
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html"""
_TICKS_TO_A_GAP = 3
"""So many ticks of silence are a gap in what a pool has watched (core/decide.py)."""


class PoolsFailed(TidegateError):
    """Some pools could not be served, or only around something broken; the others were."""

    def __init__(self, failed: Sequence[Outcome], pools: int) -> None:
        told = "; ".join(f"{outcome.pool}: {text}" for outcome in failed for text in _reasons(outcome))
        super().__init__(f"{len(failed)} of {pools} pools failed: {told}")


def handler(event: object, context: Any) -> dict[str, int]:
    """Decide for every pool and act; how many were served. `event` is not looked at, `context` only for the time left.

    Raises PoolsFailed after all pools had their ticks, so that Lambda counts the invocation as an error; ConfigError
    for the settings; Invalid when there is no Region. A pool whose last tick went well has not failed.
    """
    started = _start()
    left_s = _time_left(context)
    outcomes = tick_times(started.wired, started.sink, started.ticks, left_s)
    failed = [outcome for outcome in outcomes if not outcome.ok]
    if failed:
        raise PoolsFailed(failed, len(outcomes))
    return {"pools": len(outcomes)}


@dataclass(frozen=True, slots=True)
class _Started:
    wired: Wired
    sink: LogSink
    ticks: int


@functools.cache
def _start() -> _Started:
    """Once per execution environment; a failure is not remembered, so the next invocation tries again."""
    with paused():
        log = make_logger("info", sys.stdout)
        # From where the function's code was unpacked:
        # https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
        folder = Path(os.environ.get("LAMBDA_TASK_ROOT", "."))
        loaded = load_from(os.environ.get("TIDEGATE_CONFIG", "tidegate.toml"), os.environ, folder)
        for warning in loaded.warnings:
            log.warning("settings", fault=str(warning))
        settings, sink = _fit_for_lambda(loaded.settings), LogSink(log)
        wired = recording(wire(settings, SystemClock(), log=sys.stdout), settings, sink.not_recorded)
        return _Started(wired, sink, settings.ticks_per_invocation)


def _time_left(context: Any) -> Callable[[], float]:
    """Seconds in which a tick may still start. Without a context (a call by hand) there is no end.

    https://docs.aws.amazon.com/lambda/latest/dg/python-context.html
    """
    if context is None:
        return lambda: math.inf
    return lambda: float(context.get_remaining_time_in_millis()) / 1000 - LONGEST_TICK_S


def _fit_for_lambda(settings: Settings) -> Settings:
    """What a pool learned must outlive the execution environment, and two of them must not both act on it. And from the
    last tick of one minute to the first of the next it must be no gap, after which pools would never scale in.
    """
    faults = []
    if settings.table is None:
        problem = "is not set, and in Lambda neither memory nor files last"
        faults.append(Fault("table", None, problem, 'set table = "tidegate", a DynamoDB table'))
    ticks, tick_s = settings.ticks_per_invocation, settings.tick_s
    if _EVERY_S - (ticks - 1) * tick_s > _TICKS_TO_A_GAP * tick_s:
        problem = f"with ticks_per_invocation = {ticks} leaves most of each minute between two invocations unwatched"
        fix = f'set tick = "60s", or ticks_per_invocation = {math.ceil(_EVERY_S / tick_s)}'
        faults.append(Fault("tick", format_duration(tick_s), problem, fix))
    if faults:
        raise ConfigError(faults)
    return settings


def _reasons(outcome: Outcome) -> Sequence[str]:
    if outcome.error is not None:
        return [error_text(outcome.error)]
    return outcome.decision.errors if outcome.decision else ()
