"""A platform that spares workers from scale-in, or refuses to."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from tidegate.errors import TidegateError

__all__ = ["FakeProtection"]


@dataclass
class FakeProtection:
    """Implements `ports.ScaleInProtection`: keeps what it was asked, raises the next of `errors` while there is one."""

    errors: deque[TidegateError] = field(default_factory=deque)
    asked: list[tuple[float, bool]] = field(default_factory=list)
    """(when, on the loop's clock; protected or not), refused ones too, oldest first."""
    protected_until_s: float = 0.0

    async def set_protected(self, protected: bool, for_s: float) -> None:
        now_s = asyncio.get_running_loop().time()
        self.asked.append((now_s, protected))
        if self.errors:
            raise self.errors.popleft()
        self.protected_until_s = now_s + for_s if protected else 0.0
