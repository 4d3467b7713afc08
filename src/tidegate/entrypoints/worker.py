"""`Worker`: the worker SDK's front door. It wires the service to AWS, to signals, and to where handlers run.

Two things never share an event loop: the SDK's own work (polls, leases, deletes, heartbeats) and the user's handlers.
`run` keeps the SDK on the main thread, where signals arrive, and gives async handlers a loop of their own; `serve` runs
the SDK in a thread and async handlers on the caller's loop, where the caller's pools and clients live.
"""

import asyncio
import logging
import os
import random
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final, Unpack, cast

from tidegate.aws.ecs_agent import EcsAgent
from tidegate.aws.heartbeats import DynamoHeartbeats
from tidegate.aws.queues import queue_name
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport
from tidegate.entrypoints.handlers import load_handler
from tidegate.ports import HeartbeatSink
from tidegate.stores.file import FileStore
from tidegate.worker.handlers import AsyncHandler, Handler, check_handler, is_async
from tidegate.worker.lane import QueuePlan
from tidegate.worker.run_handler import HandlerRunner, LoopRunner, LoopThread, ThreadRunner
from tidegate.worker.service import Plan, WorkerService
from tidegate.worker.settings import WorkerOptions, WorkerSettings, command_line_settings, worker_settings

__all__ = ["Worker", "run_worker"]

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LOOK_S: Final = 1.0
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Leases run on while a machine sleeps, so the clock that goes on then too, where there is one (Linux)."""


class Worker:
    """Runs `handler` on the messages of `queue`, in `slots` slots, until it is told to stop.

    The handler is called with one `Message`. Returning means done: the message is deleted. Raising means try again:
    it becomes visible again after a backoff. Settings are those of `WorkerSettings`; the variable
    TIDEGATE_WORKER_<NAME> overrides each. Raises ConfigError when calling the handler could not do the work (it makes a
    generator, say), else with every fault of the settings.
    """

    _read_settings = staticmethod(worker_settings)

    def __init__(self, queue: str | None = None, *, handler: Handler, **options: Unpack[WorkerOptions]) -> None:
        check_handler(handler)
        self.settings = self._read_settings({"queue": queue, **options})
        self._plan = _plan(self.settings)
        self._handler = handler
        self._lock = threading.Lock()
        self._tell: Callable[[str], object] | None = None
        self._told: list[str] = []
        self._service: WorkerService | None = None

    @property
    def draining(self) -> bool:
        """Whether the worker has been told to take no more work, for a while (retired) or for good. From any thread."""
        return self._service is not None and self._service.draining

    def run(self) -> None:
        """Works until SIGTERM, SIGINT or `stop`, then drains and returns. For the main thread of a program.

        A program that has set up no logging gets the worker's lines on stderr. Raises CloudError when the worker can't
        start: no such queue, no permission, no endpoint.
        """
        if not logging.getLogger().handlers:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
            logging.getLogger("botocore").setLevel(logging.WARNING)
            logging.getLogger("aiobotocore").setLevel(logging.WARNING)
        if not is_async(self._handler):
            asyncio.run(self._serve_here(self._threads()))
            return
        handlers = LoopThread()
        handlers.start()
        try:
            asyncio.run(self._serve_here(LoopRunner(cast("AsyncHandler", self._handler), handlers.loop)))
        finally:
            handlers.stop()

    async def serve(self) -> None:
        """Works within a program that has its own loop and signal handling; `stop`, or cancelling this, makes it drain.

        Async handlers run on the calling loop, which is never blocked. A cancellation counts as a call of `stop`, a
        second one as a second call, and is raised when the worker has left. Raises as `run` does.
        """
        loop = asyncio.get_running_loop()
        runner = LoopRunner(cast("AsyncHandler", self._handler), loop) if is_async(self._handler) else self._threads()
        serving = asyncio.wrap_future(_in_a_thread(lambda: asyncio.run(self._serve_for(loop, runner))))
        cancelled: asyncio.CancelledError | None = None
        while not serving.done():
            try:
                await asyncio.wait({serving})  # which, unlike `await serving`, leaves it alone when cancelled
            except asyncio.CancelledError as error:
                cancelled = error
                self.stop("its program cancelled it")
        serving.result()
        if cancelled is not None:
            raise cancelled

    def stop(self, reason: str = "its program stopped it") -> None:
        """Drain and leave; callable from any thread. A second call shortens the grace to a fifth of it."""
        with self._lock:
            if self._tell is None:
                self._told.append(reason)
            else:
                self._tell(reason)

    def _threads(self) -> HandlerRunner:
        return ThreadRunner(self._handler, self._plan.slots)

    async def _serve_for(self, program: asyncio.AbstractEventLoop, runner: HandlerRunner) -> None:
        watching = asyncio.create_task(self._leave_with(program), name="tidegate-watch")
        try:
            await self._serve_here(runner)
        finally:
            watching.cancel()

    async def _leave_with(self, program: asyncio.AbstractEventLoop) -> None:
        """A program that has closed its loop waits for nothing any more, and the handlers on that loop are dead."""
        while not program.is_closed():  # noqa: ASYNC110  a loop tells nobody that it was closed
            await asyncio.sleep(_LOOK_S)
        self.stop("its program's loop is closed")

    async def _serve_here(self, runner: HandlerRunner) -> None:
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                loop.add_signal_handler(number, self.stop, number.name)
        async with AsyncExitStack() as stack:
            plan = self._plan
            queue = await SqsWorkQueue.connect(
                self.settings.queue,
                region=self.settings.region,
                poll_wait_s=plan.poll_wait_s,
            )
            stack.push_async_callback(queue.close)
            sink = await _sink(self.settings)
            stack.push_async_callback(sink.close)
            protection = EcsAgent.from_environment(os.environ) if self.settings.protect else None
            service = WorkerService(
                replace(plan, lapses=protection is not None and isinstance(sink, _NoFleet)),
                [queue],
                sink,
                runner,
                clock=_steady,
                wall=time.time,
                random=random.random,
                protection=protection,
            )
            self._service = service
            self._listen(lambda reason: loop.call_soon_threadsafe(service.stop, reason))
            stack.callback(self._listen, None)
            await service.serve()

    def _listen(self, tell: Callable[[str], object] | None) -> None:
        with self._lock:
            self._tell = tell
            told, self._told = self._told, []
            if tell is not None:
                for reason in told:
                    tell(reason)


class _CommandLineWorker(Worker):
    """A worker whose options were typed just now, and so win over the environment."""

    _read_settings = staticmethod(command_line_settings)


def run_worker(target: str, queue: str | None = None, **options: Unpack[WorkerOptions]) -> None:
    """What `tidegate work module:function` does; options that are given win over the environment.

    Raises ConfigError and CloudError, each of which is one clear line.
    """
    _CommandLineWorker(queue, handler=load_handler(target), **options).run()


def _steady() -> float:
    """Seconds of a clock that nobody sets."""
    return time.clock_gettime(_STEADY)


def _in_a_thread(work: Callable[[], None]) -> Future[None]:
    """Runs `work` in a daemon thread: a program that ends without waiting for it ends, as ThreadPoolExecutor's do not.

    The future can't be cancelled.
    """
    outcome: Future[None] = Future()
    outcome.set_running_or_notify_cancel()

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  whatever it is, it is raised where the outcome is awaited
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    threading.Thread(target=run, name="tidegate-sdk", daemon=True).start()
    return outcome


class _NoFleet:
    """A heartbeat sink for a worker that no controller reads."""

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        """Nobody asked to know."""

    async def directive(self, pool: str) -> Directive:
        """Nobody says anything."""
        return Directive()

    async def close(self) -> None:
        """Nothing is open."""


async def _sink(settings: WorkerSettings) -> HeartbeatSink:
    if settings.table is not None:
        return await DynamoHeartbeats.connect(settings.table, region=settings.region)
    return _NoFleet() if settings.state_dir is None else FileStore(settings.state_dir)


def _plan(settings: WorkerSettings) -> Plan:
    name = queue_name(settings.queue)
    return Plan(
        worker_id=settings.id or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}",
        pool=settings.pool or name,
        slots=settings.slots,
        poll_wait_s=settings.poll_wait_s,
        visibility_timeout_s=settings.visibility_timeout_s,
        grace_s=settings.grace_s,
        heartbeat_s=settings.heartbeat,
        retry_base_s=settings.retry_base,
        retry_cap_s=settings.retry_cap,
        queues=(QueuePlan(name, fifo=name.endswith(".fifo")),),
    )
