"""The kinds of values that a worker's settings have, each with what is wrong with it in the words of its fault."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator

from tidegate.core.notation.durations import parse_duration
from tidegate.core.notation.local_path import not_local
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.worker.settings.shares import parse_shares, written

__all__ = [
    "LONGEST_POLL_S",
    "MOST_AT_ONCE",
    "MOST_FLEET_SLOTS",
    "MOST_RETRIES",
    "MOST_SLOTS",
    "ClassNumbers",
    "Duration",
    "LeaseDuration",
    "LocalPath",
    "LongPoll",
    "PositiveDuration",
    "Shares",
]

LONGEST_POLL_S: Final = 20
MOST_SLOTS: Final = 1_000
MOST_FLEET_SLOTS: Final = 1_000_000
MOST_RETRIES: Final = 1_000.0
MOST_AT_ONCE: Final = 10

_LONGEST_S: Final = 14 * 86_400.0
"""No time is longer than SQS can keep a message (14 days).

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
"""


def _time(value: object) -> float:
    seconds = parse_duration(value)
    if seconds > _LONGEST_S:
        raise ValueError("longer than SQS keeps a message; write a time up to 14d")
    return seconds


def _positive(seconds: float) -> float:
    if seconds == 0:
        raise ValueError("not more than nothing; write a time such as 10s")
    return seconds


def _long_poll(seconds: float) -> float:
    if not _whole(seconds, 1, LONGEST_POLL_S):
        problem = "no long poll (one of 0 s would ask hundreds of times a second, and each is billed)"
        raise ValueError(f"{problem}; write whole seconds from 1 to {LONGEST_POLL_S}")
    return seconds


def _lease(seconds: float) -> float:
    if not _whole(seconds, 1, LONGEST_LEASE_S):
        fix = "write whole seconds from 1 s to 12h, or leave it out to use the queue's own"
        raise ValueError(f"no lease that can be kept alive; {fix}")
    return seconds


def _whole(value: float, least: int, most: int) -> bool:
    return least <= value <= most and value == int(value)


def _local(value: object) -> object:
    if isinstance(value, str | Path) and (wrong := not_local(str(value))):
        raise ValueError(wrong)
    return value


def _shares(text: str) -> str:
    if not parse_shares(text):
        raise ValueError("names nothing; write a name")
    return text


def _class_numbers(text: str) -> str:
    for name, number in parse_shares(text).items():
        if number != int(number):
            raise ValueError(f"{name} can't have {number:g} slots; write whole numbers, such as bulk=2, mail=1")
        if number > MOST_FLEET_SLOTS:
            raise ValueError(f"{name} has more than {MOST_FLEET_SLOTS} slots; write fewer, or leave it out")
    return text


Shares = Annotated[str, BeforeValidator(written), AfterValidator(_shares)]
"""Names with their shares: "orders=3, mail=1"."""
ClassNumbers = Annotated[str, BeforeValidator(written), AfterValidator(_class_numbers)]
"""Job classes with whole numbers of slots: "bulk=2, mail=1"; empty: none."""
LocalPath = Annotated[Path, BeforeValidator(_local)]
Duration = Annotated[float, BeforeValidator(_time)]
"""Seconds: 90, "90s", "5m"."""
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
LongPoll = Annotated[Duration, AfterValidator(_long_poll)]
LeaseDuration = Annotated[Duration, AfterValidator(_lease)]
