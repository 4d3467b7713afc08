"""Traces of traffic as CSV files: `t_s,count`, one line per bin."""

import csv
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tidegate.core.notation.local_path import no_file
from tidegate.errors import ConfigError, Fault

__all__ = ["Bin", "load_trace"]


_MOST: Final = 1e15
"""Arrivals in a bin: beyond what any queue takes, and exact as a float."""


@dataclass(frozen=True, slots=True)
class Bin:
    """`count` messages between `begin_s` and `end_s`, seconds from the start."""

    begin_s: float
    end_s: float
    count: int


def load_trace(path: Path, speed: float = 1.0) -> list[Bin]:
    """A CSV file `t_s,count` (left edge of each bin in seconds, arrivals in it), its time axis divided by `speed`.

    Raises ConfigError naming the file, the line and what is expected there.
    """
    try:
        if wrong := no_file(str(path), path.stat().st_mode):
            raise _fault(path, f"can't be read ({wrong})")
        with path.open(newline="", encoding="utf-8-sig") as lines:
            rows = list(csv.reader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise _fault(path, f"can't be read ({reason})") from error
    if not rows or [cell.strip() for cell in rows[0]] != ["t_s", "count"]:
        raise _fault(path, "line 1 is not the header t_s,count")
    points = [_point(path, number, row) for number, row in enumerate(rows[1:], start=2) if row]
    if len(points) < 2:
        raise _fault(path, "there are fewer than two bins")
    edges = [t_s for t_s, _ in points]
    if any(later <= earlier for earlier, later in pairwise(edges)):
        raise _fault(path, "t_s does not rise from line to line")
    edges.append(2 * edges[-1] - edges[-2])
    begin_s = edges[0]
    return [
        Bin((left - begin_s) / speed, (right - begin_s) / speed, count)
        for (_, count), left, right in zip(points, edges, edges[1:], strict=False)
    ]


def _point(path: Path, number: int, row: list[str]) -> tuple[float, int]:
    try:
        at, count = row
        t_s, arrivals = float(at), float(count)
    except ValueError as error:
        raise _fault(path, f"line {number} is not two numbers ({','.join(row)[:60]})") from error
    if not math.isfinite(t_s) or not 0 <= arrivals <= _MOST:
        raise _fault(path, f"line {number} is out of range ({','.join(row)[:60]})")
    return t_s, round(arrivals)


def _fault(path: Path, problem: str) -> ConfigError:
    fix = "write a CSV file with the header t_s,count and one line per bin: its start in seconds and its arrivals"
    return ConfigError([Fault("--trace", str(path), problem, fix)])
