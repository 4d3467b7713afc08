"""Where handlers run: threads for sync ones, a loop for async ones, and how either ends."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from tidegate.ports import Received
from tidegate.worker.handlers.run_handler import LoopRunner, LoopThread, ThreadRunner
from tidegate.worker.message import Message, message_from


def message(id_: str = "m1") -> Message:
    return message_from(Received(id_, "r1", "body", {}), now_s=0.0)


@pytest.fixture
def handler_loop() -> Iterator[LoopThread]:
    loop = LoopThread()
    loop.start()
    yield loop
    loop.stop()


async def plain(message: Message) -> None: ...


def sync(message: Message) -> None: ...


async def test_sync_handlers_run_at_once_on_as_many_threads_as_slots_and_reuse_them() -> None:
    together, threads = threading.Barrier(3, timeout=10), set()

    def handler(message: Message) -> None:
        threads.add(threading.current_thread().name)
        together.wait()

    runner = ThreadRunner(handler, slots=3)
    for _ in range(2):
        assert await asyncio.gather(*(runner.start(message()).outcome() for _ in range(3))) == [None] * 3
    runner.close()
    assert threads == {f"tidegate-handler-{n}" for n in (1, 2, 3)}


@pytest.mark.parametrize("raised", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
async def test_whatever_a_sync_handler_raises_is_its_outcome_and_its_thread_lives_on(raised: BaseException) -> None:
    def handler(message: Message) -> None:
        if message.id == "bad":
            raise raised

    runner = ThreadRunner(handler, slots=1)
    assert await runner.start(message("bad")).outcome() is raised
    assert await runner.start(message("good")).outcome() is None
    runner.close()


async def test_a_thread_that_could_not_be_started_takes_no_slot_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    runner = ThreadRunner(sync, slots=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_more)
        with pytest.raises(RuntimeError, match="new thread"):
            runner.start(message())
    async with asyncio.timeout(20):
        assert await runner.start(message()).outcome() is None
    runner.close()


async def test_a_sync_handler_is_told_by_the_messages_flag() -> None:
    running = threading.Event()

    def handler(message: Message) -> None:
        running.set()
        assert message.lease_lost.wait(10)

    runner = ThreadRunner(handler, slots=1)
    run = runner.start(message())
    await asyncio.to_thread(running.wait)
    run.interrupt()
    assert await run.outcome() is None
    runner.close()


async def test_a_sync_handler_that_returns_work_still_to_be_done_has_failed_and_nothing_is_taken_for_done() -> None:
    runner = ThreadRunner(lambda given: plain(given), slots=1)
    error = await runner.start(message()).outcome()
    assert isinstance(error, TypeError)
    assert "make it async def" in str(error)
    runner.close()


async def test_an_async_handler_that_returns_work_still_to_be_done_has_failed_too(handler_loop: LoopThread) -> None:
    async def forgets_to_await(given: Message) -> object:
        return plain(given)

    assert isinstance(await LoopRunner(forgets_to_await, handler_loop.loop).start(message()).outcome(), TypeError)


async def test_an_async_handler_runs_on_its_own_loop_in_another_thread(handler_loop: LoopThread) -> None:
    seen = []

    async def handler(message: Message) -> None:
        seen.append((asyncio.get_running_loop(), threading.current_thread()))

    assert await LoopRunner(handler, handler_loop.loop).start(message()).outcome() is None
    ((loop, thread),) = seen
    assert loop is handler_loop.loop
    assert thread is not threading.current_thread()


async def test_an_async_handler_is_cancelled_when_told(handler_loop: LoopThread) -> None:
    running = threading.Event()

    async def handler(message: Message) -> None:
        running.set()
        await asyncio.Event().wait()

    given = message()
    run = LoopRunner(handler, handler_loop.loop).start(given)
    await asyncio.to_thread(running.wait)
    run.interrupt()
    assert isinstance(await run.outcome(), asyncio.CancelledError)
    assert given.lease_lost.is_set()


async def test_a_run_that_is_told_before_it_began_ends_too(handler_loop: LoopThread) -> None:
    blocked = threading.Event()
    handler_loop.loop.call_soon_threadsafe(blocked.wait)
    run = LoopRunner(plain, handler_loop.loop).start(message())
    run.interrupt()
    blocked.set()
    assert isinstance(await run.outcome(), asyncio.CancelledError)


@pytest.mark.parametrize("raised", [ValueError("no"), SystemExit(3)])
async def test_whatever_an_async_handler_raises_is_its_outcome_and_the_loop_lives_on(
    handler_loop: LoopThread, raised: BaseException
) -> None:
    async def handler(message: Message) -> None:
        if message.id == "bad":
            raise raised

    runner = LoopRunner(handler, handler_loop.loop)
    assert await runner.start(message("bad")).outcome() is raised
    assert await runner.start(message("good")).outcome() is None


class Closing(asyncio.SelectorEventLoop):
    """Looks open to whoever asks just before it closes."""

    closing = False

    def is_closed(self) -> bool:
        return super().is_closed() and not self.closing


def test_telling_a_handler_whose_loop_closes_in_that_moment_raises_nothing() -> None:
    """An error there would keep the messages after it from being released."""
    loop, given = Closing(), message()
    run = LoopRunner(plain, loop).start(given)
    loop.closing = True
    loop.close()
    run.interrupt()
    loop.closing = False
    assert given.lease_lost.is_set()


def test_stopping_the_loop_cancels_what_still_runs_there() -> None:
    ended: list[str] = []
    handler_loop = LoopThread()
    handler_loop.start()
    running = threading.Event()

    async def forever() -> None:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    asyncio.run_coroutine_threadsafe(forever(), handler_loop.loop)
    assert running.wait(10)
    handler_loop.stop()
    assert ended == ["cleaned up"]
    assert handler_loop.loop.is_closed()


def test_a_message_without_attributes_is_a_first_receive_sent_now() -> None:
    given = message_from(Received("m1", "r1", '{"n": 1}', {}), now_s=12.0)
    assert (given.receive_count, given.sent_at_s, given.group) == (1, 12.0, None)
    assert given.json() == {"n": 1}


def test_a_messages_attributes_are_read() -> None:
    attributes = {"ApproximateReceiveCount": "3", "SentTimestamp": "1700000000123", "MessageGroupId": "acme"}
    given = message_from(Received("m1", "r1", "body", attributes), now_s=12.0)
    assert (given.receive_count, given.sent_at_s, given.group) == (3, 1_700_000_000.123, "acme")
