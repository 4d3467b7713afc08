"""A worker that is told to take no more work: it finishes what it holds, waits, and may be taken back at any time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from tidegate.core.reports import WorkerState
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.worker.leaving.lifecycle import Lifecycle
from tidegate.worker.leaving.shield import Shield
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import unless

__all__ = ["Retirement"]

logger = logging.getLogger(__name__)


class Retirement:
    """`run` is its task, until the worker leaves for good. `settled` waits until nothing is held any more.

    The process stays when it has drained: a platform that still wants it would start another in its place. So it waits
    unprotected, and when it is taken back it is capacity without any start-up time.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        slots: Slots,
        settled: Callable[[], Coroutine[Any, Any, None]],
        shield: Shield,
    ) -> None:
        self._lifecycle = lifecycle
        self._slots = slots
        self._settled = settled
        self._shield = shield

    async def run(self) -> None:
        """Drains when told to, comes back when told to, for ever."""
        while True:
            await self._lifecycle.retired.wait()
            await self._drain()
            await self._lifecycle.working.wait()
            await self._come_back()

    async def _drain(self) -> None:
        self._slots.pause()
        logger.info("worker takes no more work (%s), %d busy", self._lifecycle.reason, self._slots.busy)
        self._lifecycle.advance(WorkerState.RETIRING)
        for step, state in ((self._slots.no_poll_out, WorkerState.DRAINING), (self._let_go, WorkerState.RELEASED)):
            await unless(self._lifecycle.working, step())
            if self._lifecycle.working.is_set():
                return
            self._lifecycle.advance(state)
        logger.info("worker holds nothing any more (%s)", self._lifecycle.reason)

    async def _let_go(self) -> None:
        """What has not ended when every lease has holds nothing: it may be stopped, and none need wait for it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_LEASE_S):
                await self._settled()
        if self._slots.busy:
            logger.error(
                "%d handlers have not ended within 12 hours: their messages are others' by now, and the platform may "
                "take this worker",
                self._slots.busy,
            )
        await self._shield.drop()

    async def _come_back(self) -> None:
        """Protected first: from the next poll on there may be something to protect."""
        await self._shield.hold()
        self._slots.resume()
        self._lifecycle.advance(WorkerState.RUNNING)
        logger.info("worker takes work again")
