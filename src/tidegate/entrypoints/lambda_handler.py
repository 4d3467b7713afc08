"""`handler`: what AWS Lambda calls. Each invocation is one tick of every pool, by the same code as `tidegate once`.

Settings and clients are made by the first invocation of an execution environment and kept for those that follow, and so
is what CloudWatch said: it is asked once a minute, however often the function is called.
"""

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tidegate.config import Settings, load
from tidegate.controller.controller import Outcome
from tidegate.entrypoints.clock import SystemClock
from tidegate.entrypoints.logs import LogSink, make_logger
from tidegate.entrypoints.recording import recording
from tidegate.entrypoints.service import tick_once
from tidegate.entrypoints.show import error_text
from tidegate.entrypoints.wiring import Wired, wire
from tidegate.errors import ConfigError, Fault, TidegateError

__all__ = ["PoolsFailed", "handler"]


class PoolsFailed(TidegateError):
    """Some pools could not be served, or only around something broken; the others were."""

    def __init__(self, failed: Sequence[Outcome], pools: int) -> None:
        told = "; ".join(f"{outcome.pool}: {text}" for outcome in failed for text in _reasons(outcome))
        super().__init__(f"{len(failed)} of {pools} pools failed: {told}")


def handler(event: object, context: object) -> dict[str, int]:
    """Decide for every pool and act; how many were served. Neither `event` nor `context` is looked at.

    Raises PoolsFailed after all pools had their tick, so that Lambda counts the invocation as an error; ConfigError
    for the settings; Invalid when there is no Region.
    """
    wired, sink = _start()
    outcomes = tick_once(wired, sink)
    failed = [outcome for outcome in outcomes if not outcome.ok]
    if failed:
        raise PoolsFailed(failed, len(outcomes))
    return {"pools": len(outcomes)}


@functools.cache
def _start() -> tuple[Wired, LogSink]:
    """Once per execution environment; a failure is not remembered, so the next invocation tries again."""
    log = make_logger("info", sys.stdout)
    loaded = load(_settings_file(), os.environ)
    for warning in loaded.warnings:
        log.warning("settings", fault=str(warning))
    sink = LogSink(log)
    wired = wire(_with_table(loaded.settings), SystemClock(), log=sys.stdout)
    return recording(wired, loaded.settings, sink.not_recorded), sink


def _settings_file() -> Path:
    """TIDEGATE_CONFIG, from where the function's code was unpacked.

    https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
    """
    return Path(os.environ.get("LAMBDA_TASK_ROOT", ".")) / os.environ.get("TIDEGATE_CONFIG", "tidegate.toml")


def _with_table(settings: Settings) -> Settings:
    """What a pool learned must outlive the execution environment, and two of them must not both act on it."""
    if settings.table is None:
        problem = "is not set, and in Lambda neither memory nor files last"
        raise ConfigError([Fault("table", None, problem, 'set table = "tidegate", a DynamoDB table')])
    return settings


def _reasons(outcome: Outcome) -> Sequence[str]:
    if outcome.error is not None:
        return [error_text(outcome.error)]
    return outcome.decision.errors if outcome.decision else ()
