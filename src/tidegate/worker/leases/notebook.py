"""What a worker writes into the fleet's notes of messages, and reads there: never in the way of work."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from tidegate.core.workers.poison import NOTE_KEPT_S, MessageNote
from tidegate.errors import TidegateError
from tidegate.ports import MessageNotes
from tidegate.worker.message import Message
from tidegate.worker.waiting import answered_within

__all__ = ["Notebook"]

_CALLS_AT_ONCE: Final = 10
_CALL_S: Final = 2.0
_MOST_OPEN: Final = 1_000

logger = logging.getLogger(__name__)


class Notebook:
    """`notes` None: the fleet has no table, so nothing is known and nothing kept. `wall` is the time of day.

    What can't be written or read in time is as if it had never been: at worst a message runs alone once more.
    """

    def __init__(self, notes: MessageNotes | None, pool: str, worker_id: str, wall: Callable[[], float]) -> None:
        self._notes = notes
        self._pool = pool
        self._worker_id = worker_id
        self._wall = wall
        self._lanes = asyncio.Semaphore(_CALLS_AT_ONCE)
        self._writes: set[asyncio.Task[None]] = set()

    @property
    def kept(self) -> bool:
        """Whether there are notes at all."""
        return self._notes is not None

    def ended(self, message: Message, *, spared: bool) -> None:
        """Written in the background, so that no handler and no lease waits for it."""
        if self._notes is None:
            return
        if len(self._writes) >= _MOST_OPEN:
            logger.warning(
                "notes of %d messages wait already: how message %s ended is not noted", _MOST_OPEN, message.id
            )
            return
        write = asyncio.create_task(self._ended(self._notes, message, spared), name="tidegate-note")
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)

    async def begins_alone(self, message: Message) -> None:
        """Returns when it is written, or could not be."""
        if self._notes is None:
            return
        arguments = (self._pool, message.id, message.receive_count, self._worker_id, self._wall() + NOTE_KEPT_S)
        try:
            async with answered_within(_CALL_S, "writing a note", message.id):
                await self._notes.begins_alone(*arguments)
        except (TidegateError, OSError) as error:
            logger.warning("could not note that message %s begins to run alone: %s", message.id, error)

    async def note(self, message: Message) -> MessageNote | None:
        """None when nothing can be known just now."""
        if self._notes is None:
            return None
        try:
            async with answered_within(_CALL_S, "reading a note", message.id):
                return await self._notes.note(self._pool, message.id)
        except (TidegateError, OSError) as error:
            logger.warning("could not read what the fleet knows of message %s: %s", message.id, error)
            return None

    async def flushed(self) -> None:
        """Waits until everything is written or given up."""
        while self._writes:
            await asyncio.wait(self._writes)

    async def _ended(self, notes: MessageNotes, message: Message, spared: bool) -> None:
        try:
            async with self._lanes, answered_within(_CALL_S, "writing a note", message.id):
                expires_at_s = self._wall() + NOTE_KEPT_S
                await notes.ended(self._pool, message.id, message.receive_count, expires_at_s, spared=spared)
        except (TidegateError, OSError) as error:
            logger.warning("could not note how message %s ended: %s", message.id, error)
