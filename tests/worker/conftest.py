"""A worker in virtual time: the real service, a queue in memory, handlers on the same loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tidegate.ports import InstanceWatch, MessageNotes, PermitStore, TerminationHook
from tidegate.testing import FakeProtection, FakeWorkQueue, RecordedHeartbeats
from tidegate.worker.handlers.kinds import AsyncHandler
from tidegate.worker.handlers.run_handler import HandlerRunner, LoopRunner
from tidegate.worker.message import Message
from tidegate.worker.service import Plan, WorkerService

PLAN = Plan(
    worker_id="w1",
    pool="orders",
    slots=2,
    poll_wait_s=5,
    visibility_timeout_s=None,
    grace_s=20.0,
    heartbeat_s=10.0,
    retry_base_s=1.0,
    retry_cap_s=300.0,
)


@dataclass
class Work:
    """A handler that works for `takes_s` of virtual time and notes what it was given, by message id."""

    takes_s: float = 1.0
    started: list[str] = field(default_factory=list)
    started_at_s: list[float] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    most_at_once: int = 0

    async def __call__(self, message: Message) -> None:
        self.started.append(message.id)
        self.started_at_s.append(asyncio.get_running_loop().time())
        self.most_at_once = max(self.most_at_once, len(self.started) - len(self.finished) - len(self.told))
        try:
            await asyncio.sleep(self.takes_s)
        except asyncio.CancelledError:
            self.told.append(message.id)
            raise
        self.finished.append(message.id)


@dataclass
class Bench:
    """A worker under test, and everything around it."""

    queue: FakeWorkQueue
    sink: RecordedHeartbeats
    service: WorkerService
    serving: asyncio.Task[None]

    async def stop(self, reason: str = "test") -> None:
        self.service.stop(reason)
        await self.serving


async def until(condition: Callable[[], object], step_s: float = 0.01, within_s: float = 10_000) -> None:
    """Moves virtual time on until the condition holds, in steps that grow to a second."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + within_s
    while not condition():
        assert loop.time() < end_s, "it never came true"
        await asyncio.sleep(step_s)
        step_s = min(1.0, step_s * 1.02)


@asynccontextmanager
async def working(
    handler: AsyncHandler,
    queue: FakeWorkQueue | None = None,
    plan: Plan = PLAN,
    random: Callable[[], float] = lambda: 0.5,
    sink: RecordedHeartbeats | None = None,
    runner: HandlerRunner | None = None,
    clock: Callable[[], float] | None = None,
    protection: FakeProtection | None = None,
    instance: InstanceWatch | None = None,
    hook: TerminationHook | None = None,
    notes: MessageNotes | None = None,
    permits: PermitStore | None = None,
) -> AsyncIterator[Bench]:
    """The worker runs inside the block and is told to stop at its end, if it has not been by then."""
    loop = asyncio.get_running_loop()
    queue = queue or FakeWorkQueue()
    sink = sink or RecordedHeartbeats()
    runner = runner or LoopRunner(handler, loop)
    service = WorkerService(
        plan,
        [queue],
        sink,
        runner,
        clock=clock or loop.time,
        wall=loop.time,
        random=random,
        protection=protection,
        instance=instance,
        hook=hook,
        notes=notes,
        permits=permits,
    )
    serving = asyncio.create_task(service.serve())
    bench = Bench(queue, sink, service, serving)
    try:
        yield bench
        if not serving.done():
            await bench.stop()
    finally:
        serving.cancel()
        await asyncio.wait({serving})


@pytest.fixture
def work() -> Work:
    return Work()
