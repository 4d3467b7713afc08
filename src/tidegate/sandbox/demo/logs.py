"""What the controller and the workers wrote to their logs: decisions, and everything that went wrong."""

import json
from collections import deque
from pathlib import Path
from typing import Any

__all__ = ["DecisionLog", "errors_in", "last_words"]

_LAST_WORDS = 300


class DecisionLog:
    """Follows the controller's log of JSON lines. `recent` holds the latest decisions, newest last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self.decisions = self.scale_outs = self.scale_ins = 0
        self.recent: deque[dict[str, Any]] = deque(maxlen=50)

    def read(self) -> list[dict[str, Any]]:
        """The decisions written since the last call."""
        fresh = [entry for entry in self._lines() if entry.get("event") == "decision"]
        self.decisions += len(fresh)
        self.scale_outs += sum(entry["action"] == "out" and entry["wrote"] for entry in fresh)
        self.scale_ins += sum(entry["action"] == "in" and entry["wrote"] for entry in fresh)
        self.recent.extend(fresh)
        return fresh

    def _lines(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [entry for entry in map(_entry, whole.decode(errors="replace").splitlines()) if entry is not None]


def errors_in(paths: list[Path]) -> list[str]:
    """Each line at level error, and each traceback, with its file's name. Bad exits are told by the agent."""
    found = []
    for path in paths:
        for line in path.read_text(errors="replace").splitlines():
            entry = _entry(line)
            if line.startswith("Traceback") or (entry or {}).get("level") in ("error", "critical"):
                found.append(f"{path.stem}: {line.strip()}")
    return found


def last_words(path: Path) -> str:
    """What a program said last, short enough for one line: of a log line its error, fault or event."""
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    if not lines:
        return "it wrote nothing"
    entry = _entry(lines[-1]) or {}
    said = next((entry[key] for key in ("error", "fault", "event") if entry.get(key)), lines[-1])
    return str(said)[:_LAST_WORDS]


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
