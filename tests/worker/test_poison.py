"""Messages that kill workers, and messages that only look as if they did: in virtual time."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.core.workers.poison import NOTE_KEPT_S, MessageNote
from tidegate.errors import Unreachable
from tidegate.stores.notes import MemoryNotes
from tidegate.testing import FakeWorkQueue
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.message import Message
from tidegate.worker.outcomes import Retry

pytestmark = pytest.mark.looptime

LEASE_S = 30


async def killed(queue: FakeWorkQueue) -> None:
    """Everything that can be received is, by a worker that dies of it; then its leases run out."""
    while queue.visible():
        await queue.receive(10, 1, LEASE_S)
    await asyncio.sleep(LEASE_S + 1)


async def test_a_message_whose_last_receive_never_ended_runs_alone_and_the_others_wait() -> None:
    queue, notes, work = FakeWorkQueue(LEASE_S), MemoryNotes(), Work(takes_s=3.0)
    suspect = queue.send()
    await killed(queue)
    others = [queue.send() for _ in range(5)]
    beside: list[set[str]] = []
    running: set[str] = set()

    async def watched(message: Message) -> None:
        running.add(message.id)
        if message.id == suspect:
            beside.append(set(running))
        await work(message)
        running.discard(message.id)

    async with working(watched, queue, replace(PLAN, slots=4), notes=notes):
        await until(lambda: len(queue.deleted) == 6)
    assert beside == [{suspect}]
    assert set(work.finished) == {suspect, *others}
    assert work.most_at_once == 3
    assert (await notes.note("orders", suspect)).alone == ""


async def test_a_message_that_ran_alone_and_never_ended_is_a_dead_letter_before_it_runs_again(work: Work) -> None:
    queue, notes = FakeWorkQueue(LEASE_S), MemoryNotes()
    killer = queue.send()
    await killed(queue)
    await killed(queue)
    await notes.begins_alone("orders", killer, 2, "w9", NOTE_KEPT_S)
    async with working(work, queue, notes=notes):
        healthy = queue.send()
        await until(lambda: len(queue.deleted) == 2)
    assert work.started == [healthy]
    reason = "it ran alone in worker w9, which never came to its end: it kills workers"
    assert queue.dead_letters == [(killer, reason)]


async def test_every_suspect_of_one_death_runs_alone_once_and_all_are_done() -> None:
    """A worker of ten slots was killed: nine of its messages are innocent, and so may the tenth be."""
    queue, notes, work = FakeWorkQueue(LEASE_S), MemoryNotes(), Work(takes_s=1.0)
    suspects = {queue.send() for _ in range(10)}
    await killed(queue)
    async with working(work, queue, replace(PLAN, slots=10), notes=notes):
        await until(lambda: len(queue.deleted) == 10)
        assert queue.dead_letters == []
        assert work.most_at_once == 1
        assert set(work.finished) == suspects
        for _ in range(10):
            queue.send()
        await until(lambda: len(queue.deleted) == 20)
    assert work.most_at_once == 10


async def test_failures_and_backoffs_that_ended_in_order_never_make_a_suspect() -> None:
    queue, notes = FakeWorkQueue(LEASE_S), MemoryNotes()
    runs: list[int] = []
    most_at_once = at_once = 0

    async def fails(message: Message) -> None:
        nonlocal most_at_once, at_once
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        runs.append(message.receive_count)
        await asyncio.sleep(1)
        at_once -= 1
        if message.receive_count % 2:
            raise ValueError
        raise Retry(after=200)

    async with working(fails, queue, replace(PLAN, slots=4), notes=notes):
        for _ in range(4):
            queue.send()
        await until(lambda: len(runs) >= 40)
    assert most_at_once == 4
    assert queue.dead_letters == []


async def test_a_message_that_fails_is_a_dead_letter_after_as_many_receives_as_are_set() -> None:
    queue, notes = FakeWorkQueue(LEASE_S), MemoryNotes()
    runs: list[int] = []

    async def fails(message: Message) -> None:
        runs.append(message.receive_count)
        raise ValueError

    async with working(fails, queue, replace(PLAN, max_receives=3), notes=notes):
        message = queue.send()
        await until(lambda: queue.deleted)
    assert runs == [1, 2, 3]
    assert queue.dead_letters == [(message, "handed out 3 times and never done (max_receives 3)")]


def started(work: Work, runs: int) -> bool:
    return len(work.started) == runs


async def test_deploys_never_make_a_dead_letter_of_a_healthy_long_job() -> None:
    """Each worker is told to leave before the job of five minutes is done, six times; the cap is two receives."""
    queue, notes, work = FakeWorkQueue(LEASE_S), MemoryNotes(), Work(takes_s=300.0)
    plan = replace(PLAN, max_receives=2, grace_s=5.0)
    message = queue.send()
    for deploy in range(1, 7):
        async with working(work, queue, plan, notes=notes) as bench:
            await until(partial(started, work, deploy))
            await asyncio.sleep(60)
            await bench.stop("SIGTERM")
    assert await notes.note("orders", message) == MessageNote(6, spared=6)
    async with working(work, queue, plan, notes=notes):
        await until(lambda: queue.deleted)
    assert work.finished == [message]
    assert queue.dead_letters == []


async def test_retry_never_makes_a_dead_letter() -> None:
    queue, notes = FakeWorkQueue(LEASE_S), MemoryNotes()

    async def not_yet(message: Message) -> None:
        if message.receive_count < 9:
            raise Retry(after=100)

    async with working(not_yet, queue, replace(PLAN, max_receives=1), notes=notes):
        queue.send()
        await until(lambda: queue.deleted)
    assert queue.dead_letters == []


async def test_a_worker_told_to_leave_while_a_suspect_runs_alone_is_no_proof_even_if_it_is_then_killed() -> None:
    queue, notes, work = FakeWorkQueue(LEASE_S), MemoryNotes(), Work(takes_s=3600.0)
    suspect = queue.send()
    await killed(queue)
    async with working(work, queue, notes=notes) as bench:
        await until(lambda: work.started)
        assert (await notes.note("orders", suspect)).alone == "w1"
        bench.service.stop("SIGTERM")
        await asyncio.sleep(0.1)
        assert (await notes.note("orders", suspect)).alone == ""
        await bench.serving


async def test_a_lost_lease_of_a_run_alone_is_no_proof() -> None:
    """The worker lives: it says so as soon as it knows that its lease is gone."""
    queue, notes, work = FakeWorkQueue(LEASE_S), MemoryNotes(), Work(takes_s=3600.0)
    suspect = queue.send()
    await killed(queue)
    async with working(work, queue, notes=notes):
        await until(lambda: work.started)
        queue.show_again(suspect)
        await queue.receive(1, 1, 600)
        await until(lambda: work.told)
        assert (await notes.note("orders", suspect)).alone == ""


async def test_without_a_table_only_the_receive_count_is_known(work: Work) -> None:
    queue = FakeWorkQueue(LEASE_S)
    message = queue.send()
    await killed(queue)
    async with working(work, queue):
        await until(lambda: queue.deleted)
    assert work.finished == [message]
    twice = queue.send()
    await killed(queue)
    await killed(queue)
    async with working(work, queue, replace(PLAN, max_receives=2)):
        await until(lambda: len(queue.deleted) == 2)
    assert work.finished == [message]
    assert [id_ for id_, _ in queue.dead_letters] == [twice]


class Broken(MemoryNotes):
    """A table that can't be reached."""

    async def note(self, pool: str, message_id: str) -> MessageNote:
        raise Unreachable("dynamodb:GetItem", "fleet", "no answer")

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        raise Unreachable("dynamodb:UpdateItem", "fleet", "no answer")


