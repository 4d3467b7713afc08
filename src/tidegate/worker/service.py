"""One worker from start to stop, on one event loop: its tasks, and the order in which it leaves."""

import asyncio
import itertools
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerState
from tidegate.ports import (
    HeartbeatSink,
    InstanceWatch,
    MessageNotes,
    PermitStore,
    ScaleInProtection,
    TerminationHook,
    WorkQueue,
)
from tidegate.worker.auto_slots import SlotTuner
from tidegate.worker.backoff import Random
from tidegate.worker.fleet.reporter import Reporter
from tidegate.worker.fleet_share import FleetShare, fleet_share
from tidegate.worker.handlers.run_handler import HandlerRunner
from tidegate.worker.health.check import HealthWatch
from tidegate.worker.health.probes import Probes
from tidegate.worker.jobs.in_hand import Jobs
from tidegate.worker.jobs.poison import Quarantine
from tidegate.worker.jobs.settle import RetryDelay, Settler
from tidegate.worker.leases.lane import Lane
from tidegate.worker.leases.notebook import Notebook
from tidegate.worker.leaving.lapse import Lapse
from tidegate.worker.leaving.lifecycle import Lifecycle, Why
from tidegate.worker.leaving.notices import NoticeWatch
from tidegate.worker.leaving.order import end, leave, settled, told_or_broken, unprotect
from tidegate.worker.leaving.retirement import Retirement
from tidegate.worker.leaving.shield import Shield
from tidegate.worker.plan import Plan
from tidegate.worker.receive.consumer import Consumer
from tidegate.worker.receive.lanes import open_lanes
from tidegate.worker.receive.poller import Poller
from tidegate.worker.receive.start_up import PATIENCE_S, check_that_classes_can_wait, leases_of
from tidegate.worker.self_report import SelfReport
from tidegate.worker.slots import Slots
from tidegate.worker.telemetry.counts import Telemetry, WorkWatch
from tidegate.worker.telemetry.dependencies import DependencyLog
from tidegate.worker.waiting import happens_within

__all__ = ["Plan", "WorkerService"]

logger = logging.getLogger(__name__)


