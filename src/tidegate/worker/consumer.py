"""Keeps the slots full: a slot is reserved, then a poll asks for as many messages as slots are reserved."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.errors import CloudError, Denied, Gone, Invalid
from tidegate.ports import Received, WorkQueue
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.jobs import Jobs
from tidegate.worker.poll_watch import PollWatch
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import happens_within

__all__ = ["Consumer"]

_RETRY_BASE_S: Final = 0.5
_RETRY_CAP_S: Final = 20.0
_EARLY_EMPTY_PAUSE_S: Final = 1.0
_REFUSALS: Final = (Denied, Gone, Invalid)

logger = logging.getLogger(__name__)


class Consumer:
    """One poll at a time, for ever, until `stopping` is set. `on_poll` is called before each receive call.

    A queue that nobody has reached yet may be unreachable for `patience_s`; infinite: it has been reached.
    """

    def __init__(
        self,
        queue: WorkQueue,
        slots: Slots,
        jobs: Jobs,
        stopping: asyncio.Event,
        on_poll: Callable[[], None],
        *,
        poll_wait_s: int,
        batch: int,
        patience_s: float,
        clock: Callable[[], float],
        random: Random,
    ) -> None:
        self._queue = queue
        self._slots = slots
        self._jobs = jobs
        self._stopping = stopping
        self._on_poll = on_poll
        self._poll_wait_s = poll_wait_s
        self._batch = batch
        self._clock = clock
        self._random = random
        self._hopeless_from_s = clock() + patience_s
        self._answered = False
        self._failures = 0

    async def run(self) -> None:
        """Ends when the worker is told to leave and the poll then outstanding is back; what it brought is returned.

        Raises Denied, Gone or Invalid when the first poll is refused, and whatever lasts longer than `patience_s`: the
        worker can't work at all. Once a poll has been answered no answer ends the polling: credentials are rotated,
        queues made again, networks mended. Also raises what kept a handler from being started.
        """
        while reserved := await self._slots.reserve(self._batch):
            received, handed_out_s = await self._poll(reserved)
            if self._jobs.too_late(handed_out_s):
                _say_too_late(received)
                received = []
            if self._stopping.is_set():
                self._jobs.turn_away(received, handed_out_s)
                return
            self._start(received, reserved, handed_out_s)

    def _start(self, received: Sequence[Received], reserved: int, handed_out_s: float) -> None:
        """Each to its handler. From the first that can't be started on they go back, and the error ends the worker."""
        started = 0
        try:
            for message in received:
                self._jobs.start(message, handed_out_s)
                started += 1
        finally:
            self._jobs.turn_away(received[started:], handed_out_s)
            self._slots.give_back(reserved - started)

    async def _poll(self, limit: int) -> tuple[list[Received], float]:
        """What came, and the earliest time at which SQS can have handed it out."""
        self._on_poll()
        sent_at_s = self._clock()
        watch = PollWatch(sent_at_s, self._poll_wait_s, self._jobs.look_s)
        try:
            received = await self._watched(watch, limit)
        except CloudError as error:
            if self._is_hopeless(error):
                raise
            await self._back_off(error)
            return [], sent_at_s
        self._answered = True
        self._failures = 0
        if not received and self._clock() - sent_at_s < self._poll_wait_s / 2:
            # SQS waits before it says "none". Whatever doesn't must not be asked hundreds of times a second.
            await happens_within(self._stopping, _EARLY_EMPTY_PAUSE_S)
        return received, watch.handed_out_s()

    async def _watched(self, watch: PollWatch, limit: int) -> list[Received]:
        asking = asyncio.create_task(
            self._queue.receive(limit, self._poll_wait_s, self._jobs.lease_s), name="tidegate-poll"
        )
        try:
            while not (await asyncio.wait({asking}, timeout=self._jobs.look_s))[0]:
                watch.not_back(self._clock())
        finally:
            asking.cancel()
            await asyncio.wait({asking})
        return asking.result()

    def _is_hopeless(self, error: CloudError) -> bool:
        if self._answered or self._stopping.is_set():
            return False
        return isinstance(error, _REFUSALS) or self._clock() >= self._hopeless_from_s

    async def _back_off(self, error: CloudError) -> None:
        self._failures += 1
        delay_s = full_jitter_s(self._failures, _RETRY_BASE_S, _RETRY_CAP_S, self._random)
        needs_somebody = isinstance(error, _REFUSALS)
        level = logging.ERROR if needs_somebody else logging.WARNING
        logger.log(level, "poll %d in a row failed, next in %.1f s: %s", self._failures, delay_s, error)
        await happens_within(self._stopping, delay_s)


def _say_too_late(received: Sequence[Received]) -> None:
    """They are left alone: another worker may have them, and giving back an old receipt could take them from it."""
    for message in received:
        logger.warning(
            "message %s came when its lease could be over already: left for its next turn", message.message_id
        )
