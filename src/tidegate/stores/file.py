"""State and heartbeats in a directory, for a controller and workers on one machine.

::

    DIRECTORY/<pool>.pool/state.json             {"version": 7, "state": {…PoolState…}}
    DIRECTORY/<pool>.pool/directive.json         {…Directive…}
    DIRECTORY/<pool>.pool/workers/<id>.json      {"expires_at_s": 1700000030.0, "report": {…WorkerReport…}}
    DIRECTORY/<pool>.pool/messages/<id>.json     {"expires_at_s": …, "note": {…MessageNote…}}, see `notes`
    DIRECTORY/<pool>.pool/permits.json           {"version": 7, "permits": {…Permits…}}, see `permits`
    DIRECTORY/<pool>.pool/lock                   held (flock) while anything in the pool's directory is changed

Names are percent-encoded: a worker's id may be an ARN. A file is written beside its place and moved into it: a writer
that dies in the middle leaves the old one whole, and a reader always finds a whole one. So reading needs no lock and
changes nothing, not even a directory that is not there yet: a dry run may look, and so may a user who may not write.
"""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from tidegate.core.directive import Directive
from tidegate.core.model import PoolState
from tidegate.core.reports import WorkerReport
from tidegate.core.stored.codec import to_json
from tidegate.errors import StateConflict, StateUnreadable
from tidegate.ports import StoredState
from tidegate.stores.on_disk import (
    HALF_WRITTEN,
    decode,
    field_of,
    file_name,
    locked,
    pool_place,
    read_json,
    replace_file,
    using,
)

__all__ = ["FileStore"]

T = TypeVar("T")


class FileStore:
    """Implements `ports.StateStore`, `FleetReader`, `DirectiveWriter` and `HeartbeatSink`; safe with several processes.

    The lock is the kernel's, so it goes with the process that held it, however that ends. It holds on one machine:
    don't put the directory on a network file system. Every method raises Denied when the directory may not be used,
    and Unreachable when the disk fails or is full.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        # One thread: a report whose worker no longer waits for it must not be written after the one that followed it.
        self._reports = ThreadPoolExecutor(1, "tidegate-reports")

    def load(self, pool: str) -> StoredState:
        """Raises StateUnreadable when the file is damaged or of another schema."""
        place = self._place(pool)
        with using(place):
            return _load(pool, place)

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """The new version. Raises StateConflict when the stored version is not `expected_version`."""
        with self._locked(pool) as place:
            if _load_version(pool, place) != expected_version:
                raise StateConflict(pool, expected_version)
            version = expected_version + 1
            replace_file(place / "state.json", f'{{"version": {version}, "state": {to_json(state)}}}\n', durable=True)
        return version

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        """In the order of their ids; expired reports are left out. Raises StateUnreadable."""
        place = self._place(pool)
        with using(place):
            live = [one for path in _reports(place) if (one := _live_report(pool, path, now_s))]
        return tuple(sorted(live, key=lambda report: report.worker_id))

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        """The worker's newest report replaces the one before, and what had expired when it was made is removed.

        Runs in a thread: the loop keeps leases meanwhile.
        """
        await asyncio.get_running_loop().run_in_executor(self._reports, self._put, pool, report, expires_at_s)

    def direct(self, pool: str, directive: Directive) -> None:
        """The newest directive replaces the one before."""
        with self._locked(pool) as place:
            # What a power cut takes away is written again at the next tick.
            replace_file(place / "directive.json", to_json(directive) + "\n", durable=False)

    async def directive(self, pool: str) -> Directive:
        """An empty one when none was written. Raises StateUnreadable. Runs in a thread, as `put`."""
        return await asyncio.to_thread(self._directive, pool)

    async def close(self) -> None:
        """Lets go of the thread; no file stays open between calls."""
        self._reports.shutdown(wait=False)

    def _put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        text = f'{{"expires_at_s": {json.dumps(float(expires_at_s))}, "report": {to_json(report)}}}\n'
        with self._locked(pool) as place:
            # A heartbeat that a power cut takes away is stale by then, so it need not be on the disk.
            replace_file(place / "workers" / f"{file_name(report.worker_id)}.json", text, durable=False)
            _remove_expired(place, report.reported_at_s)

    def _directive(self, pool: str) -> Directive:
        what, place = f"directive of pool {pool}", self._place(pool)
        with using(place):
            data = read_json(what, place / "directive.json")
        return Directive() if data is None else decode(what, Directive, data)

    def _place(self, pool: str) -> Path:
        return pool_place(self._directory, pool)

    @contextmanager
    def _locked(self, pool: str) -> Iterator[Path]:
        place = self._place(pool)
        with locked(place, "workers"):
            yield place


def _load(pool: str, place: Path) -> StoredState:
    what = f"state of pool {pool}"
    data = read_json(what, place / "state.json")
    if data is None:
        return StoredState()
    version = field_of(what, data, "version", int)
    return StoredState(decode(what, PoolState, field_of(what, data, "state", dict)), version)


def _load_version(pool: str, place: Path) -> int:
    what = f"state of pool {pool}"
    data = read_json(what, place / "state.json")
    return 0 if data is None else field_of(what, data, "version", int)


def _reports(place: Path, ending: str = ".json") -> list[Path]:
    """The report files, none when no worker has ever reported; whatever else is in the directory is not ours.

    Not by `Path.glob`, which takes a directory that may not be read for an empty one.
    """
    try:
        return [path for path in (place / "workers").iterdir() if path.name.endswith(ending)]
    except FileNotFoundError:
        return []


def _live_report(pool: str, path: Path, now_s: float) -> WorkerReport | None:
    """None when it has expired, or was removed since the directory was listed."""
    what = f"report {path.name} in pool {pool}"
    data = read_json(what, path)
    if data is None or field_of(what, data, "expires_at_s", float) <= now_s:
        return None
    return decode(what, WorkerReport, field_of(what, data, "report", dict))


def _remove_expired(place: Path, now_s: float) -> None:
    """With the lock held, hence nobody is writing what is half written. What can't be read is for readers to say."""
    for half_written in _reports(place, HALF_WRITTEN):
        half_written.unlink()
    for path in _reports(place):
        with suppress(StateUnreadable):
            data = read_json(path.name, path) or {}
            if field_of(path.name, data, "expires_at_s", float) <= now_s:
                path.unlink()
