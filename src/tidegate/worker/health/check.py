"""A worker's health: looked at every five seconds, told over HTTP and in a file."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from tidegate.core.workers.liveness import Health, Sight, longest_silence_s, p99_s, verdict
from tidegate.errors import CloudError, Wedged
from tidegate.worker.jobs.in_hand import Jobs
from tidegate.worker.leases.lane import Lane
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import answered_within

__all__ = ["LOOK_S", "HealthWatch", "write_health"]

LOOK_S: Final = 5.0
"""A file that is much older tells of a process that hangs as a whole."""

_ASK_AGAIN_S: Final = 10.0
_ASK_S: Final = 3.0
_SERVICE_TIMES: Final = 500

logger = logging.getLogger(__name__)


class HealthWatch:
    """Implements `telemetry.WorkWatch`; `run` is its task. The queues are asked what waits only on suspicion.

    `clock` is a steady clock, `wall` the time of day. `stuck_after_s` None: by how long handlers take. `leaves` says
    whether a worker that is stuck is to leave.
    """

    def __init__(
        self,
        slots: Slots,
        jobs: Jobs,
        lanes: Sequence[Lane],
        *,
        stuck_after_s: float | None,
        file: Path | None,
        leaves: Callable[[], bool] = lambda: False,
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._slots = slots
        self._jobs = jobs
        self._lanes = lanes
        self._stuck_after_s = stuck_after_s
        self._file = file
        self._leaves = leaves
        self._clock = clock
        self._wall = wall
        self._service_times_s: deque[float] = deque(maxlen=_SERVICE_TIMES)
        self._quiet_since_s = clock()
        self._waiting: bool | None = None
        self._asked_at_s: float | None = None
        self._unwritten = ""
        self.health = verdict(Sight(clock(), slots.total), 0.0)

    def started(self, wait_s: float | None) -> None:
        """A start is no sign of life: a pool in a deadlock has none either."""

    def ended(self, service_time_s: float, *, completed: bool) -> None:
        """A handler has ended, well or not: either way its slot works."""
        self._service_times_s.append(service_time_s)
        self._quiet_since_s = self._clock()

    async def run(self) -> None:
        """Looks for ever, and writes the file if there is one. Raises Wedged when the worker is to leave."""
        while True:
            before = self.health
            await self.look()
            if self.health.healthy is not before.healthy:
                logger.log(logging.INFO if self.health.healthy else logging.ERROR, "worker is %s", self.health.line)
            if self._file is not None:
                self._say_once(await asyncio.to_thread(write_health, self._file, self.health, self._wall()))
            if not self.health.healthy and self._leaves():
                raise Wedged(self.health.line)
            await asyncio.sleep(LOOK_S)

    def _say_once(self, unwritten: str) -> None:
        """A disk may stay full for days, and the file is written every five seconds."""
        if unwritten != self._unwritten:
            level, line = (logging.WARNING, unwritten) if unwritten else (logging.INFO, "it is written again")
            logger.log(level, "the health file %s: %s", self._file, line)
            self._unwritten = unwritten

    async def look(self) -> None:
        """Judges anew."""
        now_s = self._clock()
        started_at_s = self._jobs.started_at_s()
        if not started_at_s or not self._slots.usable:
            self._quiet_since_s = now_s  # nothing runs, or nothing may start: no permits of the fleet can be had
        quiet_since_s = max([self._quiet_since_s, *(lane.progress_at_s for lane in self._lanes)])
        longest_s = longest_silence_s(p99_s(self._service_times_s), self._stuck_after_s)
        waits = await self._messages_wait(now_s) if now_s - quiet_since_s > longest_s else None
        sight = Sight(self._clock(), self._slots.total, started_at_s, quiet_since_s, waits)
        self.health = verdict(sight, longest_s)

    async def _messages_wait(self, now_s: float) -> bool | None:
        """Asked every ten seconds at most; None when no queue can be asked."""
        if self._slots.waiting:
            return True
        if self._asked_at_s is not None and now_s - self._asked_at_s < _ASK_AGAIN_S:
            return self._waiting
        self._asked_at_s = now_s
        try:
            async with answered_within(_ASK_S, "asking what waits", "the queues"):
                counts = await asyncio.gather(*(lane.queue.backlog() for lane in self._lanes))
            self._waiting = any(counts)
        except CloudError as error:
            logger.warning("could not ask what waits in the queue: %s", error)
            self._waiting = None
        return self._waiting


def write_health(file: Path, health: Health, at_s: float) -> str:
    """For `tidegate health`: written beside its place and moved into it, so that a reader finds a whole one.

    Why it could not be written, "" when it was: the file then grows old by itself.
    """
    beside = file.with_name(file.name + ".new")
    try:
        beside.write_text(json.dumps({"at_s": at_s, **asdict(health)}) + "\n")
        beside.replace(file)
    except OSError as error:
        return f"can't be written ({error.strerror or type(error).__name__})"
    return ""
