"""Durations as people write them: 90, "90s", "5m", "1h30m", "250ms". Seconds inside, always."""

import math
import re

__all__ = ["format_duration", "parse_duration"]

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*", re.ASCII)
_PARTS = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)
_PLAIN = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_ENDLESS = 1e300
_HOW = 'write seconds as a number (90) or a number with a unit: "250ms", "90s", "5m", "1h30m", "2d"'


def parse_duration(value: object) -> float:
    """Seconds of a number, or of a text such as "90", "90s", "1h30m"; zero or more.

    Raises ValueError for anything else: "PROBLEM; what to write", where the problem is that it is not a duration (a
    bool, an unknown unit, an empty text), negative, or endless.

    >>> parse_duration(90), parse_duration("90s"), parse_duration("1h30m"), parse_duration("250ms")
    (90.0, 90.0, 5400.0, 0.25)
    """
    if isinstance(value, str):
        seconds = _parse_text(value.strip().lower())
    elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError(f"not a duration; {_HOW}")
    else:
        larger_than_any_float = math.inf if value > 0 else -math.inf  # as an int may be
        seconds = float(value) if abs(value) < _ENDLESS else larger_than_any_float
    if seconds < 0:
        raise ValueError(f"negative; {_HOW}")
    if math.isinf(seconds):
        raise ValueError(f"endless; {_HOW}")
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest text that `parse_duration` reads back as the same duration, to the millisecond.

    >>> format_duration(90), format_duration(5400), format_duration(0.25), format_duration(0), format_duration(1.5)
    ('1m30s', '1h30m', '250ms', '0s', '1s500ms')
    """
    left = round(seconds * 1000)
    parts = []
    for unit, size_ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)):
        count, left = divmod(left, size_ms)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _parse_text(text: str) -> float:
    sign, text = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    if _PLAIN.fullmatch(text):
        return sign * float(text)
    if not _PARTS.fullmatch(text):
        raise ValueError(f"not a duration; {_HOW}")
    return sign * math.fsum(float(count) * _UNITS_S[unit] for count, unit in _PART.findall(text))
