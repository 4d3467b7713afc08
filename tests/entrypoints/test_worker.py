"""`Worker` inside another program: on its loop, stopped from any thread, cancelled; and its heartbeat's way out."""

import asyncio
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.aws.moto_cloud import moto_over_http, our_sqs
from tidegate import Message, Worker
from tidegate.aws.dynamodb import create_table
from tidegate.aws.fleet_items import item_to_permits, permits_key
from tidegate.core.reports import WorkerState
from tidegate.core.workers.permits import FLEET, Holder
from tidegate.entrypoints.worker_wiring import plan_of
from tidegate.errors import ConfigError, Gone
from tidegate.sandbox.sqs import SqsServer
from tidegate.stores.file import FileStore
from tidegate.worker.jobs import settle
from tidegate.worker.jobs.sorting import UNSORTED

pytestmark = pytest.mark.integration

Send = Callable[[str], object]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqsServer]:
    with our_sqs(monkeypatch) as server:
        yield server


@pytest.fixture
def send(server: SqsServer) -> Send:
    sqs: Any = boto3.client("sqs")
    url = sqs.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "5"})["QueueUrl"]
    return lambda body: sqs.send_message(QueueUrl=url, MessageBody=body)


async def turns_of_the_loop() -> None:
    """Enough of them for a cancellation to arrive and be answered."""
    for _ in range(5):
        await asyncio.sleep(0)


def left(server: SqsServer) -> tuple[int, int]:
    seen = server.snapshot()["orders"]
    return seen.visible, seen.in_flight


async def test_async_handlers_run_on_the_callers_loop_and_stop_ends_serve(server: SqsServer, send: Send) -> None:
    seen: list[tuple[str, asyncio.AbstractEventLoop]] = []

    async def handler(message: Message) -> None:
        seen.append((message.body, asyncio.get_running_loop()))
        worker.stop("done")

    worker = Worker("orders", handler=handler, poll_wait=1)
    send("hello")
    await worker.serve()
    assert seen == [("hello", asyncio.get_running_loop())]
    assert left(server) == (0, 0)


async def test_a_caller_that_blocks_its_loop_does_not_lose_its_leases(server: SqsServer, send: Send) -> None:
    """The mistake of agno #9512. The lease is 1 s, the loop is blocked for 2.5 s."""
    runs: list[int] = []

    async def handler(message: Message) -> None:
        runs.append(message.receive_count)
        threading.Event().wait(2.5)
        worker.stop("done")

    worker = Worker("orders", handler=handler, poll_wait=1, slots=2, visibility_timeout=1)
    send("hello")
    await worker.serve()
    assert runs == [1]
    assert left(server) == (0, 0)


async def test_cancelling_serve_drains_first(server: SqsServer, send: Send) -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def handler(message: Message) -> None:
        started.set()
        go_on.wait(20)
        ended.set()

    serving = asyncio.create_task(Worker("orders", handler=handler, poll_wait=1).serve())
    send("hello")
    await asyncio.to_thread(started.wait, 20)
    serving.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert ended.is_set()
    assert left(server) == (0, 0)


async def test_a_second_cancellation_neither_blocks_the_programs_loop_nor_cuts_the_drain_short(
    server: SqsServer, send: Send
) -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def handler(message: Message) -> None:
        started.set()
        go_on.wait(5)
        ended.set()

    serving = asyncio.create_task(Worker("orders", handler=handler, poll_wait=1).serve())
    send("hello")
    await asyncio.to_thread(started.wait, 20)
    for _ in range(3):
        serving.cancel()
        await turns_of_the_loop()
        assert not serving.done()
    assert not ended.is_set(), "the loop stood still until the handler gave up"
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert ended.is_set()
    assert left(server) == (0, 0)


async def test_an_async_handler_finishes_on_the_programs_loop_after_a_second_cancellation(
    server: SqsServer, send: Send
) -> None:
    started, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handler(message: Message) -> None:
        started.set()
        await go_on.wait()
        ended.set()

    serving = asyncio.create_task(Worker("orders", handler=handler, poll_wait=1).serve())
    send("hello")
    await asyncio.wait_for(started.wait(), 20)
    for _ in range(2):
        serving.cancel()
        await turns_of_the_loop()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert ended.is_set()
    assert left(server) == (0, 0)


