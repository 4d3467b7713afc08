"""How a worker's slots are written: a number, or `auto(…)`, the rule by which they follow the work."""

import re
from collections.abc import Iterator
from typing import Any, Final

from tidegate.core.notation.durations import parse_duration
from tidegate.core.workers.auto_slots import AutoSlots
from tidegate.errors import ConfigError, Fault

__all__ = ["auto", "read_slots"]

_RULE: Final = re.compile(r"auto\b\s*(.*)", re.ASCII | re.DOTALL)
_WHOLE: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_EXAMPLE: Final = "auto(min=2, max=32, target_wait=50ms)"
_LIMITS: Final = ("min", "max", "target_wait")
_STAND_INS: Final[dict[str, Any]] = {"max": 10**9, "target_wait": 1.0}
"""For what is missing, so that what is there can be checked."""


def auto(*, min: int = 1, max: int, target_wait: float | str) -> AutoSlots:  # noqa: A002  the words people would guess
    """A number of slots that follows the work: between `min` and `max`, so that nothing waits longer than the target.

    `target_wait` is in seconds (0.05) or a text ("50ms"). For `Worker(slots=…)` and `AsyncPool`. Raises ConfigError.

    >>> auto(min=2, max=32, target_wait="50ms")
    AutoSlots(least=2, most=32, target_wait_s=0.05)
    """
    faults = list(_faults_of_counts(min, max))
    try:
        target_wait_s = _some_time(target_wait)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise ConfigError([*faults, Fault("target_wait", target_wait, problem, fix)]) from error
    if faults:
        raise ConfigError(faults)
    return AutoSlots(min, max, target_wait_s)


def read_slots(value: object, most: int) -> int | AutoSlots:
    """A number of slots from 1 to `most`, or `auto(…)`, which may be written as a text. Raises ValueError.

    >>> read_slots("8", most=1000), read_slots("auto(min=2, max=32, target_wait=50ms)", most=1000)
    (8, AutoSlots(least=2, most=32, target_wait_s=0.05))
    """
    if isinstance(value, str) and (rule := _RULE.fullmatch(value.strip())):
        value = _read_rule(rule[1])
    if isinstance(value, AutoSlots):
        if value.most > most:
            raise ValueError(f"max = {value.most}: more than {most}; lower it")
        return value
    fix = f"write a whole number from 1 to {most}, or {_EXAMPLE}"
    text = str(value).strip()
    if isinstance(value, bool) or not _WHOLE.fullmatch(text):
        raise ValueError(f"no number of slots; {fix}")
    if not 1 <= int(text) <= most:
        raise ValueError(f"{'less than 1' if int(text) < 1 else f'more than {most}'}; {fix}")
    return int(text)


def _faults_of_counts(least: object, highest: object) -> Iterator[Fault]:
    counts = [count for count in (least, highest) if isinstance(count, int) and not isinstance(count, bool)]
    for name, count in (("min", least), ("max", highest)):
        if count not in counts or isinstance(count, bool):
            yield Fault(name, count, "is not a whole number", "write 1 or more")
    if len(counts) < 2:
        return
    if counts[0] < 1:
        yield Fault("min", least, "nothing would ever be done", "write 1 or more")
    if counts[1] < counts[0]:
        yield Fault("max", highest, f"less than min = {least}", "raise it, or lower min")


def _some_time(value: object) -> float:
    seconds = parse_duration(value)
    if seconds == 0:
        raise ValueError("nothing can wait for no time at all; write a time such as 50ms")
    return seconds


def _read_rule(limits: str) -> AutoSlots:
    """From what follows the word: "(min=2, max=32, target_wait=50ms)". Raises ValueError with all that is wrong."""
    if not (limits.startswith("(") and limits.endswith(")")):
        raise ValueError(f"auto has its limits in brackets; write {_EXAMPLE}")
    given, problems = _split(limits[1:-1])
    problems += [f"{name} is missing" for name in _LIMITS[1:] if name not in given]
    rule = None
    try:
        rule = auto(**{**_STAND_INS, **given})
    except ConfigError as error:
        problems += [f"{fault.setting} = {fault.value}: {fault.problem}" for fault in error.faults]
        if len(problems) == 1:
            raise ValueError(f"{problems[0]}; {error.faults[0].fix}") from error
    if problems or rule is None:
        raise ValueError(f"{', '.join(problems)}; write {_EXAMPLE}")
    return rule


def _split(text: str) -> tuple[dict[str, Any], list[str]]:
    """The limits by name, whole numbers as such; and what can't be read."""
    given: dict[str, Any] = {}
    problems = []
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, number = (each.strip() for each in part.partition("="))
        number = number.strip("\"'")
        if not equals or not number:
            problems.append(f"{part} is no name=value")
        elif name not in _LIMITS:
            problems.append(f"there is no {name}")
        elif name in given:
            problems.append(f"{name} stands there twice")
        else:
            given[name] = int(number) if name != "target_wait" and _WHOLE.fullmatch(number) else number
    return given, problems
