"""One thing found in the settings, before it is told whether the file or a variable is to blame."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, time

from tidegate.errors import Fault

__all__ = ["ABSENT", "HIDDEN", "At", "Finding", "Places", "Words", "shown"]

At = tuple[str | int, ...]
"""Where a setting is: ("pools", "orders", "schedule", 0, "start")."""

_LONGEST = 100
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Words:
    """Stands where a fault shows a value, when there is none or it is better not shown."""

    text: str

    def __repr__(self) -> str:
        return f"({self.text})"


ABSENT = Words("not set")
HIDDEN = Words("value not shown")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault or a warning.

    `among` are the other settings that a fault rests on: if one of those is wrong itself, it means nothing. A warning
    needs none: warnings are only shown where there is no fault.
    """

    at: At
    value: object
    problem: str
    fix: str
    among: tuple[At, ...] = ()
    warning: bool = False

    def rests_on(self, faulty: "Places") -> bool:
        """Whether one of the faulty settings is what this finding is about."""
        return any(faulty.touch(mine) for mine in (self.at, *self.among))

    def fault(self, origins: Mapping[At, str]) -> Fault:
        """For people: named by the environment variable where the value came from one."""
        return Fault(_label(self.at, origins), shown(self.value), self.problem, self.fix)


class Places:
    """Many settings, asked about without going through them one by one."""

    def __init__(self, places: Iterable[At]) -> None:
        self._places = frozenset(places)
        self._around = frozenset(at[:length] for at in self._places for length in range(len(at) + 1))

    def touch(self, at: At) -> bool:
        """Whether one of them is this setting, lies in it, or holds it."""
        return at in self._around or any(at[:length] in self._places for length in range(len(at)))


def shown(value: object) -> object:
    """The value as a fault may show it: no credentials in URLs, nothing long, nothing of what tables and lists hold."""
    if value is None:
        return ABSENT
    if isinstance(value, Mapping):
        return Words("a table")
    if isinstance(value, list | tuple):
        return Words("a list")
    if isinstance(value, date | time):
        return Words(f"the date or time {value.isoformat()}")
    if isinstance(value, int) and abs(value) > 10**18:
        return Words("a number beyond 10^18")
    if isinstance(value, str):
        text = _CREDENTIALS.sub("…@", value)
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return value


def _label(at: At, origins: Mapping[At, str]) -> str:
    for length in range(len(at), 0, -1):
        if (variable := origins.get(at[:length])) is not None:
            return variable + _path(at[length:], first=False)
    return _path(at, first=True)


def _path(at: At, *, first: bool) -> str:
    text = ""
    for part in at:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("" if first and not text else ".") + (part if _BARE.fullmatch(part) else shorten(part))
    return text


def shorten(key: str) -> str:
    """A key that TOML must quote, quoted, on one line."""
    return repr(key if len(key) <= _LONGEST else key[:_LONGEST] + "…")
