"""Calls of dependencies: timed, told apart by how they end, and in the worker's next heartbeat."""

import asyncio
import threading
import urllib.error
from email.message import Message as Headers

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from tests.worker.conftest import until, working
from tidegate.core.reports import CLASSES_AT_MOST, OTHER_CLASS, DependencyFigures
from tidegate.testing import FakeWorkQueue
from tidegate.worker.message import Message
from tidegate.worker.telemetry.dependencies import DependencyLog


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def log() -> DependencyLog:
    return DependencyLog(Clock())


class Refused(Exception):
    """As requests and httpx raise it."""

    def __init__(self, status: int) -> None:
        self.response = type("Response", (), {"status_code": status})()


class AnsweredBadly(Exception):
    """As aiohttp raises it."""

    def __init__(self, status: int) -> None:
        self.status = status


class ReadTimeout(Exception):
    """A client's own, which is no TimeoutError."""


def aws(code: str, status: int = 400) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutItem")  # type: ignore[typeddict-item]  # the parts that are looked at


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("down"), DependencyFigures(1, errors=1)),
        (ConnectionRefusedError(), DependencyFigures(1, errors=1)),
        (TimeoutError(), DependencyFigures(1, timeouts=1)),
        (ReadTimeout(), DependencyFigures(1, timeouts=1)),
        (ConnectTimeoutError(endpoint_url="x"), DependencyFigures(1, timeouts=1)),
        (Refused(429), DependencyFigures(1, throttled=1)),
        (Refused(503), DependencyFigures(1, errors=1)),
        (Refused(504), DependencyFigures(1, timeouts=1)),
        (Refused(404), DependencyFigures(1)),
        (AnsweredBadly(429), DependencyFigures(1, throttled=1)),
        (AnsweredBadly(500), DependencyFigures(1, errors=1)),
        (urllib.error.HTTPError("u", 429, "", Headers(), None), DependencyFigures(1, throttled=1)),
        (aws("ProvisionedThroughputExceededException"), DependencyFigures(1, throttled=1)),
        (aws("ThrottlingException"), DependencyFigures(1, throttled=1)),
        (aws("ConditionalCheckFailedException"), DependencyFigures(1)),
        (aws("InternalServerError", 500), DependencyFigures(1, errors=1)),
        (AnsweredBadly(7), DependencyFigures(1, errors=1)),
    ],
    ids=repr,
)
def test_an_error_passes_through_and_is_counted_by_its_kind(error: Exception, expected: DependencyFigures) -> None:
    calls = log()
    with pytest.raises(type(error)) as raised, calls.call("payments"):
        raise error
    assert raised.value is error
    assert calls.totals() == {"payments": expected}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, DependencyFigures(1)),
        (404, DependencyFigures(1)),
        (408, DependencyFigures(1, timeouts=1)),
        (429, DependencyFigures(1, throttled=1)),
        (503, DependencyFigures(1, errors=1)),
        (504, DependencyFigures(1, timeouts=1)),
    ],
)
def test_a_status_is_counted_for_clients_that_raise_nothing(status: int, expected: DependencyFigures) -> None:
    calls = log()
    with calls.call("payments") as call:
        call.answered(status)
    assert calls.totals() == {"payments": expected}


def test_the_time_inside_the_block_is_summed() -> None:
    clock = Clock()
    calls = DependencyLog(clock)
    for took_s in (0.5, 1.5):
        call = calls.call("payments")
        clock.now_s += 60  # before the block: not the dependency's
        with call:
            clock.now_s += took_s
    assert calls.totals()["payments"] == DependencyFigures(2, time_sum_s=2.0)


@pytest.mark.parametrize("end", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit()], ids=repr)
def test_a_call_that_is_cancelled_says_nothing_of_the_dependency(end: BaseException) -> None:
    calls = log()
    with pytest.raises(type(end)), calls.call("payments"):
        raise end
    assert calls.totals() == {}


def test_names_beyond_the_most_are_counted_as_one() -> None:
    calls = log()
    for n in range(CLASSES_AT_MOST + 5):
        with calls.call(f"shard-{n}"):
            pass
    assert len(calls.totals()) == CLASSES_AT_MOST + 1
    assert calls.totals()[OTHER_CLASS].calls == 5


def test_calls_from_many_threads_are_all_counted() -> None:
    calls, begin = log(), threading.Barrier(4)

    def work() -> None:
        begin.wait()
        for _ in range(500):
            with calls.call("payments"):
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls.totals()["payments"].calls == 2000


@pytest.mark.looptime
async def test_a_handlers_calls_are_in_the_heartbeat_each_once() -> None:
    failing = [False, False, True, False]

    async def handler(message: Message) -> None:
        async with message.dependency("payments"):
            await asyncio.sleep(0.25)
            if failing.pop():
                raise TimeoutError
        with message.dependency("stock"):
            pass

    queue = FakeWorkQueue()
    for n in range(3):
        queue.send(str(n))
    async with working(handler, queue) as bench:
        await until(lambda: len(queue.deleted) == 3)
    last = bench.sink.reports[-1]
    assert last.total.dependencies["payments"].calls == 4
    assert last.total.dependencies["payments"].timeouts == 1
    assert last.total.dependencies["payments"].time_sum_s == pytest.approx(1.0)
    assert last.total.dependencies["stock"].calls == 3
    assert sum(r.recent.dependencies.get("payments", DependencyFigures()).calls for r in bench.sink.reports) == 4


def test_a_message_made_by_hand_counts_for_itself() -> None:
    message = Message("m1", "body", {}, {}, receive_count=1, sent_at_s=0.0)
    with message.dependency("payments"):
        pass
    assert message.calls.totals()["payments"].calls == 1
