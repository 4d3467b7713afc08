"""One worker from start to stop, on one event loop: its tasks, and the order in which it leaves."""

import asyncio
import logging
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.ports import HeartbeatSink, WorkQueue
from tidegate.worker.backoff import Random
from tidegate.worker.consumer import Consumer
from tidegate.worker.deletes import Deleter
from tidegate.worker.dependencies import DependencyLog
from tidegate.worker.jobs import Jobs, RetryDelay
from tidegate.worker.lease_keeper import LeaseKeeper
from tidegate.worker.leases import LeaseBook
from tidegate.worker.lifecycle import Lifecycle
from tidegate.worker.reporter import Reporter
from tidegate.worker.run_handler import HandlerRunner
from tidegate.worker.slots import Slots
from tidegate.worker.start_up import PATIENCE_S, lease_of
from tidegate.worker.telemetry import Telemetry

__all__ = ["Plan", "WorkerService"]

_FLUSH_S: Final = 2.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker is to do, all settled: seconds, counts, names."""

    worker_id: str
    pool: str
    slots: int
    poll_wait_s: int
    visibility_timeout_s: int | None
    """None: the queue's own."""
    grace_s: float
    heartbeat_s: float
    retry_base_s: float
    retry_cap_s: float
    fifo: bool = False


class WorkerService:
    """`serve` runs the worker until `stop`. Time, randomness and the outside world are arguments.

    On a FIFO queue each poll asks for one message: SQS hands out no more of a group while one of its messages is
    held, so that messages of a group are never handled side by side.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
    """

    def __init__(
        self,
        plan: Plan,
        queue: WorkQueue,
        sink: HeartbeatSink,
        runner: HandlerRunner,
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
        random: Random,
    ) -> None:
        self._plan = plan
        self._queue = queue
        self._runner = runner
        self._clock = clock
        self._wall = wall
        self._random = random
        self._slots = Slots(plan.slots)
        self._telemetry = Telemetry(plan.worker_id, plan.slots, plan.heartbeat_s, wall, DependencyLog(clock))
        self._reporter = Reporter(
            sink, plan.pool, self._telemetry, self._report, plan.heartbeat_s, self._told, lambda: False
        )
        self.directive = Directive()
        """What the controller told the pool's workers last."""
        self._lifecycle = Lifecycle(plan.grace_s, self._reporter.soon, clock)

    def stop(self, reason: str) -> None:
        """Leave: within the grace, or sooner when asked again. To be called on the service's own loop."""
        self._lifecycle.stop(reason)
        logger.info(
            "worker leaves (%s) within %.1f s, %d busy", reason, self._lifecycle.time_left_s(), self._slots.busy
        )

    async def serve(self) -> None:
        """Works until `stop`, then leaves in order.

        Raises what made it impossible to start: Denied, Gone, Invalid, or Throttled or Unreachable for half a minute;
        ConfigError when the queue gives no lease. An internal task that dies makes the worker leave in order too, and
        then raises what that task died of.
        """
        visibility_s = await self._visibility_s()
        if visibility_s is None:
            logger.info("worker stopped before it had begun")
            return
        logger.info("worker %s of pool %s starts: %s", self._plan.worker_id, self._plan.pool, self._how(visibility_s))
        book = LeaseBook(visibility_s)
        keeper = LeaseKeeper(self._queue, book, lambda key: jobs.lease_lost(key), self._clock)
        deleter = Deleter(self._queue, book, keeper, self._telemetry.uncertain_delete, self._clock, self._random)
        jobs = self._jobs(book, keeper, deleter)
        background = [
            asyncio.create_task(keeper.run(), name="tidegate-lease-keeper"),
            asyncio.create_task(deleter.run(), name="tidegate-deleter"),
            asyncio.create_task(jobs.run(), name="tidegate-jobs"),
            asyncio.create_task(self._reporter.run(), name="tidegate-reporter"),
        ]
        polling = asyncio.create_task(self._consumer(jobs).run(), name="tidegate-consumer")
        try:
            await self._until_told_or_broken([*background, polling])
            await self._leave(polling, jobs, keeper, deleter)
        finally:
            await _end([polling, *background])
            jobs.close()
            self._runner.close()
        self._lifecycle.advance(WorkerState.STOPPED)
        await self._reporter.last()
        total = self._report().total
        logger.info("worker stopped: %d completed, %d failed", total.completions, total.failures)
        for task in [polling, *background]:
            if not task.cancelled() and (error := task.exception()):
                raise error

    async def _visibility_s(self) -> int | None:
        """How long leases last; None when told to stop before that is known."""
        stopping, asked_for = self._lifecycle.stopping, self._plan.visibility_timeout_s
        if asked_for is None:
            return await lease_of(self._queue, stopping, self._clock, self._random)
        return None if stopping.is_set() else asked_for

    def _how(self, visibility_s: int) -> str:
        plan = self._plan
        return f"slots {plan.slots}, lease {visibility_s} s, poll {plan.poll_wait_s} s, grace {plan.grace_s:g} s"

    def _jobs(self, book: LeaseBook, keeper: LeaseKeeper, deleter: Deleter) -> Jobs:
        retry = RetryDelay(self._plan.retry_base_s, self._plan.retry_cap_s, self._random)
        return Jobs(
            self._runner, self._slots, book, keeper, deleter, self._telemetry, retry, clock=self._clock, wall=self._wall
        )

    def _consumer(self, jobs: Jobs) -> Consumer:
        return Consumer(
            self._queue,
            self._slots,
            jobs,
            self._lifecycle.stopping,
            self._polled,
            poll_wait_s=self._plan.poll_wait_s,
            batch=1 if self._plan.fifo else 10,
            # Where the queue's visibility timeout has been read, the endpoint has been reached already.
            patience_s=math.inf if self._plan.visibility_timeout_s is None else PATIENCE_S,
            clock=self._clock,
            random=self._random,
        )

    def _polled(self) -> None:
        if self._telemetry.polled():
            self._reporter.soon()

    def _told(self, directive: Directive) -> None:
        self.directive = directive

    def _report(self) -> WorkerReport:
        return self._telemetry.report(self._lifecycle.state, self._lifecycle.reason, self._slots.busy)

    async def _until_told_or_broken(self, tasks: list[asyncio.Task[None]]) -> None:
        stopping = asyncio.create_task(self._lifecycle.stopping.wait())
        done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        for task in done - {stopping}:
            self._lifecycle.stop(f"{task.get_name()} ended")

    async def _leave(self, polling: asyncio.Task[None], jobs: Jobs, keeper: LeaseKeeper, deleter: Deleter) -> None:
        """No new poll; finish the outstanding one; let handlers finish; release the rest; flush the deletes last."""
        self._slots.close()
        await self._lifecycle.within_grace(_finished(polling))
        await self._lifecycle.within_grace(jobs.idle())
        self._lifecycle.advance(WorkerState.RELEASED)
        polling.cancel()  # one that has not come back by now must not take what is about to be released
        await jobs.let_go()
        _, flushed = await asyncio.gather(_within(keeper.returned(), _FLUSH_S), _within(deleter.flushed(), _FLUSH_S))
        if not flushed:
            logger.error("left with %d deletes unconfirmed: their messages may run again", deleter.abandon())


async def _finished(task: asyncio.Task[None]) -> None:
    """Waits for a task's end without cancelling it or raising what it raised."""
    await asyncio.wait({task})


async def _within(work: Coroutine[Any, Any, None], seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
