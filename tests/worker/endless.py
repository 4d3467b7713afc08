"""A worker for a long time: a queue that never ends and keeps nothing, and handlers that do all kinds of things."""

import asyncio
import itertools
import selectors
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.worker.conftest import PLAN
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport
from tidegate.ports import EntryFailure, Received, VisibilityChange
from tidegate.worker.handlers.run_handler import LoopRunner
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.message import Message
from tidegate.worker.outcomes import Reject, Retry
from tidegate.worker.service import WorkerService

__all__ = ["LongRun", "long_run"]

_TAKES_S = 0.48
_PLAN = replace(PLAN, slots=6, prefetch=None, sorting=Sorting(lambda message: message.body, {}, None))
"""About 12 messages a second: a million in a day."""


class _EndlessQueue:
    """Implements `ports.WorkQueue`: always full, and what was received is forgotten."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.settled = 0
        """Deleted, or made visible again at once or later: its last is heard of it."""
        self._moved = asyncio.Event()

    async def visibility_timeout_s(self) -> int:
        return 30

    async def max_receives(self) -> int | None:
        return None

    async def backlog(self) -> int:
        return 1_000

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        await asyncio.sleep(0.005)
        now_ms = int(asyncio.get_running_loop().time() * 1_000)
        return [self._message(next(self._numbers), now_ms) for _ in range(limit)]

    def _message(self, number: int, now_ms: int) -> Received:
        times = {"SentTimestamp": f"{now_ms - 700}", "ApproximateFirstReceiveTimestamp": f"{now_ms}"}
        return Received(
            f"m{number}",
            f"r{number}",
            f"class {number % 12}",
            {**times, "ApproximateReceiveCount": "1"},
            {"n": {"DataType": "Number", "StringValue": f"{number}"}},
        )

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
        await asyncio.sleep(0.005)
        self._settle(len(receipt_handles))
        return []

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]:
        await asyncio.sleep(0.005)
        self._settle(sum(change.timeout_s < 30 for change in changes))
        return []

    async def dead_letter(self, received: Received, reason: str) -> None:
        await asyncio.sleep(0.005)

    async def close(self) -> None:
        """Nothing is open."""

    def _settle(self, count: int) -> None:
        self.settled += count
        self._moved.set()

    async def has_settled(self, count: int) -> None:
        """Waits until so many are."""
        while self.settled < count:
            self._moved.clear()
            await self._moved.wait()


async def _mixed_work(message: Message) -> None:
    """Most are done at once; some take longer than the visibility timeout, fail, are rejected, call a dependency."""
    number = int(message.id[1:])
    await asyncio.sleep(40 if number % 1_000 == 0 else _TAKES_S)
    if number % 50 == 1:
        raise Retry(after=3)
    if number % 200 == 2:
        raise Reject("unknown")
    async with message.dependency(f"dependency {number % 3}"):
        message.progress()


class _Forgets:
    """Implements `ports.HeartbeatSink`: counts the heartbeats."""

    def __init__(self) -> None:
        self.heartbeats = 0

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        self.heartbeats += 1

    async def directive(self, pool: str) -> Directive:
        return Directive()

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class LongRun:
    """What was measured after the first and the last messages, and how long that took by the worker's clock."""

    before: float
    after: float
    took_s: float
    heartbeats: int


def long_run(first: int, last: int, measure: Callable[[], float]) -> LongRun:
    """A worker that works off `last` messages in virtual time, measured when `first` are done and at the end."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(_long_run(first, last, measure))


async def _long_run(first: int, last: int, measure: Callable[[], float]) -> LongRun:
    loop, queue, sink = asyncio.get_running_loop(), _EndlessQueue(), _Forgets()
    runner, began_s = LoopRunner(_mixed_work, loop), loop.time()
    service = WorkerService(
        _PLAN, [queue], sink, runner, clock=loop.time, wall=loop.time, random=itertools.cycle([0.2, 0.7]).__next__
    )
    serving = asyncio.create_task(service.serve())
    await queue.has_settled(first)
    before = measure()
    await queue.has_settled(last)
    after = measure()
    service.stop("enough")
    await serving
    return LongRun(before, after, loop.time() - began_s, sink.heartbeats)


class _VirtualLoop(asyncio.SelectorEventLoop):
    """Time moves on only when nothing else is to be done, and then at once to the next timer."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0
        super().__init__(_Jump(self))

    def time(self) -> float:
        return self.now_s


class _Jump(selectors.DefaultSelector):
    def __init__(self, loop: _VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        """The wait that is asked for, in virtual time."""
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing is to be done, ever"
            self._loop.now_s += timeout
        return ready
