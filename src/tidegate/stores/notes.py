"""Notes of messages in memory and in files, for one process and for one machine."""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from tidegate.core.stored.codec import to_json
from tidegate.core.workers.poison import NOTE_KEPT_S, MessageNote, alone_since, ended_at
from tidegate.errors import StateUnreadable
from tidegate.stores.on_disk import decode, field_of, file_name, locked, pool_place, read_json, replace_file, using

__all__ = ["FileNotes", "MemoryNotes"]

_FOLDER: Final = "messages"


class MemoryNotes:
    """Implements `ports.MessageNotes`. What has expired stays: a process does not outlive many messages."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: dict[tuple[str, str], MessageNote] = {}

    async def note(self, pool: str, message_id: str) -> MessageNote:
        with self._lock:
            return self._notes.get((pool, message_id), MessageNote())

    async def begins_alone(self, pool: str, message_id: str, receive: int, worker_id: str, expires_at_s: float) -> None:
        with self._lock:
            before = self._notes.get((pool, message_id), MessageNote())
            self._notes[pool, message_id] = alone_since(before, receive, worker_id)

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        with self._lock:
            before = self._notes.get((pool, message_id), MessageNote())
            self._notes[pool, message_id] = ended_at(before, receive, spared=spared)

    async def close(self) -> None:
        """Nothing to close."""


class FileNotes:
    """Implements `ports.MessageNotes`, beside what `FileStore` keeps in the same directory; raises as that does.

    Each call runs in a thread: the loop keeps leases meanwhile. What has expired is removed when a run alone begins,
    which is rare.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def note(self, pool: str, message_id: str) -> MessageNote:
        """Raises StateUnreadable when the file is damaged."""
        return await asyncio.to_thread(self._note, pool, message_id)

    async def begins_alone(self, pool: str, message_id: str, receive: int, worker_id: str, expires_at_s: float) -> None:
        def begun(note: MessageNote) -> MessageNote:
            return alone_since(note, receive, worker_id)

        await asyncio.to_thread(self._change, pool, message_id, begun, expires_at_s)
        await asyncio.to_thread(self._remove_expired, pool, expires_at_s - NOTE_KEPT_S)

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        def over(note: MessageNote) -> MessageNote:
            return ended_at(note, receive, spared=spared)

        await asyncio.to_thread(self._change, pool, message_id, over, expires_at_s)

    async def close(self) -> None:
        """Nothing to close: no file stays open between calls."""

    def _folder(self, pool: str) -> Path:
        return pool_place(self._directory, pool) / _FOLDER

    def _note(self, pool: str, message_id: str) -> MessageNote:
        what, path = (
            f"note of message {message_id} in pool {pool}",
            self._folder(pool) / f"{file_name(message_id)}.json",
        )
        with using(path):
            data = read_json(what, path)
        return MessageNote() if data is None else decode(what, MessageNote, field_of(what, data, "note", dict))

    def _change(
        self, pool: str, message_id: str, changed: Callable[[MessageNote], MessageNote], expires_at_s: float
    ) -> None:
        with locked(pool_place(self._directory, pool), _FOLDER):
            note = changed(self._note(pool, message_id))
            text = f'{{"expires_at_s": {json.dumps(float(expires_at_s))}, "note": {to_json(note)}}}\n'
            replace_file(self._folder(pool) / f"{file_name(message_id)}.json", text, durable=False)

    def _remove_expired(self, pool: str, now_s: float) -> None:
        with locked(pool_place(self._directory, pool), _FOLDER):
            for path in self._folder(pool).glob("*.json"):
                with suppress(StateUnreadable):  # what can't be read is for readers to say
                    data = read_json(path.name, path) or {}
                    if field_of(path.name, data, "expires_at_s", float) <= now_s:
                        path.unlink()
