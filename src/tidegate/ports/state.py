"""Where a pool's state lives between ticks."""

from dataclasses import dataclass, field
from typing import Protocol

from tidegate.core.model import PoolState

__all__ = ["StateStore", "StoredState"]


@dataclass(frozen=True, slots=True)
class StoredState:
    """A pool's state and the version that a save must name; version 0 is "never saved"."""

    state: PoolState = field(default_factory=PoolState)
    version: int = 0


class StateStore(Protocol):
    """Pool state under a version: two writers never overwrite each other unseen."""

    def load(self, pool: str) -> StoredState:
        """Raises StateUnreadable when what is stored has another schema or is damaged."""
        ...

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """The new version. Raises StateConflict when the stored version is not `expected_version`."""
        ...
