"""Deletes what handlers have finished, several messages to a call, and sees each one through.

A failed entry is tried again for as long as its lease runs. While a delete waits, for its turn or for another try, the
heartbeat extends its lease; while one is under way nothing does, so no call may take longer than the lease can bear.

A delete that SQS confirms after the lease has ended is *uncertain*: with an old receipt handle SQS answers yes without
deleting.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tidegate.errors import CloudError
from tidegate.ports import EntryFailure, WorkQueue
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.leases.book import LeaseBook
from tidegate.worker.leases.keeper import LeaseKeeper, lease_is_over
from tidegate.worker.waiting import answered_within, happens_within

__all__ = ["Deleter"]

_BATCH: Final = 10
_CALLS_AT_ONCE: Final = 10
_BEHIND: Final = 200
"""So many unconfirmed deletes, and no more is received: polls would go on taking the time that deletes need."""
_LINGER_S: Final = 0.05
_RETRY_BASE_S: Final = 0.1
_RETRY_CAP_S: Final = 5.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Delete:
    key: int
    receipt_handle: str
    message_id: str
    failures: int = 0


class Deleter:
    """`run` is its task. `on_uncertain` hears of each delete of which nobody can say that it deleted the message;
    `on_caught_up` when it is no longer `behind`.
    """

    def __init__(
        self,
        queue: WorkQueue,
        book: LeaseBook,
        keeper: LeaseKeeper,
        on_uncertain: Callable[[], None],
        on_caught_up: Callable[[], None],
        clock: Callable[[], float],
        random: Random,
    ) -> None:
        self._queue = queue
        self._book = book
        self._keeper = keeper
        self._on_uncertain = on_uncertain
        self._on_caught_up = on_caught_up
        self._clock = clock
        self._random = random
        self._waiting: deque[_Delete] = deque()
        self._some, self._full, self._idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._open = 0
        self._lanes = asyncio.Semaphore(_CALLS_AT_ONCE)

    def add(self, key: int, receipt_handle: str, message_id: str) -> None:
        """The handler of this message has returned: delete it."""
        self._open += 1
        self._idle.clear()
        self._queue_up(_Delete(key, receipt_handle, message_id))

    @property
    def behind(self) -> bool:
        """True while so many deletes are unconfirmed that no more messages should be received."""
        return self._open >= _BEHIND

    async def flushed(self) -> None:
        """Waits until every delete is confirmed or given up."""
        await self._idle.wait()

    def abandon(self) -> int:
        """The worker leaves: what is still not confirmed is uncertain. How many those are."""
        for _ in range(self._open):
            self._on_uncertain()
        return self._open

    async def run(self) -> None:
        """Sends a batch when ten deletes wait, or when the first has waited a moment. Never ends."""
        async with asyncio.TaskGroup() as calls:
            while True:
                await self._some.wait()
                await happens_within(self._full, _LINGER_S)
                await self._lanes.acquire()
                calls.create_task(self._send(self._next_batch()), name="tidegate-delete")

    def _queue_up(self, delete: _Delete) -> None:
        self._waiting.append(delete)
        self._some.set()
        if len(self._waiting) >= _BATCH:
            self._full.set()

    def _next_batch(self) -> list[_Delete]:
        batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        if not self._waiting:
            self._some.clear()
        if len(self._waiting) < _BATCH:
            self._full.clear()
        return batch

    async def _send(self, batch: Sequence[_Delete]) -> None:
        try:
            for delete in batch:
                self._book.start_delete(delete.key)
            failures = await self._call(batch)
            for index, delete in enumerate(batch):
                self._judge(delete, failures.get(index))
            if failures:
                self._keeper.look()
        finally:
            self._lanes.release()

    async def _call(self, batch: Sequence[_Delete]) -> dict[int, EntryFailure]:
        """Failures by place in the batch; a call that failed as a whole, or hangs, is a failure of each."""
        within_s = min(self._book.time_to_delete_s(delete.key, self._clock()) for delete in batch)
        try:
            async with answered_within(within_s, "deleting", "the queue"):
                failures = await self._queue.delete([delete.receipt_handle for delete in batch])
        except CloudError as error:
            logger.warning("%d deletes failed, trying again: %s", len(batch), error)
            return {index: EntryFailure(index, type(error).__name__, str(error), False) for index in range(len(batch))}
        return {failure.index: failure for failure in failures}

    def _judge(self, delete: _Delete, failure: EntryFailure | None) -> None:
        now_s = self._clock()
        if failure is None:
            self._close(delete, certain=self._book.deleted(delete.key, now_s))
        elif lease_is_over(failure):
            self._book.end(delete.key)
            self._close(delete, certain=False)
        elif self._book.delete_failed(delete.key, now_s):
            again = replace(delete, failures=delete.failures + 1)
            delay_s = full_jitter_s(again.failures, _RETRY_BASE_S, _RETRY_CAP_S, self._random)
            asyncio.get_running_loop().call_later(delay_s, self._queue_up, again)
        else:
            self._close(delete, certain=False)

    def _close(self, delete: _Delete, *, certain: bool) -> None:
        self._open -= 1
        if self._open == _BEHIND - 1:
            self._on_caught_up()
        if self._open == 0:
            self._idle.set()
        if not certain:
            self._on_uncertain()
            logger.warning("message %s was finished, but its lease ended before its delete", delete.message_id)
