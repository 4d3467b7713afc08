"""One poll: asks a queue, watches for the answer, and says which failures end a worker."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from tidegate.errors import CloudError, Denied, Gone, Invalid
from tidegate.ports import Received
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.leases.lane import Lane
from tidegate.worker.receive.poll_watch import PollWatch

__all__ = ["Poller"]

_RETRY_BASE_S: Final = 0.5
_RETRY_CAP_S: Final = 20.0
_REFUSALS: Final = (Denied, Gone, Invalid)

logger = logging.getLogger(__name__)


class Poller:
    """Polls of one lane. One that nobody has reached yet may be unreachable for `patience_s`; inf: it was reached."""

    def __init__(self, lane: Lane, patience_s: float, clock: Callable[[], float], random: Random) -> None:
        self.lane = lane
        self._clock = clock
        self._random = random
        self._hopeless_from_s = clock() + patience_s
        self._answered = False
        self._failures = 0

    async def ask(self, limit: int, wait_s: int) -> tuple[list[Received], float]:
        """What came, and the earliest time at which SQS can have handed it out. Raises CloudError."""
        look_s = self.lane.book.look_s
        watch = PollWatch(self._clock(), wait_s, look_s)
        asking = asyncio.create_task(
            self.lane.queue.receive(limit, wait_s, self.lane.book.visibility_s), name="tidegate-poll"
        )
        try:
            while not (await asyncio.wait({asking}, timeout=look_s))[0]:
                watch.not_back(self._clock())
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking})
        received = asking.result()
        self._answered = True
        self._failures = 0
        return received, watch.handed_out_s()

    def is_hopeless(self, error: CloudError) -> bool:
        """True when a worker that never had an answer should not go on asking."""
        if self._answered:
            return False
        return isinstance(error, _REFUSALS) or self._clock() >= self._hopeless_from_s

    def failed(self, error: CloudError) -> float:
        """Seconds to wait before the next poll."""
        self._failures += 1
        delay_s = full_jitter_s(self._failures, _RETRY_BASE_S, _RETRY_CAP_S, self._random)
        needs_somebody = isinstance(error, _REFUSALS)
        level = logging.ERROR if needs_somebody else logging.WARNING
        logger.log(level, "poll %d in a row failed, next in %.1f s: %s", self._failures, delay_s, error)
        return delay_s
