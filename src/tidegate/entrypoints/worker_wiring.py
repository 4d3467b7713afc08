"""What a worker is put together from: its settings as a plan, its queues, and where it reports to."""

import os
import socket
import uuid
from contextlib import AsyncExitStack

from tidegate.aws.heartbeats import DynamoHeartbeats
from tidegate.aws.message_notes import DynamoMessageNotes
from tidegate.aws.permits import DynamoPermits
from tidegate.aws.queues import queue_name
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport
from tidegate.core.workers.auto_slots import AutoSlots
from tidegate.ports import HeartbeatSink, MessageNotes, PermitStore, WorkQueue
from tidegate.stores.file import FileStore
from tidegate.stores.notes import FileNotes
from tidegate.stores.permits import FilePermits
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.leases.book import LeaseLimits
from tidegate.worker.leases.lane import QueuePlan
from tidegate.worker.service import Plan
from tidegate.worker.settings.worker_settings import WorkerSettings

__all__ = ["NoFleet", "open_notes", "open_permits", "open_queues", "open_sink", "plan_of"]


def plan_of(settings: WorkerSettings, sorting: Sorting) -> Plan:
    """The settings, settled. Raises Invalid when a queue is written as no queue is."""
    names = {queue: queue_name(queue) for queue in settings.shares}
    return Plan(
        worker_id=settings.id or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}",
        pool=settings.pool or next(iter(names.values())),
        slots=settings.slots.least if isinstance(settings.slots, AutoSlots) else settings.slots,
        auto=settings.slots if isinstance(settings.slots, AutoSlots) else None,
        poll_wait_s=settings.poll_wait_s,
        visibility_timeout_s=settings.visibility_timeout_s,
        grace_s=settings.grace_s,
        heartbeat_s=settings.heartbeat,
        retry_base_s=settings.retry_base,
        retry_cap_s=settings.retry_cap,
        queues=tuple(
            QueuePlan(queue, share, fifo=names[queue].endswith(".fifo")) for queue, share in settings.shares.items()
        ),
        leases=LeaseLimits(settings.max_extensions, settings.progress_timeout),
        limits=settings.fleet_limits,
        retries=settings.retry_limit,
        sorting=sorting,
        prefetch=settings.prefetch,
        max_receives=settings.max_receives,
        start_delay_s=settings.start_delay,
        health_port=settings.health_port,
        health_file=settings.health_file,
        stuck_after_s=settings.stuck_after,
        leaves_when_stuck=settings.leaves_when_stuck,
    )


async def open_queues(settings: WorkerSettings, plan: Plan, stack: AsyncExitStack) -> list[WorkQueue]:
    """The plan's queues, which `stack` closes. Raises Invalid when there is no Region or the endpoint is no URL."""
    queues: list[WorkQueue] = []
    for queue in plan.queues:
        opened = await SqsWorkQueue.connect(
            queue.name,
            region=settings.region,
            poll_wait_s=plan.poll_wait_s,
            dead_letter_queue=settings.dead_letter_queue,
        )
        stack.push_async_callback(opened.close)
        queues.append(opened)
    return queues


async def open_sink(settings: WorkerSettings, stack: AsyncExitStack) -> HeartbeatSink:
    """Where the worker reports to, which `stack` closes."""
    sink: HeartbeatSink
    if settings.table is not None:
        sink = await DynamoHeartbeats.connect(settings.table, region=settings.region)
    else:
        sink = NoFleet() if settings.state_dir is None else FileStore(settings.state_dir)
    stack.push_async_callback(sink.close)
    return sink


async def open_notes(settings: WorkerSettings, stack: AsyncExitStack) -> MessageNotes | None:
    """Where the fleet keeps its notes of messages, which `stack` closes; None: nowhere."""
    notes: MessageNotes
    if settings.table is not None:
        notes = await DynamoMessageNotes.connect(settings.table, region=settings.region)
    elif settings.state_dir is not None:
        notes = FileNotes(settings.state_dir)
    else:
        return None
    stack.push_async_callback(notes.close)
    return notes


async def open_permits(settings: WorkerSettings, stack: AsyncExitStack) -> PermitStore | None:
    """Where the fleet's permits are, which `stack` closes; None: nothing holds for all workers together.

    A retry budget needs them too: they tell how many workers share its floor.
    """
    permits: PermitStore
    if not settings.fleet_limits and settings.retry_limit is None:
        return None
    if settings.table is not None:
        permits = await DynamoPermits.connect(settings.table, region=settings.region)
    elif settings.state_dir is not None:
        permits = FilePermits(settings.state_dir)
    else:
        return None
    stack.push_async_callback(permits.close)
    return permits


class NoFleet:
    """A heartbeat sink for a worker that no controller reads."""

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        """Nobody asked to know."""

    async def directive(self, pool: str) -> Directive:
        """Nobody says anything."""
        return Directive()

    async def close(self) -> None:
        """Nothing is open."""
