"""The kinds of value that settings hold. Each reads what people write and says in plain words what it takes.

Every kind takes the text that an environment variable holds as well as the type that TOML has for it.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from tidegate.core.notation.durations import format_duration, parse_duration

__all__ = [
    "DURATION_PATTERN",
    "LONGEST_S",
    "Amount",
    "Chance",
    "Count",
    "Duration",
    "Durations",
    "Flag",
    "Kind",
    "NotEmpty",
    "Percent",
    "Refused",
    "Text",
    "Then",
    "refuse",
]

LONGEST_S = 14 * 86_400.0
"""No duration is longer than SQS can keep a message (14 days).

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
"""

DURATION_PATTERN = r"^(\d+(\.\d+)?|(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+)$"
"""What `parse_duration` takes as text, for editors (they can't run it)."""

_MOST_WORKERS = 100_000


class Refused(ValueError):
    """A value that a kind does not take, and what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(f"{problem}; {fix}")
        self.problem, self.fix = problem, fix


def refuse(problem: str, fix: str) -> Refused:
    """The error that a kind raises; `reading` turns it into a fault with these words."""
    return Refused(problem, fix)


class Kind(ABC):
    """Reads a value in its own words, and says in JSON Schema what editors check."""

    @abstractmethod
    def read(self, value: object) -> Any:
        """The value inside. Raises Refused."""

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """What editors check with."""

    def written(self, value: Any) -> Any:
        """The value inside as people write it."""
        return value


@dataclass(frozen=True)
class Then:
    """After its kind has read a value: `read` says whether it is one that is meant. Raises Refused."""

    read: Callable[[str], str]


@dataclass(frozen=True)
class NotEmpty:
    """On a list or a table of values: at least one."""


@dataclass(frozen=True)
class Duration(Kind):
    """Seconds inside, whatever was written."""

    at_least_s: float
    at_most_s: float = LONGEST_S

    def read(self, value: object) -> float:
        accepted = 'write seconds as a number (90) or a number with its unit: "250ms", "90s", "5m", "1h30m", "2d"'
        try:
            seconds = parse_duration(value)
        except ValueError as error:
            problem, _, _ = str(error).partition(";")
            raise refuse(f"is {problem}", accepted) from None
        if not self.at_least_s <= seconds <= self.at_most_s:
            low, high = format_duration(self.at_least_s), format_duration(self.at_most_s)
            too = "short" if seconds < self.at_least_s else "long"
            raise refuse(f"is too {too}", f'write a duration from "{low}" to "{high}"')
        return seconds

    def json_schema(self) -> dict[str, Any]:
        number = {"maximum": self.at_most_s, "minimum": self.at_least_s, "type": "number"}
        return {"oneOf": [{"pattern": DURATION_PATTERN, "type": "string"}, number]}

    def written(self, value: Any) -> Any:
        return None if value is None else format_duration(value)


@dataclass(frozen=True)
class Durations(Kind):
    """A table of durations under names of one's own."""

    at_least_s: float
    at_most: int

    def read(self, value: object) -> Mapping[str, float]:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) and name for name in value):
            raise refuse("is not a table", 'write names and durations, such as { mail = "500ms", export = "10m" }')
        if len(value) > self.at_most:
            raise refuse("has too many entries", f"name {self.at_most} at most")
        return {str(name): self._read_one(str(name), text) for name, text in value.items()}

    def _read_one(self, name: str, text: object) -> float:
        try:
            return Duration(self.at_least_s).read(text)
        except Refused as refused:
            raise refuse(f"has for {name} what {refused.problem}", refused.fix) from None

    def json_schema(self) -> dict[str, Any]:
        return {
            "additionalProperties": Duration(self.at_least_s).json_schema(),
            "maxProperties": self.at_most,
            "type": "object",
        }


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    def read(self, value: object) -> bool:
        word = value.strip().lower() if isinstance(value, str) else value
        if word in ("true", "false"):
            return word == "true"
        if not isinstance(word, bool):
            raise refuse("is neither true nor false", "write true or false, without quotes")
        return word

    def json_schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Count(Kind):
    """A whole number."""

    at_least: int
    at_most: int = _MOST_WORKERS

    def read(self, value: object) -> int:
        fix = f"write a whole number from {self.at_least} to {self.at_most}"
        if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise refuse("is not a whole number", fix)
        if not self.at_least <= value <= self.at_most:
            raise refuse(f"is too {'small' if value < self.at_least else 'large'}", fix)
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"maximum": self.at_most, "minimum": self.at_least, "type": "integer"}


@dataclass(frozen=True)
class Amount(Kind):
    """A number, whole or not."""

    at_least: float
    at_most: float

    def read(self, value: object) -> float:
        fix = f"write a number from {self.at_least:g} to {self.at_most:g}"
        number = _number(value)
        if number is None:
            raise refuse("is not a number", fix)
        if not self.at_least <= number <= self.at_most:
            raise refuse(f"is too {'small' if number < self.at_least else 'large'}", fix)
        return number

    def json_schema(self) -> dict[str, Any]:
        return {"maximum": self.at_most, "minimum": self.at_least, "type": "number"}


@dataclass(frozen=True)
class _Percent(Kind):
    """A share, written in percent, kept in percent."""

    def read(self, value: object) -> float:
        fix = "write a number of percent from 0 to 10000, without the % sign"
        percent = _number(value)
        if percent is None:
            raise refuse("is not a number", fix)
        if not 0 <= percent <= 10_000:
            raise refuse(f"is too {'small' if percent < 0 else 'large'}", fix)
        return percent

    def json_schema(self) -> dict[str, Any]:
        return {"maximum": 10_000, "minimum": 0, "type": "number"}


@dataclass(frozen=True)
class _Chance(Kind):
    """A share above 0 and up to 1, or the word "auto", kept as None."""

    def read(self, value: object) -> float | None:
        fix = 'write "auto", or a share above 0 and up to 1, such as 0.7'
        if value is None or (isinstance(value, str) and value.strip().lower() == "auto"):
            return None
        share = _number(value)
        if share is None:
            raise refuse('is neither "auto" nor a number', fix)
        if not 0 < share <= 1:
            raise refuse("is out of range", fix)
        return share

    def json_schema(self) -> dict[str, Any]:
        return {"oneOf": [{"const": "auto"}, {"exclusiveMinimum": 0, "maximum": 1, "type": "number"}]}

    def written(self, value: Any) -> Any:
        return "auto" if value is None else value


@dataclass(frozen=True)
class _Text(Kind):
    """One line, without the blanks around it."""

    at_most: int

    def read(self, value: object) -> str:
        fix = f"write a text in quotes, of 1 to {self.at_most} characters"
        if not isinstance(value, str):
            raise refuse("is not a text", fix)
        text = value.strip()
        if not text or len(text) > self.at_most or not text.isprintable():
            problem = (
                "is empty" if not text else "is too long" if len(text) > self.at_most else "has control characters"
            )
            raise refuse(problem, fix)
        return text

    def json_schema(self) -> dict[str, Any]:
        return {"maxLength": self.at_most, "minLength": 1, "type": "string"}


_WRITTEN = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?\s*", re.ASCII | re.IGNORECASE)


def _number(value: object) -> float | None:
    """The value as a finite number, or None. A bool is no number here, nor "0_1" or "١", though Python thinks so."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _WRITTEN.fullmatch(value):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


Percent = Annotated[float, _Percent()]
Chance = Annotated[float | None, _Chance()]
Text = Annotated[str, _Text(at_most=1024)]
