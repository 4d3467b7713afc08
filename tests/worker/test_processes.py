"""Handlers in child processes: what they may do, how they may end, and that nothing of it harms the worker."""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tidegate import Message, Reject, Retry, Worker
from tidegate.errors import ConfigError
from tidegate.ports import Received
from tidegate.worker.handlers.child import Recipe
from tidegate.worker.handlers.kinds import Handler
from tidegate.worker.handlers.process_runner import ChildDied, ProcessRunner
from tidegate.worker.message import message_from
from tidegate.worker.outcomes import HandlerError
from tidegate.worker.telemetry.dependencies import DependencyLog

pytestmark = pytest.mark.integration


class Lease:
    """Notes what a handler asks of it."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.some = threading.Event()

    def extend(self, for_s: float) -> None:
        self.asked.append(for_s)

    def progress(self) -> None:
        self.asked.append("progress")
        self.some.set()


def message(body: str = "", lease: Lease | None = None, calls: DependencyLog | None = None) -> Message:
    given = message_from(Received("m1", "r1", body, {}), 0.0, calls, lease=lease or Lease())
    assert isinstance(given, Message)
    return given


@asynccontextmanager
async def running(handler: Handler, slots: int = 1) -> AsyncIterator[ProcessRunner]:
    runner = ProcessRunner(Recipe(handler), slots, is_batch=False)
    try:
        yield runner
    finally:
        runner.close()


async def outcome(runner: ProcessRunner, given: Message) -> BaseException | None:
    async with asyncio.timeout(30):
        return await runner.start(given).outcome()


def raises(given: Message) -> None:
    raise ValueError("card " + "1" * 4)


class NotYet(Retry):
    """An outcome of the user's own, made of something else than a time."""

    def __init__(self, order: Message) -> None:
        super().__init__(after=11)
        self.order = order


def rejects(given: Message) -> None:
    raise Reject("no such customer")


def is_signalled(given: Message) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)


def asks(given: Message) -> None:
    given.extend(60)
    given.progress()
    with given.dependency("payments") as call:
        call.answered(200)


def waits_until_told(given: Message) -> None:
    given.progress()
    assert given.lease_lost.wait(20)


def hangs(given: Message) -> None:
    given.progress()
    threading.Event().wait()


DEEDS: dict[str, Callable[[Message], object]] = {
    "raise": raises,
    "retry": lambda given: Retry(after=7),
    "not yet": NotYet,
    "reject": rejects,
    "die": lambda given: os._exit(3),
    "killed": lambda given: os.kill(os.getpid(), signal.SIGKILL),
    "signals": is_signalled,
    "asks": asks,
    "until told": waits_until_told,
    "hangs": hangs,
    "done": lambda given: None,
}


def does_as_told(given: Message) -> object:
    return DEEDS[given.body](given)


async def test_outcomes_come_back_and_an_errors_text_does_not() -> None:
    async with running(does_as_told) as runner:
        assert await outcome(runner, message("done")) is None
        error = await outcome(runner, message("raise"))
        assert isinstance(error, HandlerError)
        assert error.kind == "ValueError"
        assert "does_as_told" in error.where
        assert "1111" not in f"{error}{error.where}"
        retry, reject = await outcome(runner, message("retry")), await outcome(runner, message("reject"))
        assert isinstance(retry, Retry)
        assert retry.after_s == 7
        assert isinstance(reject, Reject)
        assert reject.reason == "no such customer"


async def test_an_outcome_of_the_users_own_means_what_its_base_does() -> None:
    async with running(does_as_told) as runner:
        error = await outcome(runner, message("not yet"))
        assert type(error) is Retry
        assert error.after_s == 11


async def test_a_child_that_is_killed_between_two_messages_costs_neither() -> None:
    before = set(multiprocessing.active_children())
    async with running(does_as_told) as runner:
        assert await outcome(runner, message("done")) is None
        (child,) = set(multiprocessing.active_children()) - before
        child.kill()
        child.join(10)
        assert await outcome(runner, message("done")) is None


@pytest.mark.parametrize(("body", "says"), [("die", "exit code 3"), ("killed", "SIGKILL")])
async def test_a_child_that_dies_fails_its_message_alone_and_is_replaced(body: str, says: str) -> None:
    async with running(does_as_told) as runner:
        error = await outcome(runner, message(body))
        assert isinstance(error, ChildDied)
        assert says in str(error)
        assert await outcome(runner, message("done")) is None


async def test_signals_are_the_parents_business() -> None:
    async with running(does_as_told) as runner:
        assert await outcome(runner, message("signals")) is None


async def test_what_a_handler_asks_of_its_lease_and_counts_of_its_calls_reaches_the_worker() -> None:
    lease, calls = Lease(), DependencyLog(time.monotonic)
    async with running(does_as_told) as runner:
        assert await outcome(runner, message("asks", lease, calls)) is None
    assert lease.asked == [60, "progress"]
    assert calls.totals()["payments"].calls == 1


async def test_a_handler_hears_that_its_lease_is_lost() -> None:
    lease = Lease()
    async with running(does_as_told) as runner:
        run = runner.start(message("until told", lease))
        assert await asyncio.to_thread(lease.some.wait, 20)
        run.interrupt()
        assert await run.outcome() is None


async def test_a_handler_that_does_not_end_when_told_is_killed_and_its_slot_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tidegate.worker.handlers.process_runner._END_WITHIN_S", 0.1)
    lease = Lease()
    async with running(does_as_told) as runner:
        run = runner.start(message("hangs", lease))
        assert await asyncio.to_thread(lease.some.wait, 20)
        run.interrupt()
        assert isinstance(await run.outcome(), ChildDied)
        assert await outcome(runner, message("done")) is None


async def test_closing_kills_what_still_runs() -> None:
    lease = Lease()
    async with running(does_as_told) as runner:
        run = runner.start(message("hangs", lease))
        assert await asyncio.to_thread(lease.some.wait, 20)
    assert isinstance(await run.outcome(), ChildDied)


async def a_coroutine(given: Message) -> None: ...


def nested() -> Callable[[Message], None]:
    return lambda given: None


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (a_coroutine, "executor = 'process': the handler is async; make it a plain function"),
        (nested(), "can't be sent to another process; make each a function or class at the top of a module"),
    ],
)
def test_a_handler_that_cannot_run_in_a_process_is_refused(handler: Handler, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Worker("orders", handler, executor="process")
