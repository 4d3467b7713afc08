"""Sends the worker's heartbeat to the fleet, on a beat and at once when its state changes; hears what it is told."""

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Final

from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport
from tidegate.core.signals.skew import CLOCKS_APART_S
from tidegate.errors import TidegateError
from tidegate.ports import HeartbeatSink
from tidegate.worker.telemetry.counts import Telemetry
from tidegate.worker.waiting import answered_within, happens_within

__all__ = ["BEATS_TO_LIVE", "DEAF_FOR_S", "Reporter"]

BEATS_TO_LIVE: Final = 3
"""A report counts for three beats: two may get lost before a worker that is alive is taken for dead. It stays in the
table for as much longer as clocks may be apart: whose is slow would else have expired when it is written."""

_LAST_WORD_S: Final = 1.0
_FINEST_S: Final = 0.001
"""Less than that is no wait: no timer is finer."""

_EAGER_S: Final = 2.0
"""How often a worker that has been told to take no work looks whether it may again: it is the fastest capacity that
there is, and a look costs a quarter of a millionth of a dollar."""

DEAF_FOR_S: Final = 300.0
"""The last word holds for so long when no other can be read. By then the controller, if there is one, has given up on
whoever it does not see; a worker that waited on would take no work until somebody looks."""

logger = logging.getLogger(__name__)


class Reporter:
    """`run` is its task; `report` makes the heartbeat of the moment. A sink that fails never stops work.

    `told` is called with the directive after each heartbeat, and more often while `eager` says that the worker waits
    for another one.
    """

    def __init__(
        self,
        sink: HeartbeatSink,
        pool: str,
        telemetry: Telemetry,
        report: Callable[[], WorkerReport],
        beat_s: float,
        told: Callable[[Directive], None],
        eager: Callable[[], bool],
    ) -> None:
        self._sink = sink
        self._pool = pool
        self._telemetry = telemetry
        self._report = report
        self._beat_s = beat_s
        self._told = told
        self._eager = eager
        self._now = asyncio.Event()
        self._heard_s = -math.inf

    def soon(self) -> None:
        """Something changed that the controller should know before the next beat."""
        self._now.set()

    async def run(self) -> None:
        """Waits for the first `soon` (the first poll), then beats for ever."""
        await self._now.wait()
        while True:
            self._now.clear()
            await self._send(self._beat_s)
            await self._listen()
            await self._until_next_beat()

    async def last(self) -> None:
        """The final report, sent after `run` was cancelled."""
        await self._send(_LAST_WORD_S)

    async def _until_next_beat(self) -> None:
        loop = asyncio.get_running_loop()
        beats_at_s = loop.time() + self._beat_s
        while (left_s := beats_at_s - loop.time()) >= _FINEST_S:
            look_s = min(_EAGER_S, left_s) if self._eager() else left_s
            if await happens_within(self._now, look_s):
                return
            if look_s < left_s:
                await self._listen()

    async def _listen(self) -> None:
        try:
            async with answered_within(self._beat_s, "reading the directive", self._pool):
                directive = await self._sink.directive(self._pool)
        except (TidegateError, OSError) as error:
            logger.warning("what the controller says could not be read, the last word holds: %s", error)
            self._go_on_alone()
        else:
            self._heard_s = asyncio.get_running_loop().time()
            self._told(directive)

    def _go_on_alone(self) -> None:
        if self._eager() and asyncio.get_running_loop().time() - self._heard_s > DEAF_FOR_S:
            logger.error("nothing could be read from the controller for %g s: its last word is dropped", DEAF_FOR_S)
            self._told(Directive())

    async def _send(self, within_s: float) -> None:
        report = self._report()
        try:
            async with answered_within(within_s, "the heartbeat", self._pool):
                kept_s = BEATS_TO_LIVE * self._beat_s + CLOCKS_APART_S
                await self._sink.put(self._pool, report, report.reported_at_s + kept_s)
        except (TidegateError, OSError) as error:
            logger.warning("heartbeat to the fleet failed, the next one carries its figures: %s", error)
        else:
            self._telemetry.delivered(report)
