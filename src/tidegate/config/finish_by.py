"""The time of day by which a bulk pool is to be empty: "06:00 Europe/Berlin", on the wall clock there."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from tidegate.config.schedule import zone
from tidegate.config.values import refuse

__all__ = ["read_finish_by", "seconds_left"]

_TEXT: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?:\s+(\S+))?", re.ASCII)
_FIX: Final = 'write the time, and its time zone unless that is UTC, such as "06:00 Europe/Berlin"'
_MINUTE: Final = timedelta(minutes=1)


def read_finish_by(text: str) -> str:
    """The text itself when it is a time of day; else `refuse`."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise refuse("is no time of day", _FIX)
    zone(match[3] or "UTC")
    return text


def seconds_left(text: str, now_s: float) -> float:
    """From `now_s` (seconds since the epoch) to the next time that it is this time there, above 0.

    At that very time it is the next day's. Where clocks jump over it, it comes as soon as they have jumped; in an hour
    that is repeated it comes the first time.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise refuse("is no time of day", _FIX)
    place = zone(match[3] or "UTC")
    today = datetime.fromtimestamp(now_s, place)
    days = (today + timedelta(days=ahead) for ahead in range(3))
    times = (_instant_s(day, int(match[1]), int(match[2]), place) for day in days)
    return next(at_s for at_s in times if at_s > now_s) - now_s


def _instant_s(day: datetime, hour: int, minute: int, place: tzinfo) -> float:
    first = datetime(day.year, day.month, day.day, hour, minute, tzinfo=place)
    there = first.astimezone(UTC).astimezone(place)
    if there.replace(tzinfo=None) == first.replace(tzinfo=None):
        return first.timestamp()
    while (before := (there.astimezone(UTC) - _MINUTE).astimezone(place)).utcoffset() == there.utcoffset():
        there = before
    return there.timestamp()
