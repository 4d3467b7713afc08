"""What goes on beside the handlers, each thing about one load: and when one breaks, the worker leaves, loudly."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from tidegate.worker.jobs.waiting_room import Load

__all__ = ["Followers"]

logger = logging.getLogger(__name__)


class Followers:
    """Tasks that settle messages. Lives on the SDK's loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def broken(self) -> None:
        """Ends only when a message could not be settled, with what that raised: a fault of ours, not of a handler."""
        await self._broken

    def start(self, work: Coroutine[Any, Any, None], load: Load, name: str) -> None:
        """Goes on by itself; what it raises is the end of the worker."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._done(task, load))

    def unsettled(self, load: Load, fault: BaseException) -> None:
        """A job that nobody follows any longer must not keep its lease, which would be extended for hours."""
        for hand in load.hands:
            logger.error(
                "message %s could not be settled (%s): it is released, and the worker leaves",
                hand.message.id,
                type(fault).__qualname__,
            )
            hand.give_back(0)
        self.break_off(fault)

    def break_off(self, fault: BaseException) -> None:
        """The worker can't go on."""
        if not self._broken.done():
            self._broken.set_exception(fault)

    def close(self) -> None:
        """Nobody waits for them any longer."""
        for task in self._tasks:
            task.cancel()

    def _done(self, task: asyncio.Task[None], load: Load) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.unsettled(load, fault)
