"""A log record as a line of JSON: its fields first, then what happened, how bad it is, and when."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime

__all__ = ["Event", "JsonLines", "fields_of"]


class Event(logging.LogRecord):
    """A record of our own: what happened in a word or two, and the fields that say more."""

    def __init__(self, level: int, event: str, fields: Mapping[str, object], error: BaseException | None) -> None:
        told = None if error is None else (type(error), error, error.__traceback__)
        super().__init__("tidegate", level, __file__, 0, event, None, told)
        self.tidegate_fields = fields


def fields_of(record: logging.LogRecord) -> Mapping[str, object]:
    """The fields of an `Event`; of any other record, which logger it came from."""
    fields: Mapping[str, object] = getattr(record, "tidegate_fields", {"logger": record.name})
    return fields  # not by the record's class, which copies of it don't have


class JsonLines(logging.Formatter):
    """An exception is its traceback, without the values of variables: one of them can be a message body or a key."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            **fields_of(record),
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)