class WorkerService:
    """`serve` runs the worker until `stop`. Time, randomness and the outside world are arguments.

    `queues` are the plan's, in its order. On a FIFO queue each poll asks for one message: SQS hands out no more of a
    group while one of its messages is held, so that messages of a group are never handled side by side.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
    """

    def __init__(
        self,
        plan: Plan,
        queues: Sequence[WorkQueue],
        sink: HeartbeatSink,
        runner: HandlerRunner,
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
        random: Random,
        protection: ScaleInProtection | None = None,
        instance: InstanceWatch | None = None,
        hook: TerminationHook | None = None,
        notes: MessageNotes | None = None,
        permits: PermitStore | None = None,
        watches: Sequence[WorkWatch] = (),
    ) -> None:
        self._plan = plan
        self._queues = queues
        self._runner = runner
        self._clock = clock
        self._wall = wall
        self._random = random
        self._slots = Slots(plan.slots, None if plan.auto is None else plan.auto.most)
        self._notebook = Notebook(notes, plan.pool, plan.worker_id, wall)
        self._telemetry = Telemetry(plan.worker_id, plan.slots, plan.heartbeat_s, wall, DependencyLog(clock))
        self._telemetry.watches.extend(watches)
        self._shield = Shield(protection, clock, random)
        self._notices = None if instance is None else NoticeWatch(instance, self, clock, wall, hook)
        self._lifecycle = Lifecycle(plan.grace_s, self._state_changed, clock)
        self._report = SelfReport(plan, self._telemetry, self._slots, self._shield, self._lifecycle)
        beat, retired = plan.heartbeat_s, self._lifecycle.retired.is_set
        self._reporter = Reporter(sink, plan.pool, self._telemetry, self._report, beat, self._told, retired)
        self._share = self._share_of(permits)
        self.directive = Directive()
        """What the controller told the pool's workers last."""

    def _share_of(self, permits: PermitStore | None) -> FleetShare:
        times = {"clock": self._clock, "wall": self._wall, "random": self._random}
        return fleet_share(self._plan, permits, self._slots, self._telemetry, self._takes_work, **times)

    def _takes_work(self) -> bool:
        return not self._lifecycle.draining

    def _state_changed(self) -> None:
        self._reporter.soon()
        self._share.changed()

    def stop(self, reason: str) -> None:
        """Leave: within the grace, or sooner when asked again. To be called on the service's own loop."""
        self._slots.close()
        if self._lifecycle.stop(reason):
            self._say_that_it_leaves(reason)

    def leave_within(self, reason: str, seconds: float) -> None:
        """Leave before a time that the platform has set (a spot notice). On the service's own loop, as all of these."""
        self._lifecycle.leave_within(reason, seconds)
        self._say_that_it_leaves(reason)

    def _say_that_it_leaves(self, reason: str) -> None:
        left_s, busy = self._lifecycle.time_left_s(), self._slots.busy
        logger.info("worker leaves (%s) within %.1f s, %d busy", reason, left_s, busy)

    def known_as(self, host: str) -> None:
        """What the platform calls this worker: it is in the next report, so that the controller can name it."""
        self._report.host = host

    def retire(self, cause: str) -> None:
        """Take no more work until `take_back`; what runs may take its time."""
        self._lifecycle.retire(cause)

    def take_back(self, cause: str) -> None:
        """Take work again, unless there is another cause not to."""
        self._lifecycle.take_back(cause)

    @property
    def draining(self) -> bool:
        """Whether the worker has been told to take no more work, for a while or for good. From any thread."""
        return self._lifecycle.draining

    async def serve(self) -> None:
        """Works until `stop`, then leaves in order.

        Raises what made it impossible to start: Denied, Gone, Invalid, or Throttled or Unreachable for half a minute;
        ConfigError when the queue gives no lease, or no second receive to job classes. An internal task that dies makes
        the worker leave in order too, and then raises what that task died of: Wedged, when handlers end no more.
        """
        async with AsyncExitStack() as stack:
            stack.callback(self._runner.close)
            leases_s = await leases_of(
                self._queues, self._plan.visibility_timeout_s, self._lifecycle.stopping, self._clock, self._random
            )
            if leases_s is None:
                logger.info("worker stopped before it had begun")
                return
            await check_that_classes_can_wait(self._plan, self._queues)
            logger.info(
                "worker %s of pool %s starts: %s", self._plan.worker_id, self._plan.pool, self._plan.told(leases_s)
            )
            tasks = await self._work(leases_s, stack)
        await self._last_words()
        for task in tasks:
            if not task.cancelled() and (error := task.exception()):
                raise error

    async def _work(self, leases_s: Sequence[int], stack: AsyncExitStack) -> list[asyncio.Task[None]]:
        """Until it has left; its tasks, ended by then. What this opens is closed by `stack`, however this ends."""
        jobs = self._jobs()
        stack.callback(jobs.close)
        lanes = self._lanes(leases_s, jobs.lease_lost)
        watch = self._watch(jobs, lanes)
        probes = Probes(watch, self._lifecycle, lambda: self._telemetry.has_polled)
        stack.callback(probes.close)
        await probes.open(self._plan.health_port)
        stack.push_async_exit(self._unprotected)
        await self._shield.hold()
        if self._plan.start_delay_s:
            await happens_within(self._lifecycle.stopping, self._random() * self._plan.start_delay_s)
        background = self._background(watch, lanes, jobs)
        polling = asyncio.create_task(self._consumer(lanes, jobs).run(), name="tidegate-consumer")
        retirement = Retirement(self._lifecycle, self._slots, lambda: settled(jobs, lanes), self._shield)
        retiring = asyncio.create_task(retirement.run(), name="tidegate-retirement")
        tasks = [*background, polling, retiring]
        stack.push_async_callback(end, tasks)
        await told_or_broken(self._lifecycle, tasks)
        await end([retiring])
        await leave(self._lifecycle, self._slots, polling, jobs, lanes, self._shield, self._share)
        return tasks

    async def _unprotected(self, error: type[BaseException] | None, *_: object) -> None:
        """Leaving in order includes this; a start that fails, or is cut off, never comes to that."""
        if error is not None:
            await unprotect(self._shield)

    def _background(self, watch: HealthWatch, lanes: Sequence[Lane], jobs: Jobs) -> list[asyncio.Task[None]]:
        """What goes on beside the polls."""
        if self._plan.limits.slots is not None:
            self._reporter.soon()  # it is there, though its first poll may have to wait for a permit
        tasks = [
            asyncio.create_task(watch.run(), name="tidegate-health"),
            *itertools.chain.from_iterable(lane.tasks() for lane in lanes),
            asyncio.create_task(jobs.run(), name="tidegate-jobs"),
            asyncio.create_task(self._reporter.run(), name="tidegate-reporter"),
            *self._tuning(jobs),
            *self._share.tasks(),
            asyncio.create_task(self._shield.run(), name="tidegate-shield"),
        ]
        if self._notices is not None:
            tasks.append(asyncio.create_task(self._notices.run(), name="tidegate-notices"))
        if self._plan.lapses:
            lapse = Lapse(self._lifecycle, self._clock, self._random)
            tasks.append(asyncio.create_task(lapse.run(), name="tidegate-lapse"))
        return tasks

    async def _last_words(self) -> None:
        if self._notices is not None:
            await self._notices.done()
        self._lifecycle.advance(WorkerState.STOPPED)
        await self._reporter.last()
        total = self._report().total
        logger.info("worker stopped: %d completed, %d failed", total.completions, total.failures)

    def _watch(self, jobs: Jobs, lanes: Sequence[Lane]) -> HealthWatch:
        plan = self._plan
        times = {"clock": self._clock, "wall": self._wall}
        watch = HealthWatch(
            self._slots,
            jobs,
            lanes,
            stuck_after_s=plan.stuck_after_s,
            file=plan.health_file,
            leaves=lambda: plan.leaves_when_stuck and not self.draining,
            **times,
        )
        self._telemetry.watches.append(watch)
        return watch

    def _tuning(self, jobs: Jobs) -> list[asyncio.Task[None]]:
        if self._plan.auto is None:
            return []
        tuner = SlotTuner(self._plan.auto, self._slots, jobs.fill, self._clock)
        self._telemetry.watches.append(tuner)
        return [asyncio.create_task(tuner.run(), name="tidegate-slot-tuner")]

    def _jobs(self) -> Jobs:
        retry = RetryDelay(self._plan.retry_base_s, self._plan.retry_cap_s, self._random)
        return Jobs(
            self._runner,
            self._slots,
            Settler(self._telemetry, retry, self._share.budget),
            self._telemetry,
            Quarantine(self._notebook, self._plan.max_receives, self._wall),
            self._clock,
            self._plan.sorting,
            0 if any(queue.fifo for queue in self._plan.queues) else self._plan.prefetch,
            self._share.permits,
        )

    def _lanes(self, leases_s: Sequence[int], on_lost: Callable[[int], None]) -> list[Lane]:
        return open_lanes(
            self._plan,
            self._queues,
            leases_s,
            on_lost,
            slots=self._slots,
            telemetry=self._telemetry,
            notes=self._notebook,
            clock=self._clock,
            wall=self._wall,
            random=self._random,
        )

    def _consumer(self, lanes: Sequence[Lane], jobs: Jobs) -> Consumer:
        # Where a queue's visibility timeout has been read, the endpoint has been reached already.
        patience_s = math.inf if self._plan.visibility_timeout_s is None else PATIENCE_S
        return Consumer(
            [Poller(lane, patience_s, self._clock, self._random) for lane in lanes],
            self._slots,
            jobs,
            self._polled,
            self._telemetry.answered,
            poll_wait_s=self._plan.poll_wait_s,
            batch=self._plan.sorting.batch or 1,
            clock=self._clock,
        )

    def _polled(self) -> None:
        if self._telemetry.polled():
            self._reporter.soon()

    def _told(self, directive: Directive) -> None:
        self.directive = directive
        if self._plan.worker_id in directive.retire:
            self._lifecycle.retire(Why.SCALE_IN)
        else:
            self._lifecycle.take_back(Why.SCALE_IN)
