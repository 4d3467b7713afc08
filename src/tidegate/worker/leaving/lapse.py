"""Without a fleet table nobody retires a worker: so that a deployment gets through, it gives its protection up itself.

A busy worker is never idle, and a protected task is never replaced. So from time to time it takes no more work until it
holds nothing, gives its protection up for a moment, and goes on if it is still there.
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection.html
"""

import asyncio
from collections.abc import Callable
from typing import Final

from tidegate.worker.backoff import Random
from tidegate.worker.leaving.lifecycle import Lifecycle, Why

__all__ = ["EVERY_S", "FOR_S", "Lapse"]

EVERY_S: Final = 300.0
FOR_S: Final = 10.0
"""How fast ECS takes a task that is no longer protected is not documented; this is a guess (unverified)."""

_SHARE: Final = 10.0
"""Draining long jobs leaves slots empty. At least ten times as long passes between two lapses as the last one took."""


class Lapse:
    """`run` is its task. The times differ from worker to worker, so that a service never lapses as a whole."""

    def __init__(self, lifecycle: Lifecycle, clock: Callable[[], float], random: Random) -> None:
        self._lifecycle = lifecycle
        self._clock = clock
        self._random = random

    async def run(self) -> None:
        """Works for a while, lets go, works on; for ever."""
        took_s = 0.0
        while True:
            await asyncio.sleep(max(EVERY_S, _SHARE * took_s) * (0.75 + self._random() / 2))
            began_s = self._clock()
            self._lifecycle.retire(Why.LAPSE)
            await self._lifecycle.released.wait()
            await asyncio.sleep(FOR_S)
            self._lifecycle.take_back(Why.LAPSE)
            took_s = self._clock() - began_s
