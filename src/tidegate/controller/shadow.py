"""A dry run's memory: it learns from tick to tick as the real one does, and leaves what is stored alone."""

from dataclasses import replace

from tidegate.core.model import PoolState
from tidegate.errors import StateConflict
from tidegate.ports import StateStore, StoredState

__all__ = ["ShadowStore"]


class ShadowStore:
    """Begins with what `stored` holds and keeps every change to itself.

    Without it a dry run would forget each tick at once: no arrivals to reckon from, no hold time ever watched through.
    An operator's override is read through at each load, so that freezing a pool shows in its dry run too.
    """

    def __init__(self, stored: StateStore) -> None:
        self._stored = stored
        self._own: dict[str, StoredState] = {}

    def load(self, pool: str) -> StoredState:
        """As `StateStore.load`."""
        stored = self._stored.load(pool)
        own = self._own.get(pool, stored)
        return replace(own, state=replace(own.state, override=stored.state.override))

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """As `StateStore.save`, in memory only."""
        known = self._own.get(pool)
        if known is not None and known.version != expected_version:
            raise StateConflict(pool, expected_version)
        # Nothing was asked for, so that nobody who sets the count meanwhile is taken for somebody who undoes it.
        self._own[pool] = StoredState(replace(state, desired=None), expected_version + 1)
        return expected_version + 1
