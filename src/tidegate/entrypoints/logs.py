"""Logs: one line per decision, for people on a terminal and as JSON lines everywhere else. Never a message body."""

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TextIO

from tidegate.core.condition import Condition
from tidegate.core.decision import Decision, Scalar
from tidegate.entrypoints.json_lines import Event, JsonLines
from tidegate.entrypoints.show import condition_text, error_text
from tidegate.entrypoints.streams import Lossy
from tidegate.errors import ConfigError, Fault, TidegateError

__all__ = ["LEVELS", "Log", "LogSink", "make_logger"]

LEVELS = ("debug", "info", "warning", "error")

_TALKATIVE = ("aiobotocore", "aiohttp", "asyncio", "boto3", "botocore", "urllib3")
"""Kept at warnings whatever the level: their debug lines hold whole requests, with message bodies and signatures."""

_KEY_VALUES = ("waiting", "in_flight", "busy_slots", "head_age_s", "arrivals_per_s", "service_time_s", "start_up_s")
"""Of all the steps' values, those that a decision can be checked by in the head."""


class Log:
    """Tells events through a handler: a word or two for what happened, and fields that say more.

    `failure` is an exception that nobody expected: its traceback is told.
    """

    def __init__(self, handler: logging.Handler) -> None:
        self._handler = handler

    def info(self, event: str, /, **fields: object) -> None:
        """Nothing to do about it."""
        self._tell(logging.INFO, event, fields)

    def warning(self, event: str, failure: Exception | None = None, /, **fields: object) -> None:
        """Worth a look."""
        self._tell(logging.WARNING, event, fields, failure)

    def error(self, event: str, failure: Exception | None = None, /, **fields: object) -> None:
        """Something is broken."""
        self._tell(logging.ERROR, event, fields, failure)

    def _tell(self, level: int, event: str, fields: Mapping[str, object], failure: Exception | None = None) -> None:
        # Not through the loggers of `logging`: Lambda has a handler at their root, which would say it all again.
        if level >= self._handler.level:
            self._handler.handle(Event(level, event, fields, failure))


def make_logger(level: str, stream: TextIO) -> Log:
    """A log that writes to `stream` from `level` (one of LEVELS) up; whatever uses `logging` goes there too.

    A line that can't be written is lost, and that is all: what runs is worth more than its log.

    Raises ConfigError for another level.
    """
    if level not in LEVELS:
        raise ConfigError([Fault("--log-level", level, "no such level", f"write one of {', '.join(LEVELS)}")])
    lossy = Lossy(stream)
    handler = _Handler(lossy)
    handler.setLevel(level.upper())
    handler.setFormatter(_for_people() if lossy.isatty() else JsonLines())
    _route_logging(handler)
    return Log(handler)


class _Handler(logging.StreamHandler[Lossy]):
    """Ours, so that a second call replaces it and leaves the handlers of others alone."""


def _route_logging(handler: _Handler) -> None:
    root = logging.getLogger()
    for earlier in [known for known in root.handlers if isinstance(known, _Handler)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(handler.level)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _for_people() -> logging.Formatter:
    from tidegate.entrypoints.terminal_lines import terminal_lines  # a Lambda has no terminal, and starts without this

    return terminal_lines()


class LogSink:
    """The controller's event sink: a log line for each decision and each failure, with failures in a row counted."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._failures: Counter[str] = Counter()
        self._counting = threading.Lock()

    def not_ready(self, line: str) -> None:
        """Before the first tick: something that a pool needs is not there."""
        self._log.error("not_ready", fault=line)

    def doubtful(self, line: str) -> None:
        """Before the first tick: something does not fit the settings."""
        self._log.warning("doubtful", fault=line)

    def not_recorded(self, line: str) -> None:
        """Decisions can't be recorded, or can again."""
        self._log.warning("recording", said=line)

    def not_beating(self, line: str) -> None:
        """The health file can't be written, or can again."""
        self._log.warning("health_file", said=line)

    def decided(self, decision: Decision, wrote: bool) -> None:
        """At error level when the decision had to be made around something broken, else at info."""
        with self._counting:
            self._failures[decision.pool] = 0
        values = {name: value for step in decision.steps for name, value in step.values.items()}
        fields: dict[str, object] = {
            "pool": decision.pool,
            "desired": decision.desired,
            "current": decision.current,
            "action": str(decision.action),
            "reason": str(decision.reason),
            "wrote": wrote,
            "sentence": decision.sentence,
            **_key_values(values),
            "health": asdict(decision.health),
            "steps": [{"step": step.name, **step.values, "note": step.note} for step in decision.steps],
        }
        if decision.errors:
            self._log.error("decision", **fields, errors=list(decision.errors))
        else:
            self._log.info("decision", **fields)

    def changed_state(self, decision: Decision, was: Condition) -> None:
        """At warning level when the pool is late and may have no more workers; at info when that is over."""
        told = self._log.info if decision.state is Condition.NORMAL else self._log.warning
        told(
            "state", pool=decision.pool, state=str(decision.state), was=str(was), meaning=condition_text(decision.state)
        )

    def failed(self, pool: str, error: Exception) -> None:
        """A traceback only for what tidegate did not raise on purpose."""
        with self._counting:
            self._failures[pool] += 1
            in_a_row = self._failures[pool]
        unexpected = None if isinstance(error, TidegateError) else error
        self._log.error(
            "tick_failed",
            unexpected,
            pool=pool,
            kind=type(error).__name__,
            error=error_text(error),
            in_a_row=in_a_row,
        )

    def metrics_failed(self, troubles: Sequence[str]) -> None:
        """At warning level: no pool has failed."""
        self._log.warning("metrics_failed", troubles=list(troubles), effect="counts and reports alone, once these age")

    def not_published(self, error: Exception) -> None:
        """At warning level: the pools are served, but alarms and dashboards miss a minute."""
        unexpected = None if isinstance(error, TidegateError) else error
        self._log.warning("metrics_not_published", unexpected, error=error_text(error))

    def overran(self, pool: str | None, missed: int) -> None:
        """The tick took longer than its interval."""
        self._log.warning("tick_missed", pool=pool or "(all)", missed=missed, fix="raise `tick` if this lasts")


def _key_values(values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {name: values[name] for name in _KEY_VALUES if values.get(name) is not None}