async def test_a_worker_that_fails_while_it_is_cancelled_says_what_it_failed_of(
    server: SqsServer, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def handler(message: Message) -> None:
        started.set()
        await go_on.wait()
        raise ValueError

    def broken(*_: object) -> float:
        raise ZeroDivisionError

    monkeypatch.setattr(settle, "full_jitter_s", broken)
    serving = asyncio.create_task(Worker("orders", handler=handler, poll_wait=1).serve())
    send("hello")
    await asyncio.wait_for(started.wait(), 20)
    serving.cancel()
    await turns_of_the_loop()
    go_on.set()
    with pytest.raises(ZeroDivisionError):
        await serving


async def test_a_worker_that_is_cancelled_while_it_starts_just_leaves(server: SqsServer) -> None:
    serving = asyncio.create_task(Worker("nowhere", handler=lambda message: None).serve())
    await turns_of_the_loop()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


def test_a_program_that_closes_its_loop_gives_its_messages_back(server: SqsServer, send: Send) -> None:
    """Without a lease kept alive for a handler that died with the loop, for up to 12 hours."""
    started = asyncio.Event()

    async def handler(message: Message) -> None:
        started.set()
        await asyncio.Event().wait()

    worker = Worker("orders", handler=handler, poll_wait=1, grace=1, visibility_timeout=600)
    loop = asyncio.new_event_loop()
    serving = loop.create_task(worker.serve())
    send("hello")
    loop.run_until_complete(asyncio.wait_for(started.wait(), 20))
    assert left(server) == (0, 1)
    (sdk,) = [thread for thread in threading.enumerate() if thread.name == "tidegate-sdk"]
    loop.close()
    sdk.join(20)
    assert not sdk.is_alive()
    assert left(server) == (1, 0)
    assert not serving.done()


PROGRAM = """
import asyncio, sys, threading
from tidegate import Worker

started = threading.Event()

def handler(message):
    started.set()
    threading.Event().wait()

loop = asyncio.new_event_loop()
serving = loop.create_task(Worker("orders", handler=handler).serve())
loop.run_until_complete(asyncio.to_thread(started.wait))
print("the end", flush=True)
"""


def test_a_program_that_ends_without_waiting_for_its_worker_does_end(server: SqsServer, send: Send) -> None:
    send("hello")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


async def test_a_worker_told_to_stop_before_it_serves_takes_nothing(server: SqsServer, send: Send) -> None:
    worker = Worker("orders", handler=lambda message: None, poll_wait=1)
    send("hello")
    worker.stop("changed my mind")
    await worker.serve()
    assert left(server) == (1, 0)


async def test_a_queue_that_does_not_exist_is_raised_out_of_serve(server: SqsServer) -> None:
    with pytest.raises(Gone, match="nowhere"):
        await Worker("nowhere", handler=lambda message: None).serve()


async def test_heartbeats_go_to_the_directory_under_the_queues_name(
    server: SqsServer, send: Send, tmp_path: Path
) -> None:
    def handler(message: Message) -> None:
        worker.stop("done")

    worker = Worker("orders", handler=handler, poll_wait=1, state_dir=tmp_path, id="w1", slots=3)
    send("hello")
    await worker.serve()
    (report,) = FileStore(tmp_path).workers("orders", now_s=0.0)
    assert (report.worker_id, report.slots, report.state) == ("w1", 3, WorkerState.STOPPED)
    assert report.total.completions == 1
    assert report.reason == "done"


def test_run_in_a_thread_of_a_program_leaves_signals_alone(server: SqsServer, send: Send) -> None:
    done = threading.Event()
    worker = Worker("orders", handler=lambda message: done.set(), poll_wait=1)
    running = threading.Thread(target=worker.run)
    running.start()
    send("hello")
    assert done.wait(20)
    worker.stop()
    running.join(20)
    assert not running.is_alive()
    assert left(server) == (0, 0)


async def test_a_fleets_limit_is_held_in_its_table_and_given_back(
    server: SqsServer, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Mapping[str, Holder]] = []
    with moto_over_http(monkeypatch) as clients:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
        table = f"fleet-{uuid.uuid4().hex}"  # the server's tables outlive it, as its process does
        create_table(clients.dynamodb(), table)

        def holders() -> Mapping[str, Holder]:
            item = clients.dynamodb().get_item(TableName=table, Key=permits_key("orders")).get("Item")
            return item_to_permits("orders", item).permits.holders

        def handler(message: Message) -> None:
            seen.append(holders())
            worker.stop("done")

        worker = Worker("orders", handler, poll_wait=1, slots=4, fleet_slots=2, retry_budget=0.1, table=table, id="w1")
        send("hello")
        await worker.serve()
        assert seen[0]["w1"].claims[FLEET].held == 2
        assert holders() == {}


def test_two_workers_on_one_machine_have_names_of_their_own() -> None:
    settings = Worker("orders", handler=lambda message: None).settings
    first, second = (plan_of(settings, UNSORTED) for _ in range(2))
    assert first.worker_id != second.worker_id


def test_a_wrong_setting_is_refused_when_the_worker_is_made() -> None:
    with pytest.raises(ConfigError, match="slots = 0"):
        Worker("orders", handler=lambda message: None, slots=0)


def test_a_worker_that_reports_to_nobody_is_never_asked_to_shed() -> None:
    assert not Worker("orders", handler=print).shedding
