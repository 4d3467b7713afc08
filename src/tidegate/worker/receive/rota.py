"""Whose turn it is: which of a worker's queues is polled next, and how many polls each may have under way.

Pure: no clock and no call in here. Turns go by stride scheduling: each queue has a pass, raised by messages ÷ weight
when messages come, and the lowest pass is next. So queues that all hold messages get them in the ratio of their
weights, and none waits for longer than the others' turns. A queue that was empty starts at the pass of those that were
not: having been idle earns it nothing.
(Waldspurger and Weihl, Stride Scheduling, MIT/LCS/TM-528, 1995)
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Rota", "Turn"]

_FIRST_REST_S: Final = 0.5
_LONGEST_REST_S: Final = 4.0
_FINEST_S: Final = 0.001
SHORT_POLL_S: Final = 1
"""A poll of a queue that was empty, while others have messages: it holds a slot that they could use. Not 0, which asks
only some of SQS's servers:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html"""


@dataclass(slots=True, eq=False)
class Turn:
    """One queue's place in the rota."""

    weight: float
    cap: int = 1
    """The most polls that may ever be under way."""
    passed: float = 0.0
    polls: int = 0
    """Polls under way."""
    most: int = 1
    """Polls that may be under way: one when idle, more while they come back full."""
    hot: bool = False
    """Its last poll brought something."""
    empties: int = 0
    rests_until_s: float = -math.inf


class Rota:
    """The turns of a worker's queues."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns

    def next(self, now_s: float, may: Callable[[Turn], bool] = lambda _: True) -> Turn | None:
        """The queue to poll now of those that `may`; None when they rest or have polls enough under way."""
        ready = [turn for turn in self.turns if turn.polls < turn.most and not _rests(turn, now_s) and may(turn)]
        return min(ready, key=lambda turn: turn.passed, default=None)

    def rest_s(self, now_s: float) -> float:
        """Seconds until a resting queue may be polled again; endless when none rests."""
        return min((turn.rests_until_s - now_s for turn in self.turns if _rests(turn, now_s)), default=math.inf)

    def others_hot(self, turn: Turn) -> bool:
        """True when another queue could use the slots that a poll of this one holds."""
        return any(other.hot for other in self.turns if other is not turn)

    def asked(self, turn: Turn) -> None:
        """A poll of it is sent."""
        turn.polls += 1

    def answered(self, turn: Turn, asked: int, came: int, now_s: float) -> None:
        """A poll for up to `asked` messages brought `came`."""
        turn.polls -= 1
        if came == 0:
            self._was_empty(turn, now_s)
            return
        if not turn.hot:
            turn.passed = max([turn.passed, *(self._least_hot_pass())])
        turn.hot, turn.empties = True, 0
        turn.passed += came / turn.weight
        if came == asked:
            turn.most = min(turn.most + 1, turn.cap)
        elif turn.most > 1:
            turn.most -= 1

    def failed(self, turn: Turn, until_s: float) -> None:
        """A poll failed: no other one before then."""
        turn.polls -= 1
        turn.most, turn.hot, turn.rests_until_s = 1, False, until_s

    def _was_empty(self, turn: Turn, now_s: float) -> None:
        turn.hot, turn.most = False, 1
        turn.empties += 1
        if self.others_hot(turn):
            turn.rests_until_s = now_s + min(_LONGEST_REST_S, _FIRST_REST_S * 2.0 ** min(turn.empties - 1, 10))

    def _least_hot_pass(self) -> list[float]:
        passes = [turn.passed for turn in self.turns if turn.hot]
        return [min(passes)] if passes else []


def _rests(turn: Turn, now_s: float) -> bool:
    """Less than a millisecond left is none: no timer is finer."""
    return turn.rests_until_s - now_s >= _FINEST_S
