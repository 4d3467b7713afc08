"""The messages in hand: each from its receive to its delete, its return for another try, or its release."""

import asyncio
import logging
import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tidegate.ports import Received
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.deletes import Deleter
from tidegate.worker.lease_keeper import LeaseKeeper
from tidegate.worker.leases import LeaseBook
from tidegate.worker.message import Message, message_from
from tidegate.worker.run_handler import HandlerRunner, Run
from tidegate.worker.slots import Slots
from tidegate.worker.telemetry import Telemetry
from tidegate.worker.waiting import happens_within

__all__ = ["Jobs", "RetryDelay"]

_LAST_CALL_S: Final = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryDelay:
    """How long a message stays hidden after its handler failed: up to base × 2^(receives - 1), at most the cap."""

    base_s: float
    cap_s: float
    random: Random

    def after(self, receive_count: int) -> int:
        """Whole seconds, as SQS takes them, rounded up: half of the first retries would be immediate otherwise."""
        return math.ceil(full_jitter_s(receive_count, self.base_s, self.cap_s, self.random))


@dataclass(slots=True)
class _Job:
    key: int
    receipt_handle: str
    message: Message
    run: Run
    started_at_s: float
    told_to_leave: bool = False


class Jobs:
    """Everything of one worker that is between receive and settlement. Lives on the SDK's loop."""

    def __init__(
        self,
        runner: HandlerRunner,
        slots: Slots,
        book: LeaseBook,
        keeper: LeaseKeeper,
        deleter: Deleter,
        telemetry: Telemetry,
        retry: RetryDelay,
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._runner = runner
        self._slots = slots
        self._book = book
        self._keeper = keeper
        self._deleter = deleter
        self._telemetry = telemetry
        self._retry = retry
        self._clock = clock
        self._wall = wall
        self._jobs: dict[int, _Job] = {}
        self._followers: set[asyncio.Task[None]] = set()
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self) -> None:
        """Ends only when a message could not be settled, with what that raised: a fault of ours, not of a handler."""
        await self._broken

    @property
    def lease_s(self) -> int:
        """The lease to ask for with each receive: what the book believes in, whatever the queue's own has become."""
        return self._book.visibility_s

    @property
    def look_s(self) -> float:
        """How often to look whether an answer has come: what is not known so exactly is taken off the lease."""
        return self._book.look_s

    def too_late(self, handed_out_s: float) -> bool:
        """True when messages handed out then may be another worker's by now, or before their leases can be extended."""
        return self._book.too_late(handed_out_s, self._clock())

    def start(self, received: Received, handed_out_s: float) -> None:
        """Hands a message to its handler, in a slot that was reserved for it; its lease runs since `handed_out_s`.

        Raises whatever keeps the handler from being started (no more threads, its loop is closed); the message and
        the slot are then as before the call.
        """
        now_s = self._clock()
        message = message_from(received, self._wall(), self._telemetry.calls)
        run = self._runner.start(message)
        key = self._book.take(received.receipt_handle, handed_out_s)
        self._telemetry.started(message.sent_at_s, message.receive_count)
        self._slots.start()
        self._idle.clear()
        job = self._jobs[key] = _Job(key, received.receipt_handle, message, run, now_s)
        follower = asyncio.create_task(self._follow(job), name=f"tidegate-job-{message.id}")
        self._followers.add(follower)
        follower.add_done_callback(lambda follower: self._followed(follower, job))

    def turn_away(self, received: Sequence[Received], handed_out_s: float) -> None:
        """Messages that came when the worker was told to leave: never started, visible to others at once."""
        for message in received:
            self._keeper.give_back(self._book.take(message.receipt_handle, handed_out_s), 0)

    def lease_lost(self, key: int) -> None:
        """The message may be another worker's by now: its handler is told, and its success will not count."""
        self._telemetry.lease_lost()
        job = self._jobs.get(key)
        if job is not None:
            logger.error("lost the lease of message %s after %.1f s", job.message.id, self._clock() - job.started_at_s)
            job.run.interrupt()

    async def idle(self) -> None:
        """Waits until no handler runs."""
        await self._idle.wait()

    async def let_go(self) -> None:
        """The grace is over: tells the handlers that still run, gives them a moment, and releases what is left.

        A handler that uses that moment to return normally has done its work: its message is deleted, not released.
        """
        for job in self._jobs.values():
            job.told_to_leave = True
            job.run.interrupt()
        await happens_within(self._idle, _LAST_CALL_S)
        for job in self._jobs.values():
            logger.warning("released message %s: its handler did not end within the grace", job.message.id)
            self._keeper.give_back(job.key, 0)

    def close(self) -> None:
        """Nobody waits any longer for handlers that still run."""
        for follower in self._followers:
            follower.cancel()

    async def _follow(self, job: _Job) -> None:
        error = await job.run.outcome()
        self._slots.finish()
        del self._jobs[job.key]
        try:
            if error is None:
                self._returned(job)
            else:
                self._raised(job, error)
        finally:
            if not self._jobs:
                self._idle.set()

    def _followed(self, follower: asyncio.Task[None], job: _Job) -> None:
        """A job that nobody follows any longer must not keep its lease, which would be extended for hours."""
        self._followers.discard(follower)
        if follower.cancelled() or (fault := follower.exception()) is None:
            return
        kind = type(fault).__qualname__
        logger.error(
            "message %s could not be settled (%s): it is released, and the worker leaves", job.message.id, kind
        )
        self._keeper.give_back(job.key, 0)
        if not self._broken.done():
            self._broken.set_exception(fault)

    def _returned(self, job: _Job) -> None:
        if job.told_to_leave and not self._book.holds(job.key):
            logger.warning("the handler of message %s returned after its release: it runs again", job.message.id)
            return
        self._telemetry.finished(self._clock() - job.started_at_s, completed=self._book.holds(job.key))
        self._deleter.add(job.key, job.receipt_handle, job.message.id)

    def _raised(self, job: _Job, error: BaseException) -> None:
        if job.told_to_leave:
            self._keeper.give_back(job.key, 0)
            return
        self._telemetry.finished(self._clock() - job.started_at_s, completed=False)
        delay_s = self._retry.after(job.message.receive_count)
        if self._book.holds(job.key):
            _log_failure(job.message, error, delay_s)
            self._keeper.give_back(job.key, delay_s)


def _log_failure(message: Message, error: BaseException, delay_s: int) -> None:
    """Where it failed and with what kind of error; never the error's own text, which may quote the body."""
    where = "".join(traceback.format_tb(error.__traceback__))
    logger.error(
        "handler failed on message %s (receive %d) with %s; visible again in %d s\n%s",
        message.id,
        message.receive_count,
        type(error).__qualname__,
        delay_s,
        where.rstrip(),
    )
