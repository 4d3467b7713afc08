"""What came of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.outside.sqs import Message

__all__ = ["Result", "Waits", "waits_of"]


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds from when a message could first be received to its first start."""

    count: int
    late_share: float
    p50_s: float
    p99_s: float
    longest_s: float


@dataclass(frozen=True, slots=True)
class Result:
    """`cost` is worker-seconds paid ÷ those of a fleet that is always busy with this work; `turns` are changes of the
    desired count that go the other way than the one before."""

    waits: Waits
    cost: float
    changes: int
    turns: int
    interrupted: int
    most: int
    mean: float
    finished_s: float

    @property
    def late_share(self) -> float:
        """Of the messages."""
        return self.waits.late_share


def waits_of(messages: Sequence[Message], target_s: float, now_s: float) -> Waits:
    """Of those that are judged; what has not started by now has waited until now."""
    judged = [message for message in messages if message.counts]
    waits = sorted((now_s if one.started_s is None else one.started_s) - one.due_s for one in judged) or [0.0]
    count = len(waits)
    late = sum(wait_s > target_s for wait_s in waits)
    return Waits(count, late / count, waits[count // 2], waits[int(count * 0.99)], waits[-1])
