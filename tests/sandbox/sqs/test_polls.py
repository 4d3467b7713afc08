"""Long polls in virtual time: who is woken, when, and who is not."""

import asyncio

import pytest

from tests.sandbox.sqs.builders import a_draft, a_queue
from tidegate.sandbox.sqs.model import Message
from tidegate.sandbox.sqs.polls import Ask, LongPolls
from tidegate.sandbox.sqs.queue import Limits, Queue

pytestmark = pytest.mark.looptime


class Desk:
    """A queue with its polls, on the loop's (virtual) clock."""

    def __init__(self, queue: Queue) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue = queue
        self.polls = LongPolls(self.loop.time)
        self.gone: set[str] = set()

    async def receive(self, who: str = "w", wait_s: float = 20, limit: int = 1, visibility_s: int = 30) -> list[str]:
        def take() -> list[Message]:
            return self.queue.take(limit, visibility_s, self.loop.time()).leased

        got = await self.polls.receive(self.queue, Ask(take, lambda: who in self.gone, wait_s))
        return [message.draft.body for message in got]

    def begin(self, who: str = "w", wait_s: float = 20, limit: int = 1) -> "asyncio.Task[list[str]]":
        return asyncio.create_task(self.receive(who, wait_s, limit))

    def send(self, *bodies: str, delay_s: int = 0) -> None:
        for body in bodies:
            self.queue.send(a_draft(body, group="g", deduplication_id=body, delay_s=delay_s or None), self.loop.time())
        self.polls.wake(self.queue)


@pytest.fixture
async def desk() -> Desk:
    return Desk(a_queue())


async def settled() -> None:
    """Let everything that can run now run."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_poll_gives_what_is_there_at_once(desk: Desk) -> None:
    desk.send("a")
    began_s = desk.loop.time()
    assert await desk.receive() == ["a"]
    assert desk.loop.time() == began_s


async def test_a_short_poll_of_an_empty_queue_does_not_wait(desk: Desk) -> None:
    began_s = desk.loop.time()
    assert await desk.receive(wait_s=0) == []
    assert desk.loop.time() == began_s


async def test_a_long_poll_of_an_empty_queue_ends_after_its_wait(desk: Desk) -> None:
    began_s = desk.loop.time()
    assert await desk.receive(wait_s=20) == []
    assert desk.loop.time() - began_s == pytest.approx(20)


async def test_a_long_poll_wakes_on_a_send(desk: Desk) -> None:
    poll = desk.begin()
    await asyncio.sleep(7)
    began_s = desk.loop.time()
    desk.send("a")
    assert await poll == ["a"]
    assert desk.loop.time() == began_s


async def test_a_long_poll_wakes_when_a_delay_ends(desk: Desk) -> None:
    began_s = desk.loop.time()
    poll = desk.begin()
    await settled()
    desk.send("a", delay_s=5)
    assert await poll == ["a"]
    assert desk.loop.time() - began_s == pytest.approx(5)


async def test_a_long_poll_wakes_when_a_lease_lapses(desk: Desk) -> None:
    desk.send("a")
    began_s = desk.loop.time()
    assert await desk.receive(visibility_s=8) == ["a"]
    assert await desk.receive() == ["a"]
    assert desk.loop.time() - began_s == pytest.approx(8)


async def test_a_long_poll_wakes_at_the_extended_end_of_a_lease_not_at_the_first(desk: Desk) -> None:
    desk.send("a")
    began_s = desk.loop.time()
    (message,) = desk.queue.take(1, 4, began_s).leased
    poll = desk.begin()
    await asyncio.sleep(2)
    desk.queue.change_visibility(desk.queue.handle(message), 7, desk.loop.time())
    desk.polls.wake(desk.queue)
    assert await poll == ["a"]
    assert desk.loop.time() - began_s == pytest.approx(9)


async def test_waiters_are_served_in_the_order_they_came(desk: Desk) -> None:
    polls = [desk.begin() for _ in range(3)]
    await settled()
    for place, body in enumerate(("1", "2", "3")):
        desk.send(body)
        await settled()
        assert [poll.done() for poll in polls] == [other <= place for other in range(3)]
        assert await polls[place] == [body]


async def test_one_send_of_many_serves_many_waiters(desk: Desk) -> None:
    polls = [desk.begin() for _ in range(3)]
    await settled()
    desk.send("1", "2", "3")
    served = [await poll for poll in polls]
    assert sorted(body for bodies in served for body in bodies) == ["1", "2", "3"]


async def test_a_newcomer_stands_behind_those_who_wait_already(desk: Desk) -> None:
    first = desk.begin()
    await settled()
    newcomer = desk.begin(wait_s=1)  # runs before the first, which is only now being woken
    desk.send("a")
    assert await first == ["a"]
    assert await newcomer == []


async def test_a_waiter_whose_connection_closed_is_passed_over(desk: Desk) -> None:
    dead, alive = desk.begin("dead"), desk.begin("alive")
    await settled()
    desk.gone.add("dead")
    desk.send("a")
    assert await alive == ["a"]
    assert await dead == []
    assert desk.queue.totals.received == 1


async def test_a_waiter_that_is_cancelled_as_it_is_woken_leaves_the_message_to_the_next(desk: Desk) -> None:
    first, second = desk.begin(), desk.begin()
    await settled()
    desk.send("a")
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second == ["a"]
    assert desk.queue.totals.received == 1


async def test_a_waiter_whose_wait_ends_as_the_message_comes_does_not_lose_it(desk: Desk) -> None:
    poll = desk.begin(wait_s=5)
    await settled()
    desk.loop.call_later(5, desk.send, "a")
    got = await poll
    await settled()
    assert got + await desk.receive(wait_s=0) == ["a"]


async def test_an_unblocked_group_wakes_the_waiter_of_a_fifo_queue() -> None:
    desk = Desk(a_queue(fifo=True))
    desk.send("1", "2")
    (first,) = desk.queue.take(1, 30, desk.loop.time()).leased
    poll = desk.begin()
    await asyncio.sleep(3)
    assert not poll.done()
    desk.queue.delete(desk.queue.handle(first), desk.loop.time())
    desk.polls.wake(desk.queue)
    assert await poll == ["2"]


async def test_a_long_poll_at_the_limit_in_flight_waits_until_there_is_room() -> None:
    desk = Desk(a_queue(limits=Limits(in_flight=1)))
    desk.send("1", "2")
    (first,) = desk.queue.take(1, 30, desk.loop.time()).leased
    poll = desk.begin()
    await asyncio.sleep(3)
    assert not poll.done()
    desk.queue.delete(desk.queue.handle(first), desk.loop.time())
    desk.polls.wake(desk.queue)
    assert len(await poll) == 1


async def test_closing_answers_every_poll_with_nothing_at_once_and_later_ones_too(desk: Desk) -> None:
    polls = [desk.begin() for _ in range(3)]
    await settled()
    began_s = desk.loop.time()
    desk.polls.close()
    assert [await poll for poll in polls] == [[], [], []]
    assert await desk.receive() == []
    assert desk.loop.time() == began_s


async def test_no_timer_is_left_when_nobody_waits(desk: Desk) -> None:
    desk.send("a", delay_s=30)
    assert await desk.receive(wait_s=1) == []
    assert desk.polls._lines == {}
    assert [handle for handle in desk.loop._scheduled if not handle.cancelled()] == []  # type: ignore[attr-defined] # the loop's own list is the only witness
