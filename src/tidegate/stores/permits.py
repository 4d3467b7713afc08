"""A pool's permits in memory and in a file, for one process and for one machine."""

import asyncio
import threading
from pathlib import Path

from tidegate.core.stored.codec import from_json, to_json
from tidegate.core.workers.permits import Permits
from tidegate.errors import StateUnreadable
from tidegate.ports import StoredPermits
from tidegate.stores.on_disk import decode, field_of, locked, pool_place, read_json, replace_file, using

__all__ = ["FilePermits", "MemoryPermits"]


class MemoryPermits:
    """Implements `ports.PermitStore`; keeps JSON, as the stores that outlive the process do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: dict[str, tuple[str, int]] = {}

    async def permits(self, pool: str) -> StoredPermits:
        with self._lock:
            found = self._texts.get(pool)
        if found is None:
            return StoredPermits()
        text, version = found
        try:
            return StoredPermits(from_json(Permits, text), version)
        except StateUnreadable as error:
            raise StateUnreadable(_what(pool), error.detail) from error

    async def replace(self, pool: str, permits: Permits, expected_version: int, expires_at_s: float) -> bool:
        text = to_json(permits)
        with self._lock:
            _, version = self._texts.get(pool, ("", 0))
            if version != expected_version:
                return False
            self._texts[pool] = (text, version + 1)
        return True

    async def close(self) -> None:
        """Nothing to close."""


class FilePermits:
    """Implements `ports.PermitStore`, beside what `FileStore` keeps in the same directory; raises as that does.

    Each call runs in a thread: the loop keeps leases meanwhile.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def permits(self, pool: str) -> StoredPermits:
        """Raises StateUnreadable when the file is damaged or of another schema."""
        return await asyncio.to_thread(self._permits, pool)

    async def replace(self, pool: str, permits: Permits, expected_version: int, expires_at_s: float) -> bool:
        """Raises as `permits`."""
        return await asyncio.to_thread(self._replace, pool, permits, expected_version)

    async def close(self) -> None:
        """Nothing to close: no file stays open between calls."""

    def _path(self, pool: str) -> Path:
        return pool_place(self._directory, pool) / "permits.json"

    def _permits(self, pool: str) -> StoredPermits:
        what, path = _what(pool), self._path(pool)
        with using(path):
            data = read_json(what, path)
        if data is None:
            return StoredPermits()
        permits = decode(what, Permits, field_of(what, data, "permits", dict))
        return StoredPermits(permits, field_of(what, data, "version", int))

    def _replace(self, pool: str, permits: Permits, expected_version: int) -> bool:
        path = self._path(pool)
        with locked(path.parent, ""):
            if self._permits(pool).version != expected_version:
                return False
            # What a power cut takes away has lapsed by the time that anybody is back.
            text = f'{{"version": {expected_version + 1}, "permits": {to_json(permits)}}}\n'
            replace_file(path, text, durable=False)
        return True


def _what(pool: str) -> str:
    return f"permits of pool {pool}"
