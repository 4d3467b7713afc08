"""Parts of the scoreboard on disk, each under a digest of all that it follows from: cell, trace, windows and code."""

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from tidegate.lab.parts import Part, Task
from tidegate.lab.rivals import RIVALS
from tidegate.lab.traces import SYNTHETIC
from tidegate.lab.tune import Score

__all__ = ["PartCache", "part_from", "part_json"]

SHOWING = (
    "backtest*.py",
    "cache.py",
    "command*.py",
    "headline.py",
    "report*.py",
    "scoreboard.py",
    "standings.py",
    "history*.py",
    "subject.py",
    "bootstrap.py",
    "stress.py",
)
"""Modules of the lab that only show or collect what others worked out."""

_WITHOUT_CORE = {rival.key for rival in RIVALS if not rival.uses_core} | {"perfect_sight", "clairvoyant", "bound"}


class PartCache:
    """One file per part. A file that can't be read is as good as none: it is worked out again."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def get(self, task: Task) -> Part | None:
        """The part, unless it was never worked out or something that it follows from has changed."""
        try:
            return part_from(json.loads(self._file(task).read_text()))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put(self, task: Task, part: Part) -> None:
        """What can't be kept (a full disk) is worked out again next time; the run goes on."""
        with suppress(OSError):
            self._file(task).write_text(json.dumps(part_json(part)))

    def _file(self, task: Task) -> Path:
        told = (asdict(task), _trace_digest(task.cell.trace), _code_digest(task.key not in _WITHOUT_CORE))
        return self._directory / f"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}.json"


def part_json(part: Part) -> dict[str, object]:
    """Plain values for JSON."""
    return asdict(part)


def part_from(data: dict[str, object]) -> Part:
    """What `part_json` made. Raises TypeError or KeyError for anything else."""
    scores = {key: None if data[key] is None else Score(**data[key]) for key in ("default", "tuned")}  # type: ignore[arg-type]  # TypeError is what a stranger's data gets
    bound = data["bound"]
    return Part(scores["default"], scores["tuned"], bound if isinstance(bound, float) else None)


@cache
def _trace_digest(trace: str) -> str:
    return trace if trace in SYNTHETIC else hashlib.sha256(Path(trace).read_bytes()).hexdigest()


@cache
def _code_digest(with_core: bool) -> str:
    package = Path(__file__).parent.parent
    files = set((package / "lab").rglob("*.py"))
    for pattern in SHOWING:
        files -= set((package / "lab").glob(pattern))
    if with_core:
        files |= set((package / "core").rglob("*.py"))
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file.relative_to(package)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
