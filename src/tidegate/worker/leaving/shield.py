"""Keeps the platform from choosing this worker for scale-in or a deployment, from before its first receive on."""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Final

from tidegate.errors import Blocked, CloudError, Denied, Gone, Invalid, Throttled, Unreachable
from tidegate.ports import ScaleInProtection
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.waiting import answered_within, happens_within

__all__ = ["HOLD_S", "RENEW_S", "Shield"]

HOLD_S: Final = 600.0
"""How long each protection lasts: a worker that hangs holds up a deployment for no longer than this."""

RENEW_S: Final = 240.0
"""Well before the end, and seldom: each renewal is a call that the account's rate limit counts."""

_PATIENCE_S: Final = 3.0
"""How long a worker waits for its protection before it works without: retries that took longer have stalled others."""

_CALL_S: Final = 2.0
_RETRY_BASE_S: Final = 0.5
_RETRY_CAP_S: Final = 10.0
_BLOCKED_RETRY_S: Final = 10.0
_REFUSED_RETRY_S: Final = 300.0

logger = logging.getLogger(__name__)


class Shield:
    """`run` is its task: it renews, and asks again for what was not given. `protection` None: nothing to ask.

    Nothing here ends a worker: one without protection works all the same, and reports that it has none.
    """

    def __init__(self, protection: ScaleInProtection | None, clock: Callable[[], float], random: Random) -> None:
        self._protection = protection
        self._clock = clock
        self._random = random
        self._wanted = False
        self._until_s = -math.inf
        self._given = False
        """Whether the platform may have given protection: a call without an answer may have been heard all the same."""
        self._due_s = math.inf
        self._failures = 0
        self._said: type[CloudError] | None = None
        self._changed = asyncio.Event()

    @property
    def protected(self) -> bool:
        """Whether the platform spares this worker now, as far as it has said so."""
        return self._until_s > self._clock()

    async def hold(self) -> None:
        """Ask for protection and wait for it, three seconds at most; from then on it is `run`'s to get and to keep."""
        self._wanted = True
        await self._ask_until(lambda: self.protected)

    async def drop(self) -> None:
        """Let the platform have the worker. What can't be dropped ends by itself within ten minutes."""
        self._wanted = False
        if self._given:
            await self._ask_until(lambda: not self._given)

    async def run(self) -> None:
        """Never ends."""
        while True:
            self._changed.clear()
            if self._wanted and self._clock() >= self._due_s:
                await self._ask()
            await happens_within(self._changed, self._wait_s())

    def _wait_s(self) -> float:
        """Not for ever: looptime and real clocks alike can sleep an hour and look again."""
        return min(3600.0, max(0.0, self._due_s - self._clock())) if self._wanted else 3600.0

    async def _ask_until(self, done: Callable[[], bool]) -> None:
        give_up_s = self._clock() + _PATIENCE_S
        while self._protection is not None and not done():
            passing = await self._ask()
            if not passing or self._clock() + self._pause_s() > give_up_s:
                break
            await asyncio.sleep(self._pause_s())
        self._changed.set()

    def _pause_s(self) -> float:
        return max(0.0, self._due_s - self._clock())

    async def _ask(self) -> bool:
        """One call; true when it failed with something that passes within seconds."""
        if self._protection is None:
            return False
        wanted, asked_at_s = self._wanted, self._clock()
        before, self._given = self._given, self._given or wanted
        try:
            async with answered_within(_CALL_S, "protection", "this worker"):
                await self._protection.set_protected(wanted, HOLD_S)
        except CloudError as error:
            if not isinstance(error, Unreachable):
                self._given = before
            return self._failed(error)
        self._given = wanted
        self._until_s = asked_at_s + HOLD_S if wanted else -math.inf
        self._due_s = asked_at_s + RENEW_S if wanted else math.inf
        self._failures, self._said = 0, None
        return False

    def _failed(self, error: CloudError) -> bool:
        self._failures += 1
        passing = isinstance(error, Throttled | Unreachable)
        wait_s = _REFUSED_RETRY_S
        if passing:
            wait_s = full_jitter_s(self._failures, _RETRY_BASE_S, _RETRY_CAP_S, self._random)
        elif isinstance(error, Blocked):
            wait_s = _BLOCKED_RETRY_S
        elif isinstance(error, Gone):
            wait_s = math.inf  # no task of a service: nobody chooses it, and nobody can protect it
        self._due_s = self._clock() + wait_s
        if type(error) is not self._said:
            self._said = type(error)
            level = logging.ERROR if isinstance(error, Denied | Invalid) else logging.WARNING
            logger.log(level, "working without protection against scale-in for now: %s", error)
        return passing
