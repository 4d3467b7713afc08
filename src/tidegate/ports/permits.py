"""Where a pool's permits are kept: one value under a version, which every worker may replace."""

from dataclasses import dataclass, field
from typing import Protocol

from tidegate.core.workers.permits import Permits

__all__ = ["PermitStore", "StoredPermits"]


@dataclass(frozen=True, slots=True)
class StoredPermits:
    """The permits of a pool and the version that they were read at; nothing at version 0 where none were written."""

    permits: Permits = field(default_factory=Permits)
    version: int = 0


class PermitStore(Protocol):
    """`core.workers.permits` says what is written here."""

    async def permits(self, pool: str) -> StoredPermits:
        """As they stand now: a consistent read. Raises StateUnreadable when they are damaged or of another schema."""
        ...

    async def replace(self, pool: str, permits: Permits, expected_version: int, expires_at_s: float) -> bool:
        """False when the stored version is not `expected_version` any more: nothing was written, read again.

        A write whose answer was lost may also end so: what is read then holds it. `expires_at_s` is a time of day
        from which on nobody needs them.
        """
        ...

    async def close(self) -> None: ...
