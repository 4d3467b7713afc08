"""A log record as people read it on a terminal: in colours, the sentence first, the steps left out."""

import logging
from collections.abc import MutableMapping
from typing import Any

import structlog

from tidegate.entrypoints.json_lines import fields_of

__all__ = ["terminal_lines"]


def terminal_lines() -> logging.Formatter:
    """The formatter for a terminal."""
    # The default formatter of exceptions shows local variables, and a local variable can be a message body or a key.
    plain = structlog.dev.plain_traceback
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            _with_fields,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _sentence_first,
            structlog.dev.ConsoleRenderer(exception_formatter=plain, sort_keys=False),
        ],
    )


def _with_fields(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event.update(fields_of(event["_record"]))
    return event


def _sentence_first(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event.pop("steps", None)
    event.pop("health", None)
    if "sentence" in event:
        event["event"] = f"{event.pop('pool')}: {event.pop('sentence')}"
    return event
