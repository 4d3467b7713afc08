"""`Worker`: the worker SDK's front door. It wires the service to AWS, to signals, and to where handlers run.

Two things never share an event loop: the SDK's own work (polls, leases, deletes, heartbeats) and the user's handlers.
`run` keeps the SDK on the main thread, where signals arrive, and gives async handlers a loop of their own; `serve` runs
the SDK in a thread and async handlers on the caller's loop, where the caller's pools and clients live.
"""

import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, TypeVar, Unpack

from tidegate.entrypoints.handlers import load_handler
from tidegate.entrypoints.show import error_text, warn
from tidegate.entrypoints.worker_host import in_a_thread, inline, log_to_stderr, steady
from tidegate.entrypoints.worker_platform import open_platform
from tidegate.entrypoints.worker_wiring import NoFleet, open_notes, open_permits, open_queues, open_sink, plan_of
from tidegate.errors import ConfigError, Fault, TidegateError
from tidegate.ports import WorkQueue
from tidegate.stores.permits import MemoryPermits
from tidegate.worker.handlers.binding import Bound, Middleware, bind
from tidegate.worker.handlers.child import Recipe
from tidegate.worker.handlers.kinds import Handler
from tidegate.worker.handlers.process_runner import ProcessRunner, check_sendable
from tidegate.worker.handlers.run_handler import HandlerRunner, LoopRunner, LoopThread, ThreadRunner
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.message import Message
from tidegate.worker.service import Plan, WorkerService
from tidegate.worker.settings.worker_settings import WorkerOptions, command_line_settings, worker_settings
from tidegate.worker.telemetry.otel import otel_watches

__all__ = ["Worker", "run_worker"]

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LOOK_S: Final = 1.0


H = TypeVar("H", bound=Handler)


