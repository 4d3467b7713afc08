"""What became of every message: the endpoint's account and the workers' journals, held against each other."""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.errors import TidegateError

__all__ = ["Ledger", "MessageCounts", "Messages", "Run", "read_journals", "reckon"]


@dataclass(slots=True)
class Run:
    """One run of a handler; `ended_at_s` None: it never returned."""

    message_id: str
    pid: int
    started_at_s: float
    ended_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """What became of the messages. Waits run from the send to the first start of a handler; late is over the target.

    `lost`: accepted by the endpoint and never deleted (or deleted without a finished handler). `interrupted`: handlers
    that started and did not end though nobody killed their worker with -9; `killed` are those whose worker was killed.
    """

    sent: int
    completed: int
    lost: int
    duplicates: int
    interrupted: int
    killed: int
    late_share: float
    wait_p50_s: float | None
    wait_p99_s: float | None


@dataclass(frozen=True, slots=True)
class Messages(MessageCounts):
    """With the lost by name."""

    lost_ids: tuple[str, ...] = field(default=(), repr=False)


class Ledger:
    """The endpoint's observer for one queue. Written to on the endpoint's thread, read from any."""

    def __init__(self, queue: str) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._sent_at_s: dict[str, float] = {}
        self._deleted: set[str] = set()

    def sent(self, queue: str, message_id: str, at_s: float) -> None:
        if queue == self._queue:
            with self._lock:
                self._sent_at_s[message_id] = at_s

    def received(self, queue: str, message_id: str, receive_count: int, at_s: float) -> None:
        """Receives are no evidence of work: the journals are."""

    def deleted(self, queue: str, message_id: str, at_s: float) -> None:
        if queue == self._queue:
            with self._lock:
                self._deleted.add(message_id)

    def moved(self, queue: str, to_queue: str, message_id: str, at_s: float) -> None:
        """A message in the dead-letter queue was not deleted: it stays on the ledger as lost."""

    def expired(self, queue: str, message_id: str, at_s: float) -> None:
        """An expired message was not deleted: it stays on the ledger as lost."""

    def open(self) -> int:
        """Messages sent and not deleted."""
        with self._lock:
            return len(self._sent_at_s) - len(self._deleted)

    def accounts(self) -> tuple[dict[str, float], set[str]]:
        """When each message was sent, and which ones were deleted."""
        with self._lock:
            return dict(self._sent_at_s), set(self._deleted)


def read_journals(directory: Path) -> list[Run]:
    """The runs that the workers wrote down, in no order. A line cut short by a kill -9 belongs to no run.

    Of two runs of one message side by side in one process the first end is the first one's: nothing tells them apart.
    Raises TidegateError when a journal ends a run that it never began.
    """
    runs: list[Run] = []
    for path in sorted(directory.glob("*.jsonl")):
        begun: dict[str, list[Run]] = defaultdict(list)
        for line in path.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):
                continue
            entry = json.loads(line)
            if entry["event"] == "start":
                run = Run(entry["id"], entry["pid"], entry["at_s"])
                begun[run.message_id].append(run)
                runs.append(run)
            elif begun[entry["id"]]:
                begun[entry["id"]].pop(0).ended_at_s = entry["at_s"]
            else:
                raise TidegateError(f"journal {path.name} ends a run of {entry['id']} that it never began")
    return runs


def reckon(
    sent_at_s: Mapping[str, float], deleted: set[str], runs: Iterable[Run], killed_pids: set[int], target_s: float
) -> Messages:
    """Hold what was sent against what was done.

    A message is lost when it was accepted and not deleted, or deleted though no handler ended. A run is interrupted
    when it did not end and its worker was not killed with -9 from outside; it is a duplicate when an earlier run of the
    same message had ended or ends as well.
    """
    by_message: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_message[run.message_id].append(run)
    ended = Counter(run.message_id for each in by_message.values() for run in each if run.ended_at_s is not None)
    broken = [run for each in by_message.values() for run in each if run.ended_at_s is None]
    killed = sum(run.pid in killed_pids for run in broken)
    lost = tuple(sorted(id_ for id_ in sent_at_s if id_ not in deleted or not ended[id_]))
    waits = sorted(
        max(0.0, min(run.started_at_s for run in by_message[id_]) - at_s)
        for id_, at_s in sent_at_s.items()
        if by_message.get(id_)
    )
    late = sum(wait > target_s for wait in waits) + sum(id_ not in by_message for id_ in sent_at_s)
    return Messages(
        sent=len(sent_at_s),
        completed=sum(1 for id_ in sent_at_s if ended[id_]),
        lost=len(lost),
        duplicates=sum(count - 1 for count in ended.values()),
        interrupted=len(broken) - killed,
        killed=killed,
        late_share=round(late / len(sent_at_s), 4) if sent_at_s else 0.0,
        wait_p50_s=_quantile(waits, 0.50),
        wait_p99_s=_quantile(waits, 0.99),
        lost_ids=lost,
    )


def _quantile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None
