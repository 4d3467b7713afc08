"""When a schedule's window holds: from each start to the next end, on the wall clock of its time zone."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from tidegate.config.values import refuse

__all__ = ["holds", "read_cron", "read_zone", "starts", "zone"]

_ANY_DAY = datetime(2024, 1, 1, tzinfo=UTC)
"""A fixed day to test expressions from, so that validation never depends on the day it runs."""

_FOLD = timedelta(hours=2)
"""Longer than any hour that clocks have been put back by."""


def zone(name: str) -> tzinfo:
    """The time zone, from the system's database or, where there is none (slim images), from the package tzdata.

    Raises `refuse` for a name that the database does not have.
    """
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise refuse("is no time zone known here", 'write an IANA name such as "Europe/Berlin" or "UTC"') from None


def read_zone(name: str) -> str:
    """The name itself when it is a known time zone; else `refuse`."""
    zone(name)
    return name


def read_cron(expression: str) -> str:
    """The expression itself when it has five fields and ever fires; else `refuse`."""
    fix = 'write the five fields minute, hour, day, month, weekday, such as "0 8 * * MON-FRI"'
    if len(expression.split()) != 5:
        raise refuse("is no cron expression of five fields", fix)
    try:
        fires = next(CronSim(expression, _ANY_DAY), None)
    except CronSimError as error:
        detail = str(error).removeprefix("Bad ")
        raise refuse(f"is no cron expression that ever fires (look at its {detail})", fix) from None
    if fires is None:
        raise refuse("never fires", fix)
    return expression


def holds(start: str, end: str, timezone: str, now_s: float) -> bool:
    """Whether a window that opens at `start` and closes at `end` is open at `now_s` (seconds since the epoch).

    It is open at the instant of a start and closed at the instant of an end. Where clocks jump over a start or an end
    it comes as soon as they have jumped; where an hour is repeated it comes the first time.
    """
    place = zone(timezone)
    opened = _latest(start, place, now_s)
    closed = _latest(end, place, now_s)
    return opened is not None and (closed is None or opened >= closed)


def starts(start: str, timezone: str, count: int) -> Iterator[float]:
    """The first `count` starts from a fixed day on, in seconds since the epoch, each reckoned when it is asked for."""
    return (at.timestamp() for at in islice(CronSim(start, _ANY_DAY.astimezone(zone(timezone))), count))


def _latest(expression: str, place: tzinfo, now_s: float) -> float | None:
    """The latest time at or before now that the expression fires; None when it never did."""
    now = datetime.fromtimestamp(int(now_s), place)
    # Going back, cronsim reads the wall clock, which in a repeated hour can't tell the first pass from the second:
    # so begin after that hour, and leave out what is still to come.
    begin = now + timedelta(seconds=1) if now.fold == 0 else (now.astimezone(UTC) + _FOLD).astimezone(place)
    for fired in CronSim(expression, begin, reverse=True):
        if fired.timestamp() <= now_s:
            return fired.timestamp()
    return None
