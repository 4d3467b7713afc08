"""State and heartbeats in a directory, for a controller and workers on one machine.

::

    DIRECTORY/<pool>.pool/state.json             {"version": 7, "state": {…PoolState…}}
    DIRECTORY/<pool>.pool/directive.json         {…Directive…}
    DIRECTORY/<pool>.pool/workers/<id>.json      {"expires_at_s": 1700000030.0, "report": {…WorkerReport…}}
    DIRECTORY/<pool>.pool/lock                   held (flock) while anything in the pool's directory is changed

Names are percent-encoded: a worker's id may be an ARN. A file is written beside its place and moved into it: a writer
that dies in the middle leaves the old one whole, and a reader always finds a whole one. So reading needs no lock and
changes nothing, not even a directory that is not there yet: a dry run may look, and so may a user who may not write.
"""

import asyncio
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from tidegate.core.codec import from_json, to_json
from tidegate.core.directive import Directive
from tidegate.core.model import PoolState
from tidegate.core.reports import WorkerReport
from tidegate.errors import Denied, StateConflict, StateUnreadable, Unreachable
from tidegate.ports import StoredState

__all__ = ["FileStore"]

T = TypeVar("T")

_HALF_WRITTEN: Final = ".new"


class FileStore:
    """Implements `ports.StateStore`, `FleetReader`, `DirectiveWriter` and `HeartbeatSink`; safe with several processes.

    The lock is the kernel's, so it goes with the process that held it, however that ends. It holds on one machine:
    don't put the directory on a network file system. Every method raises Denied when the directory may not be used,
    and Unreachable when the disk fails or is full.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def load(self, pool: str) -> StoredState:
        """Raises StateUnreadable when the file is damaged or of another schema."""
        place = self._place(pool)
        with _using(place):
            return _load(pool, place)

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """The new version. Raises StateConflict when the stored version is not `expected_version`."""
        with self._locked(pool) as place:
            if _load_version(pool, place) != expected_version:
                raise StateConflict(pool, expected_version)
            version = expected_version + 1
            _replace(place / "state.json", f'{{"version": {version}, "state": {to_json(state)}}}\n', durable=True)
        return version

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        """In the order of their ids; expired reports are left out. Raises StateUnreadable."""
        place = self._place(pool)
        with _using(place):
            live = [one for path in _reports(place) if (one := _live_report(pool, path, now_s))]
        return tuple(sorted(live, key=lambda report: report.worker_id))

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        """The worker's newest report replaces the one before, and what had expired when it was made is removed.

        Runs in a thread: the loop keeps leases meanwhile.
        """
        await asyncio.to_thread(self._put, pool, report, expires_at_s)

    def direct(self, pool: str, directive: Directive) -> None:
        """The newest directive replaces the one before."""
        with self._locked(pool) as place:
            # What a power cut takes away is written again at the next tick.
            _replace(place / "directive.json", to_json(directive) + "\n", durable=False)

    async def directive(self, pool: str) -> Directive:
        """An empty one when none was written. Raises StateUnreadable. Runs in a thread, as `put`."""
        return await asyncio.to_thread(self._directive, pool)

    async def close(self) -> None:
        """Nothing to close: no file stays open between calls."""

    def _put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        text = f'{{"expires_at_s": {json.dumps(float(expires_at_s))}, "report": {to_json(report)}}}\n'
        with self._locked(pool) as place:
            # A heartbeat that a power cut takes away is stale by then, so it need not be on the disk.
            _replace(place / "workers" / f"{_file_name(report.worker_id)}.json", text, durable=False)
            _remove_expired(place, report.reported_at_s)

    def _directive(self, pool: str) -> Directive:
        what, place = f"directive of pool {pool}", self._place(pool)
        with _using(place):
            data = _read(what, place / "directive.json")
        return Directive() if data is None else _decode(what, Directive, data)

    def _place(self, pool: str) -> Path:
        return self._directory / f"{_file_name(pool)}.pool"

    @contextmanager
    def _locked(self, pool: str) -> Iterator[Path]:
        place = self._place(pool)
        with _using(place):
            (place / "workers").mkdir(parents=True, exist_ok=True)
            with (place / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file closes
                yield place


@contextmanager
def _using(place: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        fix = "let the user that tidegate runs as use it, or choose another directory"
        raise Denied("file:access", str(place), str(error), fix) from error
    except OSError as error:
        raise Unreachable("file:access", str(place), str(error), "check the directory and its disk") from error


def _load(pool: str, place: Path) -> StoredState:
    what = f"state of pool {pool}"
    data = _read(what, place / "state.json")
    if data is None:
        return StoredState()
    version = _field(what, data, "version", int)
    return StoredState(_decode(what, PoolState, _field(what, data, "state", dict)), version)


def _load_version(pool: str, place: Path) -> int:
    what = f"state of pool {pool}"
    data = _read(what, place / "state.json")
    return 0 if data is None else _field(what, data, "version", int)


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
    data = _read(what, path)
    if data is None or _field(what, data, "expires_at_s", float) <= now_s:
        return None
    return _decode(what, WorkerReport, _field(what, data, "report", dict))


def _remove_expired(place: Path, now_s: float) -> None:
    """With the lock held, hence nobody is writing what is half written. What can't be read is for readers to say."""
    for half_written in _reports(place, _HALF_WRITTEN):
        half_written.unlink()
    for path in _reports(place):
        with suppress(StateUnreadable):
            data = _read(path.name, path) or {}
            if _field(path.name, data, "expires_at_s", float) <= now_s:
                path.unlink()


def _read(what: str, path: Path) -> dict[str, Any] | None:
    """None when there is no such file."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise StateUnreadable(what, f"{path} is not JSON ({error})") from error
    if not isinstance(data, dict):
        raise StateUnreadable(what, f"{path} is not a JSON object")
    return data


def _field(what: str, data: dict[str, Any], name: str, kind: type[T]) -> T:
    value = data.get(name)
    if not isinstance(value, kind):
        raise StateUnreadable(what, f"`{name}` is {type(value).__name__}, not {kind.__name__}")
    return value


def _decode(what: str, kind: type[T], data: dict[str, Any]) -> T:
    try:
        return from_json(kind, json.dumps(data))
    except StateUnreadable as error:
        raise StateUnreadable(what, error.detail) from error


def _replace(path: Path, text: str, *, durable: bool) -> None:
    half_written = path.with_name(path.name + _HALF_WRITTEN)
    with half_written.open("w") as file:
        file.write(text)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    half_written.replace(path)


def _file_name(name: str) -> str:
    return quote(name, safe="")
