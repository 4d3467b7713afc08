"""Sends the worker's heartbeat to the fleet: on a fixed beat, and at once when its state changes."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from tidegate.core.reports import WorkerReport
from tidegate.errors import TidegateError
from tidegate.ports import HeartbeatSink
from tidegate.worker.telemetry import Telemetry
from tidegate.worker.waiting import happens_within

__all__ = ["BEATS_TO_LIVE", "Reporter"]

BEATS_TO_LIVE: Final = 3
"""A report counts for three beats: two may get lost before a worker that is alive is taken for dead."""

_LAST_WORD_S: Final = 1.0

logger = logging.getLogger(__name__)


class Reporter:
    """`run` is its task; `report` makes the heartbeat of the moment. A sink that fails never stops work."""

    def __init__(
        self, sink: HeartbeatSink, pool: str, telemetry: Telemetry, report: Callable[[], WorkerReport], beat_s: float
    ) -> None:
        self._sink = sink
        self._pool = pool
        self._telemetry = telemetry
        self._report = report
        self._beat_s = beat_s
        self._now = asyncio.Event()

    def soon(self) -> None:
        """Something changed that the controller should know before the next beat."""
        self._now.set()

    async def run(self) -> None:
        """Waits for the first `soon` (the first poll), then beats for ever."""
        await self._now.wait()
        while True:
            self._now.clear()
            await self._send(self._beat_s)
            await happens_within(self._now, self._beat_s)

    async def last(self) -> None:
        """The final report, sent after `run` was cancelled."""
        await self._send(_LAST_WORD_S)

    async def _send(self, within_s: float) -> None:
        report = self._report()
        try:
            async with asyncio.timeout(within_s):
                await self._sink.put(self._pool, report, report.reported_at_s + BEATS_TO_LIVE * self._beat_s)
        except (TidegateError, OSError) as error:
            logger.warning("heartbeat to the fleet failed, the next one carries its figures: %r", error)
        else:
            self._telemetry.delivered(report)
