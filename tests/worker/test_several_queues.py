"""One worker on several queues, and on one queue with several classes of jobs: shares, limits, nobody starves."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.errors import Unreachable
from tidegate.testing import FakeWorkQueue, RecordedHeartbeats
from tidegate.worker.handlers.run_handler import LoopRunner
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.leases.lane import QueuePlan
from tidegate.worker.message import Message
from tidegate.worker.service import Plan, WorkerService

pytestmark = pytest.mark.looptime


class Several:
    """A worker on queues of these weights; `done` counts by queue."""

    def __init__(self, plan: Plan, takes_s: float = 1.0, **weights: float) -> None:
        self.queues = {name: FakeWorkQueue(visibility_s=600) for name in weights}
        self.done: Counter[str] = Counter()
        self.order: list[str] = []
        self._takes_s = takes_s
        loop = asyncio.get_running_loop()
        plans = tuple(QueuePlan(name, weight) for name, weight in weights.items())
        self.sink = RecordedHeartbeats()
        self.service = WorkerService(
            replace(plan, queues=plans),
            list(self.queues.values()),
            self.sink,
            LoopRunner(self.handle, loop),
            clock=loop.time,
            wall=loop.time,
            random=lambda: 0.5,
        )
        self._serving = asyncio.create_task(self.service.serve())

    async def handle(self, message: Message) -> None:
        self.order.append(message.queue)
        await asyncio.sleep(self._takes_s)
        self.done[message.queue] += 1

    def send(self, name: str, count: int = 1) -> None:
        for _ in range(count):
            self.queues[name].send()

    async def stop(self) -> None:
        self.service.stop("test")
        await self._serving


@pytest.mark.parametrize("slots", [1, 8])
async def test_busy_queues_share_the_slots_by_their_weights(slots: int) -> None:
    worker = Several(replace(PLAN, slots=slots), orders=3, mail=1)
    for name in worker.queues:
        worker.send(name, 400)
    await until(lambda: sum(worker.done.values()) >= 200)
    assert worker.done["orders"] / sum(worker.done.values()) == pytest.approx(0.75, abs=0.08)
    await worker.stop()


async def test_a_queue_of_little_weight_that_gets_a_message_beside_a_flood_is_served_within_seconds() -> None:
    worker = Several(replace(PLAN, slots=2), flood=100, small=1)
    worker.send("flood", 2_000)
    await asyncio.sleep(60)
    worker.send("small")
    sent_at_s = asyncio.get_running_loop().time()
    await until(lambda: worker.done["small"])
    assert asyncio.get_running_loop().time() - sent_at_s < 60
    await worker.stop()


async def test_an_idle_queue_takes_hardly_any_slots_from_a_busy_one() -> None:
    worker = Several(replace(PLAN, slots=4), busy=1, idle=1)
    worker.send("busy", 400)
    await until(lambda: worker.done["busy"] == 400)
    assert asyncio.get_running_loop().time() < 100 * 1.3
    await worker.stop()


async def test_with_fewer_slots_than_queues_every_queue_is_still_looked_at() -> None:
    worker = Several(replace(PLAN, slots=1), takes_s=0.1, **dict.fromkeys("abcdefghij", 1.0))
    await asyncio.sleep(60)
    for name in worker.queues:
        worker.send(name)
    sent_at_s = asyncio.get_running_loop().time()
    await until(lambda: sum(worker.done.values()) == 10)
    assert asyncio.get_running_loop().time() - sent_at_s < 30
    await worker.stop()


async def test_a_queue_that_can_not_be_reached_does_not_hold_up_the_others() -> None:
    worker = Several(replace(PLAN, slots=2), well=1, sick=1)
    await until(lambda: worker.queues["sick"].of("receive"))
    worker.queues["sick"].fail("receive", *[Unreachable("sqs:ReceiveMessage", "sick", "down")] * 1_000)
    worker.send("well", 50)
    await until(lambda: worker.done["well"] == 50)
    assert asyncio.get_running_loop().time() < 60
    await worker.stop()


async def test_leases_of_all_queues_are_kept_and_a_drain_releases_what_each_holds() -> None:
    worker = Several(replace(PLAN, slots=2, grace_s=5), takes_s=5_000, a=1, b=1)
    for queue in worker.queues.values():
        queue.send()
    await until(lambda: len(worker.order) == 2)
    await asyncio.sleep(2_000)
    assert len(worker.order) == 2
    await worker.stop()
    assert [len(queue.visible()) for queue in worker.queues.values()] == [1, 1]


def by_body(message: Message) -> str:
    return message.body


CLASSES = replace(PLAN, sorting=Sorting(class_of=by_body))


@pytest.mark.parametrize(
    ("class_of", "says"),
    [
        (lambda message: message.json()["class"], "class_of raised KeyError"),
        (lambda message: None, "class_of gave NoneType, no text"),
        (lambda message: [message.body], "class_of gave list, no text"),
    ],
    ids=["raises", "none", "unhashable"],
)
async def test_a_message_whose_class_cannot_be_told_goes_to_its_handler_and_ends_no_worker(
    work: Work, class_of: Callable[[Message], str], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with working(work, plan=replace(PLAN, sorting=Sorting(class_of=class_of))) as bench:
        sent = bench.queue.send('{"card": "4111"}')
        await until(lambda: bench.queue.deleted == [sent])
        assert not bench.serving.done()
    assert f"message {sent} has no class: {says}" in caplog.text
    assert "4111" not in caplog.text


class Classes:
    """Handlers that take as long as the test says, by class; the most of each that ran at once."""

    def __init__(self, **takes_s: float) -> None:
        self.takes_s = takes_s
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.done: Counter[str] = Counter()

    async def __call__(self, message: Message) -> None:
        name = message.body
        self.running[name] += 1
        self.most[name] = max(self.most[name], self.running[name])
        try:
            await asyncio.sleep(self.takes_s[name])
            self.done[name] += 1
        finally:
            self.running[name] -= 1


async def test_no_class_takes_every_slot_and_the_others_go_on() -> None:
    work = Classes(bulk=1_000, quick=1)
    async with working(work, FakeWorkQueue(visibility_s=60), replace(CLASSES, slots=4, grace_s=5)) as bench:
        for _ in range(6):
            bench.queue.send("bulk")
        await until(lambda: work.running["bulk"] == 3)
        for _ in range(20):
            bench.queue.send("quick")
        await until(lambda: work.done["quick"] == 20)
        assert asyncio.get_running_loop().time() < 60
        assert work.most["bulk"] == 3
        await bench.stop()
        figures = bench.sink.reports[-1].total.classes
        assert (figures["quick"].completions, figures["bulk"].starts) == (20, 3)


async def test_a_class_has_as_many_slots_as_it_is_given() -> None:
    work = Classes(bulk=10, quick=1)
    plan = replace(CLASSES, slots=4, sorting=Sorting(by_body, {"bulk": 1}))
    async with working(work, FakeWorkQueue(visibility_s=60), plan) as bench:
        for _ in range(5):
            bench.queue.send("bulk")
        await until(lambda: work.done["bulk"] == 5)
        assert work.most["bulk"] == 1


async def test_what_waits_for_its_class_keeps_its_lease_and_runs_once() -> None:
    """Received, not started: the mistake of MassTransit #3585 is that nobody extends those."""
    work = Classes(bulk=100)
    plan = replace(CLASSES, slots=2, sorting=Sorting(by_body, {"bulk": 1}))
    async with working(work, FakeWorkQueue(visibility_s=10), plan) as bench:
        sent = [bench.queue.send("bulk") for _ in range(2)]
        await until(lambda: work.done["bulk"] == 2)
        await until(lambda: sorted(bench.queue.deleted) == sent)
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert (total.starts, total.redeliveries, total.leases_lost) == (2, 0, 0)


