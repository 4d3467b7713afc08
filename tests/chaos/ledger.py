"""Why a message ran again: each such run has a reason on record, or it is a fault of the worker's."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tidegate.sandbox.demo.ledger import Run

__all__ = ["Record", "explain"]


@dataclass(frozen=True, slots=True)
class Record:
    """What was done to the workers and their calls. Times in seconds since the epoch."""

    killed_pids: Collection[int] = ()
    unanswered_at_s: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By message: when a call about it went without an answer."""
    parted: tuple[float, float] | None = None
    """From when to when nothing got through."""
    lease_s: float = 0.0
    """A lease may have been changed, without an answer, so long before its handler started."""

    def reason(self, run: Run, again: Run) -> str | None:
        """Why `run` was followed by another of the same message."""
        if run.pid in self.killed_pids:
            return "its worker was killed"
        if self.parted is not None and self._in_hand(run, *self.parted) and again.started_at_s >= self.parted[0]:
            return "it was in hand in the partition"
        since_s = run.started_at_s - self.lease_s
        if any(since_s <= at_s <= again.started_at_s for at_s in self.unanswered_at_s.get(run.message_id, ())):
            return "an answer was lost"
        return None

    def _in_hand(self, run: Run, from_s: float, to_s: float) -> bool:
        """Between the two times: it ran, or its delete may have waited for an answer, until its lease was over."""
        ended_s = math.inf if run.ended_at_s is None else run.ended_at_s
        return run.started_at_s <= to_s and ended_s + self.lease_s >= from_s


def explain(runs: Iterable[Run], record: Record) -> tuple[Counter[str], list[str]]:
    """How many runs were repetitions, by reason, and the messages whose repetition has none."""
    by_message: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_message[run.message_id].append(run)
    reasons: Counter[str] = Counter()
    unexplained = []
    for message_id, each in by_message.items():
        each.sort(key=lambda run: run.started_at_s)
        for run, again in pairwise(each):
            reason = record.reason(run, again)
            if reason is None:
                unexplained.append(message_id)
            else:
                reasons[reason] += 1
    return reasons, unexplained
