"""The fleet's retry budget in one worker: when a message that failed comes back, and when that may be sooner.

A retry beyond the budget is hidden until its turn, so that nothing is received in vain. While it is hidden this worker
can still change its time: that of the last ones, when completions have paid for them, and of all when it leaves.
"""

import asyncio
import itertools
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tidegate.core.workers.retry_budget import BURST, RetryCredit, RetryRule, earned, last_may_go, spent
from tidegate.errors import CloudError
from tidegate.ports import VisibilityChange
from tidegate.worker.leases.keeper import lease_is_over
from tidegate.worker.leases.lane import Hand, Lane
from tidegate.worker.waiting import answered_within

__all__ = ["RetryBudget", "RetryLimit"]

_LOOK_S: Final = 1.0
_CALL_S: Final = 5.0
_BATCH: Final = 10
_CALLS_AT_ONCE: Final = 10
_MOST_HIDDEN: Final = 10_000
"""Retries whose time can still be changed: those beyond come at the time that they were given."""
_WORTH_S: Final = 1.0
"""SQS takes whole seconds; and so close to its turn the message could be another worker's when the call arrives."""
_MEMORY_S: Final = 300.0
"""Of the rate of completions."""
_UNKNOWN_WORKERS: Final = 10
"""How many share the floor when that could never be read."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryLimit:
    """`ratio` retries for each completion, and `floor_per_s` retries a second of all workers together."""

    ratio: float
    floor_per_s: float


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A message that waits for its turn. On the steady clock: when it may come by its backoff, and when it will.

    Not the message itself: its body may be a megabyte.
    """

    lane: Lane
    key: int
    receipt_handle: str
    not_before_s: float
    due_s: float


class RetryBudget:
    """Implements `telemetry.WorkWatch`: completions earn retries. `run` is its task; `clock` is steady.

    `live_workers` share the floor; None: not known. `on_held` hears of each retry that comes later than its backoff.
    """

    def __init__(
        self,
        limit: RetryLimit,
        live_workers: Callable[[], int | None],
        on_held: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._limit = limit
        self._live_workers = live_workers
        self._on_held = on_held
        self._clock = clock
        self._credit = RetryCredit(BURST, clock())
        self._completed_per_s = 0.0
        self._completed_at_s = clock()
        self._hidden: deque[_Hidden] = deque()
        self._going: list[tuple[_Hidden, float]] = []
        self._wake = asyncio.Event()

    def started(self, wait_s: float | None) -> None:
        """A start earns nothing."""

    def ended(self, service_time_s: float, *, completed: bool) -> None:
        """A completion earns its part of a retry."""
        if not completed:
            return
        now_s = self._clock()
        self._completed_per_s = self._rate(now_s) + 1 / _MEMORY_S
        self._completed_at_s = now_s
        self._earn(now_s, 1)
        while self._hidden and last_may_go(self._rule(), self._credit, self._before_last_s(now_s)):
            self._going.append((self._hidden.pop(), now_s))
            self._wake.set()

    def _before_last_s(self, now_s: float) -> float | None:
        return self._hidden[-2].due_s - now_s if len(self._hidden) > 1 else None

    def delay_s(self, hand: Hand, backoff_s: int) -> int:
        """Whole seconds until this message comes back: its backoff, or its turn when that is later."""
        now_s = self._clock()
        self._earn(now_s)
        self._credit, wait_s = spent(self._rule(), self._credit)
        if wait_s == 0:
            return backoff_s
        lane, handle = hand.lane, hand.received.receipt_handle
        wait_s = min(wait_s, lane.book.left_s(hand.key, now_s))
        if len(self._hidden) < _MOST_HIDDEN:
            lane.book.unconfirmed.add(hand.key)
            self._hidden.append(_Hidden(lane, hand.key, handle, now_s + backoff_s, now_s + wait_s))
        if wait_s > backoff_s:
            self._on_held()
        return max(backoff_s, math.ceil(wait_s))

    async def run(self) -> None:
        """Lets retries go that have been paid for, for ever."""
        while True:
            self._wake.clear()
            self._going = await self._sent(self._going)
            if self._going:
                await asyncio.sleep(_LOOK_S)
            else:
                await self._wake.wait()

    async def hand_on(self) -> None:
        """The worker leaves, and its successors earn from now on: what waits comes at the pace earned here lately."""
        now_s = self._clock()
        self._earn(now_s)
        rule = self._rule()
        per_s = rule.floor_per_s + rule.ratio * self._rate(now_s)
        await self._sent([*self._going, *((each, now_s + turn / per_s) for turn, each in enumerate(self._hidden, 1))])

    async def _sent(self, going: Sequence[tuple[_Hidden, float]]) -> list[tuple[_Hidden, float]]:
        """Changes the time of each to the one beside it; those that could not be told yet."""
        self._going = []
        lanes: dict[Lane, list[tuple[_Hidden, float]]] = {}
        for each, turn_s in going:
            if max(turn_s, each.not_before_s, self._clock()) < each.due_s - _WORTH_S:
                lanes.setdefault(each.lane, []).append((each, turn_s))
            else:
                each.lane.book.unconfirmed.discard(each.key)
        batches = [(lane, all_[i : i + _BATCH]) for lane, all_ in lanes.items() for i in range(0, len(all_), _BATCH)]
        calls = asyncio.Semaphore(_CALLS_AT_ONCE)
        left = await asyncio.gather(*(self._send(lane, batch, calls) for lane, batch in batches))
        return [*self._going, *itertools.chain.from_iterable(left)]

    async def _send(
        self, lane: Lane, batch: Sequence[tuple[_Hidden, float]], calls: asyncio.Semaphore
    ) -> list[tuple[_Hidden, float]]:
        """One call. A message whose return is not confirmed yet waits for that: the later change holds.

        One whose lease has lapsed meanwhile may be another worker's by now, and is left alone.
        """
        left = [one for one in batch if lane.book.get(one[0].key) is not None]
        ready = [one for one in batch if one not in left and one[0].key not in lane.book.unconfirmed]
        lane.book.unconfirmed.difference_update(each.key for each, _ in batch if lane.book.get(each.key) is None)
        if not ready:
            return left
        async with calls:
            now_s = self._clock()
            changes = [
                VisibilityChange(each.receipt_handle, max(0, math.ceil(max(turn_s, each.not_before_s) - now_s)))
                for each, turn_s in ready
            ]
            try:
                async with answered_within(_CALL_S, "letting retries go", "the queue"):
                    failures = await lane.queue.change_visibility(changes)
            except CloudError as error:
                logger.warning("%d retries could not be let go, trying again: %s", len(ready), error)
                return [*left, *ready]
        return [*left, *(ready[failure.index] for failure in failures if not lease_is_over(failure))]

    def _earn(self, now_s: float, completions: int = 0) -> None:
        self._credit = earned(self._rule(), self._credit, now_s, completions)
        while self._hidden and self._hidden[0].due_s <= now_s:
            over = self._hidden.popleft()
            over.lane.book.unconfirmed.discard(over.key)

    def _rate(self, now_s: float) -> float:
        return self._completed_per_s * math.exp((self._completed_at_s - now_s) / _MEMORY_S)

    def _rule(self) -> RetryRule:
        return RetryRule(self._limit.ratio, self._limit.floor_per_s / (self._live_workers() or _UNKNOWN_WORKERS))
