"""The one heartbeat of all leases: extends those that need it, returns messages, and tells when a lease is lost.

Every visibility change of a worker goes out from this one task, one round after another: so no extension that is under
way can overtake the return of the same message.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.errors import CloudError
from tidegate.ports import EntryFailure, VisibilityChange, WorkQueue
from tidegate.worker.leases.book import Change, LeaseBook
from tidegate.worker.waiting import answered_within, happens_within

__all__ = ["LeaseKeeper", "lease_is_over"]

_BATCH: Final = 10

logger = logging.getLogger(__name__)


class LeaseKeeper:
    """Keeps `book` true to SQS. `run` is its task; `clock` is the steady clock of the book."""

    def __init__(
        self, queue: WorkQueue, book: LeaseBook, on_lost: Callable[[int], None], clock: Callable[[], float]
    ) -> None:
        self._queue = queue
        self._book = book
        self._on_lost = on_lost
        self._clock = clock
        self._wake = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._call_s = book.call_s

    async def run(self) -> None:
        """Looks every second (oftener for short leases), and at once when something is given back. Never ends."""
        while True:
            self._wake.clear()
            await self._round()
            await happens_within(self._wake, self._book.look_s)

    def give_back(self, key: int, visible_after_s: int) -> None:
        """The message is to be visible again so many seconds from now (0: at once)."""
        self._book.give_back(key, visible_after_s)
        if self._book.returning():
            self._quiet.clear()
            self._wake.set()

    def want(self, key: int, for_s: float) -> None:
        """Its handler asks that the lease of this message last at least so long from now."""
        self._book.want(key, for_s, self._clock())
        self._wake.set()

    def look(self) -> None:
        """Something is due now, not at the next look."""
        self._wake.set()

    async def returned(self) -> None:
        """Waits until no message given back is still to be confirmed (or its lease has run out)."""
        await self._quiet.wait()

    async def _round(self) -> None:
        for key in self._book.lapsed(self._clock()):
            self._on_lost(key)
        due = self._book.changes_due(self._clock())
        await asyncio.gather(*(self._send(due[i : i + _BATCH]) for i in range(0, len(due), _BATCH)))
        if not self._book.returning():
            self._quiet.set()

    async def _send(self, changes: Sequence[Change]) -> None:
        """One call. What fails is due again at the next look, as long as its lease runs."""
        sent_at_s = self._clock()
        try:
            async with answered_within(self._call_s, "changing visibility", "the queue"):
                failures = await self._queue.change_visibility(
                    [VisibilityChange(change.receipt_handle, change.timeout_s) for change in changes]
                )
        except CloudError as error:
            logger.warning("%d visibility changes failed, trying again: %s", len(changes), error)
            return
        self._record(changes, {failure.index: failure for failure in failures}, sent_at_s)

    def _record(self, changes: Sequence[Change], failures: dict[int, EntryFailure], sent_at_s: float) -> None:
        for index, change in enumerate(changes):
            failure = failures.get(index)
            if failure is None:
                self._book.changed(change, sent_at_s)
            elif lease_is_over(failure):
                if self._book.end(change.key):
                    self._on_lost(change.key)
            else:
                logger.warning("a visibility change failed, trying again: %s (%s)", failure.code, failure.message)


def lease_is_over(failure: EntryFailure) -> bool:
    """True when SQS says that the message is no longer held under this receipt handle; anything else may pass.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html lists
    MessageNotInflight and ReceiptHandleIsInvalid. Unverified: an unknown message under InvalidParameterValue.
    """
    code = failure.code.rpartition(".")[2]
    if code in {"MessageNotInflight", "ReceiptHandleIsInvalid"}:
        return True
    return code == "InvalidParameterValue" and "ReceiptHandle" in failure.message
