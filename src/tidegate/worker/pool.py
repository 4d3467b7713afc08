"""`AsyncPool`: a bounded pool of asyncio work that finds its own size. Needs no SQS and no other part of tidegate."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from tidegate.core.workers.auto_slots import AutoSlots, first_slots, look_every_s, next_slots
from tidegate.errors import ConfigError, Fault, Saturated
from tidegate.worker.auto_slots import Gauge

__all__ = ["AsyncPool"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING_PER_WORKER: Final = 100


@dataclass(slots=True)
class _Waiting(Generic[Item, Result]):
    item: Item
    result: "asyncio.Future[Result]"
    since_s: float


class AsyncPool(Generic[Item, Result]):
    """Runs `work` on submitted items, as many at a time as their waits, errors and timeouts call for.

    The law is `core.workers.auto_slots`; the pool only enforces it. Workers are counted, not cancelled: one that is
    retired ends what it does. An item that takes longer than `timeout_s` is cancelled and fails with TimeoutError.

        async with AsyncPool(fetch, auto(min=2, max=20, target_wait="50ms"), timeout_s=2.0) as pool:
            page = await pool.submit(url)

    Leaving the block waits for everything submitted; leaving it by an exception cancels that. One event loop only.
    `clock` is a steady clock in seconds.
    """

    def __init__(
        self,
        work: Callable[[Item], Awaitable[Result]],
        size: AutoSlots,
        *,
        most_waiting: int | None = None,
        timeout_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        _check(most_waiting, timeout_s)
        self._work = work
        self._size = size
        self._most_waiting = _WAITING_PER_WORKER * size.most if most_waiting is None else most_waiting
        self._timeout_s = timeout_s
        self._clock = clock
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._state = first_slots(size, clock())
        self._gauge = Gauge(clock)
        self._stirred, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._looking: asyncio.Task[None] | None = None

    @property
    def workers(self) -> int:
        """How many items may be worked on at a time, just now."""
        return self._state.slots

    @property
    def busy(self) -> int:
        """How many items are worked on."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many items wait for a worker."""
        return len(self._waiting)

    def submit(self, item: Item) -> "asyncio.Future[Result]":
        """The future of the item's result. To be called on the pool's loop, within its block.

        Raises Saturated when as many items wait as may, RuntimeError outside the block.
        """
        if self._looking is None:
            raise RuntimeError("the pool is not open; submit within `async with pool:`")
        if len(self._waiting) >= self._most_waiting:
            raise Saturated(self._most_waiting, self.busy)
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(item, result, self._clock()))
        self._idle.clear()
        self._stirred.set()
        self._fill()
        return result

    async def __aenter__(self) -> Self:
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="tidegate-pool")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        looking = self._looking
        try:
            if kind is None:
                await self._all_done(looking)
        finally:
            self._looking = None
            left = {*self._running, *([looking] if looking else [])}
            for waiting in self._waiting:
                waiting.result.cancel()
            self._waiting.clear()
            for task in left:
                task.cancel()
            await asyncio.wait(left)

    async def _all_done(self, looking: "asyncio.Task[None] | None") -> None:
        """Or the law has failed, which would be a fault of ours: it is raised."""
        idle = asyncio.create_task(self._idle.wait())
        done, _ = await asyncio.wait({idle, *([looking] if looking else [])}, return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        if looking in done:
            looking.result()

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self._state.slots:
            task = asyncio.create_task(self._run(self._waiting.popleft()))
            self._running.add(task)
            self._gauge.busy(len(self._running))
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._gauge.busy(len(self._running))
        if self._looking is not None:
            self._fill()
        if not self._running and not self._waiting:
            self._idle.set()

    async def _run(self, waiting: _Waiting[Item, Result]) -> None:
        if waiting.result.done():
            return  # its submitter has cancelled it
        started_s = self._clock()
        try:
            async with asyncio.timeout(self._timeout_s):
                result = await self._work(waiting.item)
        except asyncio.CancelledError:
            waiting.result.cancel()
            raise
        except Exception as error:  # noqa: BLE001  whatever the work raises is its submitter's to see
            self._gauge.ended(self._clock() - started_s, failed=True)
            if not waiting.result.done():
                waiting.result.set_exception(error)
        else:
            self._gauge.ended(self._clock() - started_s, failed=False)
            if not waiting.result.done():
                waiting.result.set_result(result)

    async def _look(self) -> None:
        """Looks for ever; while there is nothing to do and nobody to retire, it waits to be stirred."""
        while True:
            if self._idle.is_set() and self._state.slots == self._size.least:
                self._stirred.clear()
                await self._stirred.wait()
            await asyncio.sleep(look_every_s(self._size))
            head_wait_s = self._clock() - self._waiting[0].since_s if self._waiting else 0.0
            self._state = next_slots(self._size, self._state, self._gauge.look(head_wait_s))
            self._fill()


def _check(most_waiting: int | None, timeout_s: float | None) -> None:
    faults = []
    if most_waiting is not None and most_waiting < 1:
        faults.append(Fault("most_waiting", most_waiting, "nothing could be submitted", "write 1 or more"))
    if timeout_s is not None and timeout_s <= 0:
        faults.append(Fault("timeout_s", timeout_s, "nothing could ever end in time", "write seconds above 0, or None"))
    if faults:
        raise ConfigError(faults)