async def test_a_table_that_fails_stops_nothing_and_convicts_nobody(work: Work) -> None:
    queue = FakeWorkQueue(LEASE_S)
    message = queue.send()
    await killed(queue)
    async with working(work, queue, replace(PLAN, max_receives=1), notes=Broken()):
        await until(lambda: queue.deleted)
    assert work.finished == [message]
    assert queue.dead_letters == []


class Slow(MemoryNotes):
    """A table that answers in ten minutes."""

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        await asyncio.sleep(600)


async def test_a_slow_table_takes_no_more_memory_than_for_a_thousand_notes(caplog: pytest.LogCaptureFixture) -> None:
    runs = 0

    async def fails(message: Message) -> None:
        nonlocal runs
        runs += 1
        raise Retry(after=3600)

    queue = FakeWorkQueue(LEASE_S)
    async with working(fails, queue, replace(PLAN, slots=50), notes=Slow()):
        for _ in range(1100):
            queue.send()
        await until(lambda: runs == 1100)
        assert sum(task.get_name() == "tidegate-note" for task in asyncio.all_tasks()) <= 1000
    assert "how message m1100 ended is not noted" in caplog.text


async def test_a_suspect_keeps_its_job_class(work: Work) -> None:
    queue = FakeWorkQueue(LEASE_S)
    queue.send("bulk")
    await killed(queue)
    sorting = Sorting(class_of=lambda message: message.body)
    async with working(work, queue, replace(PLAN, sorting=sorting), notes=MemoryNotes()) as bench:
        await until(lambda: queue.deleted)
        await bench.stop()
        assert bench.sink.reports[-1].total.classes["bulk"].completions == 1


async def test_a_dead_letter_that_finds_no_queue_is_kept_and_tried_again_later(work: Work) -> None:
    queue, notes = FakeWorkQueue(LEASE_S), MemoryNotes()
    queue.fail("dead_letter", Unreachable("sqs:SendMessage", "the dead-letter queue", "no answer"))
    killer = queue.send()
    await killed(queue)
    await killed(queue)
    await notes.begins_alone("orders", killer, 2, "w9", NOTE_KEPT_S)
    async with working(work, queue, notes=notes):
        await until(lambda: queue.deleted)
    assert work.started == []
    assert [id_ for id_, _ in queue.dead_letters] == [killer]