class Worker:
    """Runs `handler` on the messages of `queue`, in `slots` slots, until it is told to stop.

        Worker("orders", handle, slots=8).run()

        worker = Worker({"orders": 3, "mail": 1}, slots=8)   # two queues, with their shares of the slots

        @worker.handler
        async def handle(order: Order, message: Message) -> None: ...

    What the handler is given follows from its annotations (a `Message`, a body as a pydantic model, `list[Message]`),
    see `handlers.binding`. Returning means done: the message is deleted. `Retry` and `Reject`, raised or returned, mean
    what they say; any other exception means try again, after a backoff. `class_of` names each message's job class, of
    which none may take every slot. Settings are those of `WorkerSettings`; the variable TIDEGATE_WORKER_<NAME>
    overrides each. Raises ConfigError with every fault of the settings, or when calling the handler could not do the
    work (it makes a generator, say).
    """

    _read_settings = staticmethod(worker_settings)

    def __init__(
        self,
        queue: str | Sequence[str] | Mapping[str, float] | None = None,
        handler: Handler | None = None,
        *,
        model: Any = None,
        class_of: Callable[[Message], str] | None = None,
        middleware: Iterable[Middleware] = (),
        **options: Unpack[WorkerOptions],
    ) -> None:
        self.settings = self._read_settings({"queue": queue, **options})
        self._model = model
        self._class_of = class_of
        self._middleware = tuple(middleware)
        self._handler: Bound | None = None
        self._lock = threading.Lock()
        self._tell: Callable[[str], object] | None = None
        self._told: list[str] = []
        self._service: WorkerService | None = None
        if handler is not None:
            self.handler(handler)

    @property
    def shedding(self) -> bool:
        """Whether the controller asks to send less: the pool is at its ceiling (or held) and late for over a minute.

        As of the last heartbeat; False while the worker reports to nobody.
        """
        return self._service is not None and self._service.directive.shed

    @property
    def draining(self) -> bool:
        """Whether the worker has been told to take no more work, for a while (retired) or for good. From any thread."""
        return self._service is not None and self._service.draining

    def handler(self, function: H) -> H:
        """Makes `function` the handler: `@worker.handler`. It stays as it is. Raises ConfigError for a second one."""
        if self._handler is not None:
            raise ConfigError([Fault("handler", function.__class__.__name__, "there is one already", "make it one")])
        bound = bind(function, model=self._model, middleware=self._middleware)
        self._recipe = Recipe(function, self._model, self._middleware)
        if self.settings.executor == "process":
            _check_for_processes(bound, self._recipe)
        self._handler = bound
        return function

    def run(self) -> None:
        """Works until SIGTERM, SIGINT or `stop`, then drains and returns. For the main thread of a program.

        A program that has set up no logging gets the worker's lines on stderr. A worker that can't start (no such
        queue, no permission, no endpoint) says so in one line on stderr and ends the program with exit code 2; one that
        is wedged, with 1.
        """
        try:
            self.work()
        except TidegateError as error:
            warn(error_text(error))
            raise SystemExit(error.exit_status) from None

    def work(self) -> None:
        """As `run`, but raises what made it impossible to start: ConfigError or CloudError."""
        bound = self._the_handler()
        log_to_stderr(self.settings.log_level)
        if not bound.is_async:
            asyncio.run(self._serve_here(self._threads(bound)))
            return
        handlers = LoopThread()
        handlers.start()
        try:
            asyncio.run(self._serve_here(LoopRunner(bound.call, handlers.loop)))
        finally:
            handlers.stop()

    async def serve(self) -> None:
        """Works within a program that has its own loop and signal handling; `stop`, or cancelling this, makes it drain.

        Async handlers run on the calling loop, which is never blocked. A cancellation counts as a call of `stop`, a
        second one as a second call, and is raised when the worker has left. Raises as `run` does.
        """
        loop = asyncio.get_running_loop()
        bound = self._the_handler()
        runner = LoopRunner(bound.call, loop) if bound.is_async else self._threads(bound)
        serving = asyncio.wrap_future(in_a_thread(lambda: asyncio.run(self._serve_for(loop, runner))))
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

    @asynccontextmanager
    async def in_test(self, *queues: WorkQueue) -> AsyncIterator[WorkerService]:
        """For tests: works on these queues (a `FakeWorkQueue`) within the block, and drains at its end.

        Everything runs on the test's own loop and by that loop's clock, sync handlers too: in virtual time a test of
        hours takes milliseconds. One queue for each of the settings'. Raises what the worker dies of.
        """
        from tidegate.testing import RecordedHeartbeats

        loop, bound = asyncio.get_running_loop(), self._the_handler()
        runner = LoopRunner(bound.call if bound.is_async else inline(bound.call), loop)
        sink, draw = RecordedHeartbeats(), random.Random(0).random  # noqa: S311  jitter is no secret
        service = WorkerService(
            self._plan(bound),
            queues,
            sink,
            runner,
            clock=loop.time,
            wall=loop.time,
            random=draw,
            permits=MemoryPermits(),
        )
        serving = asyncio.create_task(service.serve())
        try:
            yield service
        finally:
            service.stop("the test is over")
            await serving

    def _the_handler(self) -> Bound:
        if self._handler is None:
            fix = "pass it, Worker(queue, handler), or mark it with @worker.handler"
            raise ConfigError([Fault("handler", None, "not given", fix)])
        return self._handler

    def _plan(self, bound: Bound) -> Plan:
        """Raises ConfigError for a limit of classes that would hold for no message."""
        if self._class_of is None and self.settings.class_fleet_slots:
            problem, fix = "no message has a class", "pass class_of=…, which names each message's class"
            raise ConfigError([Fault("class_fleet_slots", self.settings.class_fleet_slots, problem, fix)])
        batch = self.settings.batch_size if bound.is_batch else None
        return plan_of(self.settings, Sorting(self._class_of, self.settings.class_limits, batch))

    def _threads(self, bound: Bound) -> HandlerRunner:
        if self.settings.executor == "thread":
            return ThreadRunner(bound.call, self.settings.most_slots)
        return ProcessRunner(self._recipe, self.settings.most_slots, is_batch=bound.is_batch)

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
        plan = self._plan(self._the_handler())
        async with AsyncExitStack() as stack:
            queues = await open_queues(self.settings, plan, stack)
            sink = await open_sink(self.settings, stack)
            platform = await open_platform(self.settings, os.environ, steady, stack)
            service = WorkerService(
                replace(plan, lapses=platform.protection is not None and isinstance(sink, NoFleet)),
                queues,
                sink,
                runner,
                clock=steady,
                wall=time.time,
                random=random.random,
                protection=platform.protection,
                instance=platform.instance,
                hook=platform.hook,
                notes=await open_notes(self.settings, stack),
                permits=await open_permits(self.settings, stack),
                watches=otel_watches(plan.pool),
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
    from tidegate.entrypoints.logs import make_logger

    worker = _CommandLineWorker(queue, load_handler(target), **options)
    make_logger(worker.settings.log_level, sys.stderr)
    worker.work()


def _check_for_processes(bound: Bound, recipe: Recipe) -> None:
    if bound.is_async:
        fix = "make it a plain function, or leave executor out: async handlers have a loop of their own"
        raise ConfigError([Fault("executor", "process", "the handler is async", fix)])
    check_sendable(recipe)
