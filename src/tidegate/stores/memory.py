"""State and heartbeats in memory: for one process, for trying things out and for tests."""

import threading

from tidegate.core.directive import Directive
from tidegate.core.model import PoolState
from tidegate.core.reports import WorkerReport
from tidegate.core.stored.codec import from_json, to_json
from tidegate.errors import StateConflict, StateUnreadable
from tidegate.ports import StoredState

__all__ = ["MemoryStore"]


class MemoryStore:
    """Implements `ports.StateStore`, `FleetReader`, `DirectiveWriter` and `HeartbeatSink`; safe between threads.

    It keeps JSON, as the stores that outlive the process do: what can't be stored there can't be stored here.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[str, tuple[str, int]] = {}
        self._reports: dict[tuple[str, str], tuple[str, float]] = {}
        self._directives: dict[str, str] = {}

    def load(self, pool: str) -> StoredState:
        """Raises StateUnreadable when the state was written by another schema."""
        with self._lock:
            found = self._states.get(pool)
        if found is None:
            return StoredState()
        text, version = found
        try:
            return StoredState(from_json(PoolState, text), version)
        except StateUnreadable as error:
            raise StateUnreadable(f"state of pool {pool}", error.detail) from error

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """The new version. Raises StateConflict when the stored version is not `expected_version`."""
        text = to_json(state)
        with self._lock:
            _, version = self._states.get(pool, ("", 0))
            if version != expected_version:
                raise StateConflict(pool, expected_version)
            self._states[pool] = (text, version + 1)
        return version + 1

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        """In the order of their ids; what has expired by `now_s` is left out. Raises StateUnreadable."""
        with self._lock:
            found = sorted((key[1], text, until_s) for key, (text, until_s) in self._reports.items() if key[0] == pool)
        return tuple(_report(pool, worker, text) for worker, text, until_s in found if until_s > now_s)

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        """The worker's newest report replaces the one before."""
        with self._lock:
            self._reports[pool, report.worker_id] = (to_json(report), expires_at_s)

    def direct(self, pool: str, directive: Directive) -> None:
        """The newest directive replaces the one before."""
        text = to_json(directive)
        with self._lock:
            self._directives[pool] = text

    async def directive(self, pool: str) -> Directive:
        """An empty one when none was written. Raises StateUnreadable."""
        with self._lock:
            text = self._directives.get(pool)
        if text is None:
            return Directive()
        try:
            return from_json(Directive, text)
        except StateUnreadable as error:
            raise StateUnreadable(f"directive of pool {pool}", error.detail) from error

    async def close(self) -> None:
        """Nothing to close."""


def _report(pool: str, worker: str, text: str) -> WorkerReport:
    try:
        return from_json(WorkerReport, text)
    except StateUnreadable as error:
        raise StateUnreadable(f"report of worker {worker} in pool {pool}", error.detail) from error