@pytest.mark.parametrize("takes_s", [0.05, 100.0])
async def test_a_message_goes_back_for_its_class_once_at_most(takes_s: float) -> None:
    """A redrive policy counts receives: what goes back again and again is a dead letter that never ran."""
    received: Counter[str] = Counter()

    class Seen(Classes):
        async def __call__(self, message: Message) -> None:
            received[message.id] = message.receive_count
            await super().__call__(message)

    work = Seen(bulk=takes_s)
    async with working(work, FakeWorkQueue(visibility_s=60), replace(CLASSES, slots=4, prefetch=None)) as bench:
        for _ in range(60):
            bench.queue.send("bulk")
        await until(lambda: work.done["bulk"] == 60)
        assert max(received.values()) == 2
        assert work.most["bulk"] == 3


async def test_what_waits_for_its_class_is_reported_as_work_that_waits() -> None:
    """SQS counts it as in flight: without this nobody would start a worker for it."""
    work = Classes(bulk=1_000)
    async with working(work, FakeWorkQueue(visibility_s=60), replace(CLASSES, slots=4, grace_s=5)) as bench:
        for _ in range(6):
            bench.queue.send("bulk")
        await until(lambda: bench.sink.reports[-1:] and bench.sink.reports[-1].busy == 3)
        assert bench.sink.reports[-1].buffered == 3


async def test_what_waits_in_hand_goes_back_at_once_when_the_worker_leaves() -> None:
    work = Classes(bulk=15)
    plan = replace(CLASSES, slots=3, sorting=Sorting(by_body, {"bulk": 1}))
    async with working(work, FakeWorkQueue(visibility_s=600), plan) as bench:
        sent = [bench.queue.send("bulk") for _ in range(3)]
        await until(lambda: work.running["bulk"] == 1)
        bench.service.stop("test")
        await until(lambda: len(bench.queue.visible()) == 2, within_s=1)
        await bench.serving
        assert len(bench.queue.deleted) == 1
        assert bench.queue.visible() < set(sent)


async def test_quick_handlers_have_messages_in_hand_and_slow_ones_none() -> None:
    for takes_s, in_hand in ((0.01, True), (5.0, False)):
        work = Classes(job=takes_s)
        async with working(work, FakeWorkQueue(visibility_s=600), replace(PLAN, slots=2)) as bench:
            for _ in range(60):
                bench.queue.send("job")
            most = 0
            while work.done["job"] < 40:
                most = max(most, len(bench.queue.in_flight()))
                await asyncio.sleep(takes_s / 2)
            assert (most > 4) is in_hand
            assert most <= 2 + 12 + 10
