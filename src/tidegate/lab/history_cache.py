"""CloudWatch's answers on disk: the same question within a day asks nothing."""

import hashlib
from contextlib import suppress
from pathlib import Path

from tidegate.core.stored.codec import from_json, to_json
from tidegate.errors import StateUnreadable
from tidegate.lab.history import History

__all__ = ["GOOD_FOR_S", "HistoryCache"]

GOOD_FOR_S = 86_400.0


class HistoryCache:
    """One file per question. `account` tells apart what has the same queue names: profile, Region, endpoint."""

    def __init__(self, directory: Path, account: str) -> None:
        self._directory, self._account = directory, account

    def file(self, queues: tuple[str, ...], days: int) -> Path:
        """Where this question's answer is kept."""
        digest = hashlib.sha256(repr((self._account, queues, days)).encode()).hexdigest()[:16]
        return self._directory / f"history-{days}d-{digest}.json"

    def get(self, queues: tuple[str, ...], days: int, now_s: float) -> History | None:
        """The answer, if it was asked for within the last day; a damaged file is as good as none."""
        try:
            history = from_json(History, self.file(queues, days).read_text(encoding="utf-8"))
        except (OSError, StateUnreadable, UnicodeDecodeError):
            return None
        return history if 0 <= now_s - history.asked_at_s <= GOOD_FOR_S else None

    def put(self, history: History, days: int) -> bool:
        """False when it can't be kept, which costs the next run a few calls and nothing else."""
        file = self.file(history.queues, days)
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(to_json(history), encoding="utf-8")
            return True
        return False
