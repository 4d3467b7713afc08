"""From when on leases count: never from later than SQS handed the message out, also when the process stood still."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.conftest import until, working
from tidegate.ports import Received
from tidegate.testing import FakeWorkQueue
from tidegate.worker.message import Message
from tidegate.worker.receive.poll_watch import PollWatch


@pytest.mark.parametrize(
    ("looks_s", "handed_out_s"),
    [
        ([], 100.0),
        ([101.0], 100.0),
        ([101.0, 102.0, 103.0], 102.0),
        ([101.0 + n for n in range(30)], 120.0),
        ([101.0, 102.0, 142.0], 101.0),
        ([101.0, 102.0, 142.0, 143.0, 144.0], 101.0),
        ([101.0, 102.0, 110.0, 111.0, 150.0], 101.0),
        ([142.0, 143.0], 100.0),
    ],
    ids=["at once", "one look", "as ever", "past the wait", "stood still", "and went on", "twice", "from the start"],
)
def test_a_lease_counts_from_the_last_time_that_there_was_certainly_no_answer(
    looks_s: list[float], handed_out_s: float
) -> None:
    """The poll is sent at 100, waits for 20 s, and is looked at each second."""
    watch = PollWatch(100.0, wait_s=20.0, look_s=1.0)
    for look_s in looks_s:
        watch.not_back(look_s)
    assert watch.handed_out_s() == handed_out_s


@given(
    answered_s=st.floats(0.0, 20.0),
    still_from_s=st.floats(0.0, 25.0),
    still_s=st.one_of(st.just(0.0), st.floats(0.0, 100.0)),
    reading_s=st.floats(0.0, 0.9),
)
def test_whenever_the_process_stands_still_no_lease_is_thought_to_begin_after_the_answer_was_there(
    answered_s: float, still_from_s: float, still_s: float, reading_s: float
) -> None:
    """A poll sent at 0 with a wait of 20 s, looked at each second; the moment of reading the answer does not count."""
    goes_on_s = still_from_s + still_s

    def done_s(due_s: float) -> float:
        """When what is due then gets done: not while the process stands still."""
        return goes_on_s if still_from_s < due_s < goes_on_s else due_s

    begun_s = done_s(answered_s)
    read_s = begun_s + reading_s + (still_s if begun_s <= still_from_s < begun_s + reading_s else 0.0)
    watch = PollWatch(0.0, wait_s=20.0, look_s=1.0)
    look_s = done_s(1.0)
    while look_s <= read_s:
        watch.not_back(look_s)
        look_s = done_s(look_s + 1.0)

    assert watch.handed_out_s() <= answered_s + reading_s


class StandsStill(FakeWorkQueue):
    """The process is stopped while a poll is under way; SQS answers meanwhile, and goes on counting."""

    def __init__(self, stop: Callable[[], None], clock: Callable[[], float]) -> None:
        super().__init__(visibility_s=30, clock=clock)
        self._stop = stop

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        received = await super().receive(limit, wait_s, visibility_s)
        if received:
            self._stop()
        return received


@pytest.mark.looptime
@pytest.mark.parametrize(("stopped_s", "receive_that_runs"), [(8.0, 1), (29.0, 2), (40.0, 2)])
async def test_what_came_while_the_process_stood_still_for_a_lease_is_not_started_beside_its_next_copy(
    stopped_s: float, receive_that_runs: int
) -> None:
    """SIGSTOP in a poll, SIGCONT after the lease of 30 s: the message is visible again, and its receipt is old."""
    loop = asyncio.get_running_loop()
    still = [stopped_s]
    ahead_s = 0.0

    def stop() -> None:
        nonlocal ahead_s
        ahead_s += still.pop() if still else 0.0

    def clock() -> float:
        return loop.time() + ahead_s

    runs: list[int] = []

    async def handler(message: Message) -> None:
        runs.append(message.receive_count)
        await asyncio.sleep(3)

    queue = StandsStill(stop, clock)
    async with working(handler, queue, clock=clock) as bench:
        await asyncio.sleep(2)
        sent = queue.send()
        await until(lambda: queue.deleted == [sent])
        await bench.stop()
        assert runs == [receive_that_runs]
        touched = {handle for call in queue.calls for handle in call.receipt_handles}
        assert touched == {f"{sent}#{receive_that_runs}"}, "an old receipt can take the message from its new holder"
        assert bench.sink.reports[-1].total.uncertain_deletes == 0
