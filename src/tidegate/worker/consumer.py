"""Keeps the slots full: a slot is reserved, then a poll asks for as many messages as slots are reserved."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.errors import CloudError, Denied, Gone, Invalid
from tidegate.ports import Received, WorkQueue
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.jobs import Jobs
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import happens_within

__all__ = ["Consumer"]

_RETRY_BASE_S: Final = 0.5
_RETRY_CAP_S: Final = 20.0

logger = logging.getLogger(__name__)


class Consumer:
    """One poll at a time, for ever, until `stopping` is set. `on_poll` is called before each receive call."""

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
        fatal: tuple[type[CloudError], ...],
        random: Random,
    ) -> None:
        self._queue = queue
        self._slots = slots
        self._jobs = jobs
        self._stopping = stopping
        self._on_poll = on_poll
        self._poll_wait_s = poll_wait_s
        self._batch = batch
        self._fatal = fatal
        self._random = random
        self._answered = False
        self._failures = 0

    async def run(self) -> None:
        """Ends when the worker is told to leave and the poll then outstanding is back; what it brought is returned.

        Raises one of `fatal` when the first poll fails so: the worker can't work at all. Once a poll has been
        answered no answer ends the polling: credentials are rotated, queues made again, networks mended. Also raises
        what kept a handler from being started.
        """
        while reserved := await self._slots.reserve(self._batch):
            received = await self._poll(reserved)
            if self._stopping.is_set():
                self._jobs.turn_away(received)
                return
            self._start(received, reserved)

    def _start(self, received: Sequence[Received], reserved: int) -> None:
        """Each to its handler. From the first that can't be started on they go back, and the error ends the worker."""
        started = 0
        try:
            for message in received:
                self._jobs.start(message)
                started += 1
        finally:
            self._jobs.turn_away(received[started:])
            self._slots.give_back(reserved - started)

    async def _poll(self, limit: int) -> list[Received]:
        self._on_poll()
        try:
            received = await self._queue.receive(limit, self._poll_wait_s)
        except CloudError as error:
            if isinstance(error, self._fatal) and not self._answered:
                raise
            await self._back_off(error)
            return []
        self._answered = True
        self._failures = 0
        return received

    async def _back_off(self, error: CloudError) -> None:
        self._failures += 1
        delay_s = full_jitter_s(self._failures, _RETRY_BASE_S, _RETRY_CAP_S, self._random)
        needs_somebody = isinstance(error, Denied | Gone | Invalid)
        level = logging.ERROR if needs_somebody else logging.WARNING
        logger.log(level, "poll %d in a row failed, next in %.1f s: %s", self._failures, delay_s, error)
        await happens_within(self._stopping, delay_s)
