"""Runs the user's handler away from the SDK's own event loop, so that nothing it does can hold up a heartbeat.

A sync handler has a thread per slot; an async one runs on another loop. Either way the SDK sees a `Run`: it can wait
for the outcome and tell the handler to stop. It can't end a thread: a slot is busy until its handler has returned.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Final, Protocol

from tidegate.worker.handlers.kinds import check_finished
from tidegate.worker.handlers.postbox import Postbox
from tidegate.worker.message import Batch, Message
from tidegate.worker.outcomes import HandlerHangs, outcome_in

__all__ = ["HandlerRunner", "LoopRunner", "LoopThread", "OnEnd", "Run", "ThreadRunner"]

_STOP_WITHIN_S: Final = 0.5


class Run(Protocol):
    """A handler at work on one message."""

    async def outcome(self) -> BaseException | None:
        """Waits until the handler has ended: None when it returned, else what it raised."""
        ...

    def interrupt(self) -> None:
        """Tells the handler to stop: sets `message.lease_lost` and cancels an async handler."""
        ...

    def give_up(self) -> None:
        """Nobody waits any longer for a handler that does not end: the outcome is HandlerHangs, whatever comes."""
        ...


OnEnd = Callable[[BaseException | None], None]
"""Hears how a handler ended, once, in whatever thread that was: None when it returned, else what it raised."""


class HandlerRunner(Protocol):
    """Starts handlers. `close` does not wait for those that still run."""

    def start(self, message: Message | Batch, on_end: OnEnd | None = None) -> Run:
        """Raises RuntimeError when there is nothing to run it on: no further thread, or a loop that is closed."""
        ...

    def replace(self) -> None:
        """One that runs was given up: another may start in its place."""
        ...

    def close(self) -> None: ...


class _Outcome:
    """Filled in by the handler's thread, once; what comes after that is dropped."""

    __slots__ = ("_ended", "_lock", "_message", "_on_end", "_result", "_waiting")

    def __init__(self, message: Message | Batch, on_end: OnEnd | None) -> None:
        self._message = message
        self._on_end = on_end
        self._lock = threading.Lock()
        self._ended = False
        self._result: BaseException | None = None
        self._waiting: list[Future[BaseException | None]] = []

    async def outcome(self) -> BaseException | None:
        future: Future[BaseException | None] = Future()
        future.set_running_or_notify_cancel()  # whoever stops waiting for it does not cancel it
        with self._lock:
            if self._ended:
                return self._result
            self._waiting.append(future)
        return await asyncio.wrap_future(future)

    def ended(self, error: BaseException | None) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended, self._result = True, error
        for future in self._waiting:
            future.set_result(error)
        if self._on_end is not None:
            self._on_end(error)

    def give_up(self) -> None:
        self.ended(HandlerHangs())

    def interrupt(self) -> None:
        self._message.lease_lost.set()


class ThreadRunner:
    """Sync handlers, each on one of `slots` threads that are kept for reuse (a handler may keep things per thread).

    The threads are daemons: a handler that ignores `lease_lost` can't keep the process past its stop timeout. That is
    why this is no ThreadPoolExecutor, which the interpreter waits for at its end.
    """

    def __init__(self, handler: Callable[[Any], object], slots: int) -> None:
        self._handler = handler
        self._slots = slots
        self._threads: list[threading.Thread] = []
        self._work: queue.SimpleQueue[tuple[Message | Batch, _Outcome] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    def start(self, message: Message | Batch, on_end: OnEnd | None = None) -> Run:
        outcome = _Outcome(message, on_end)
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._slots:
            name = f"tidegate-handler-{len(self._threads) + 1}"
            thread = threading.Thread(target=self._serve, name=name, daemon=True)
            thread.start()
            self._threads.append(thread)
        self._work.put((message, outcome))
        return outcome

    def replace(self) -> None:
        """A thread that hangs can't be ended; one more takes its place."""
        self._slots += 1

    def close(self) -> None:
        for _ in self._threads:
            self._work.put(None)

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            message, outcome = item
            error = self._call(message)
            self._idle.release()
            outcome.ended(error)

    def _call(self, message: Message | Batch) -> BaseException | None:
        try:
            result = self._handler(message)
            check_finished(result)
            return outcome_in(result)
        except BaseException as error:  # noqa: BLE001  SystemExit in a handler fails its message, not the worker
            return error


class LoopRunner:
    """Async handlers, as tasks on `loop`, which may run in any thread."""

    def __init__(self, handler: Callable[[Any], Awaitable[object]], loop: asyncio.AbstractEventLoop) -> None:
        self._handler = handler
        self._loop = loop
        self._starts: Postbox[_TaskRun] = Postbox(loop, _TaskRun.begin)

    def start(self, message: Message | Batch, on_end: OnEnd | None = None) -> Run:
        if self._loop.is_closed():
            raise RuntimeError("the handlers' loop is closed")
        run = _TaskRun(self._handler, message, self._loop, on_end)
        self._starts.put(run)
        return run

    def replace(self) -> None:
        """Nothing to do: a loop takes any number of tasks."""

    def close(self) -> None:
        """Nothing to do: the loop is its owner's."""


class _TaskRun(_Outcome):
    """One task on the handlers' loop; `begin` and `_cancel` run there."""

    __slots__ = ("_handler", "_loop", "_task", "_told")

    def __init__(
        self,
        handler: Callable[[Any], Awaitable[object]],
        message: Message | Batch,
        loop: asyncio.AbstractEventLoop,
        on_end: OnEnd | None,
    ) -> None:
        super().__init__(message, on_end)
        self._handler = handler
        self._loop = loop
        self._task: asyncio.Task[BaseException | None] | None = None
        self._told = False

    def begin(self) -> None:
        self._task = self._loop.create_task(self._call(), name=f"tidegate-handler-{self._message.id}")
        self._task.add_done_callback(self._done)
        if self._told:
            self._task.cancel()

    async def _call(self) -> BaseException | None:
        try:
            result = await self._handler(self._message)
            check_finished(result)
            return outcome_in(result)
        except BaseException as error:  # noqa: BLE001  SystemExit in a handler fails its message, not the loop
            return error

    def _done(self, task: asyncio.Task[BaseException | None]) -> None:
        """A task that was cancelled before its first step never got to `_call`."""
        self.ended(asyncio.CancelledError() if task.cancelled() else task.result())

    def interrupt(self) -> None:
        super().interrupt()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing runs there any longer
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        """It may have overtaken `begin`, which waits for others to be begun with."""
        self._told = True
        if self._task is not None:
            self._task.cancel()


class LoopThread:
    """An event loop of its own, in a daemon thread, for async handlers."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="tidegate-handlers", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Cancels what still runs there, and waits a moment for it; a handler that blocks the loop is left behind."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_STOP_WITHIN_S)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
