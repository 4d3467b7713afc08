"""`Worker` as it is written: its handler, its queues, its faults, its log level, and a whole one in virtual time."""

import asyncio
import os
import subprocess
import sys

import pytest
from pydantic import BaseModel

from tests.worker.conftest import until
from tidegate import Message, Reject, Worker
from tidegate.errors import ConfigError
from tidegate.sandbox.sqs import SqsServer
from tidegate.testing import FakeWorkQueue
from tidegate.worker.settings.worker_settings import worker_settings


class Order(BaseModel):
    number: int


def handle(message: Message) -> None: ...


def test_the_handler_stays_as_it_is_and_there_is_one() -> None:
    worker = Worker("orders")
    assert worker.handler(handle) is handle
    with pytest.raises(ConfigError, match="there is one already"):
        worker.handler(handle)


def test_a_worker_without_a_handler_says_how_to_give_it_one() -> None:
    with pytest.raises(ConfigError, match=r"handler = None: not given; pass it, Worker\(queue, handler\), or mark it"):
        Worker("orders").work()


@pytest.mark.parametrize("queue", [{"orders": 3, "mail": 1}, "orders=3, mail=1", " orders = 3,mail"])
def test_several_queues_are_given_with_their_weights(queue: dict[str, float] | str) -> None:
    assert Worker(queue, handle).settings.shares == {"orders": 3.0, "mail": 1.0}


def test_a_list_of_queues_shares_evenly() -> None:
    assert Worker(["orders", "mail"], handle).settings.shares == {"orders": 1.0, "mail": 1.0}


@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ("orders=0", "orders has '0', which is no number above 0; write name=number"),
        ("orders=many", "orders has 'many', which is no number above 0"),
        ("orders, orders", "orders stands there twice; name it once"),
        (" , ", "names nothing; write a name"),
    ],
)
def test_weights_that_are_none_are_refused(queue: str, says: str) -> None:
    with pytest.raises(ConfigError, match="queue = ") as caught:
        worker_settings({"queue": queue})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"class_slots": {"bulk": 3}, "slots": 2}, "class_slots = 'bulk=3': bulk may have 3 of 2 slots; write 1 to 2"),
        ({"class_slots": "bulk=1.5"}, "bulk can't have 1.5 slots; write whole numbers"),
        (
            {"dead_letter_queue": "orders"},
            "is the queue that is worked on; name the queue that rejected messages go to",
        ),
        ({"fleet_slots": 6}, "fleet_slots = 6: workers agree on it in the fleet's table, and there is none; set table"),
        ({"fleet_slots": 0, "table": "fleet"}, "fleet_slots = 0: is too small; write a"),
        ({"retry_budget": 0.1}, "retry_budget = 0.1: workers agree on it in the fleet's table, and there is none; set"),
        ({"retry_budget": 0}, "retry_budget = 0.0: workers agree on it in the fleet's table"),
        (
            {"retry_budget": -1, "table": "fleet"},
            "write retries per completed message, from 0 to 1000, or leave it out",
        ),
        ({"retry_budget": "few", "table": "fleet"}, "write retries per completed message"),
        (
            {"retry_floor": 2, "table": "fleet"},
            "retry_floor = 2.0: there is no budget that it could be the floor of; set",
        ),
        ({"retry_budget": 0.1, "retry_floor": 0, "table": "fleet"}, "write retries a second, above 0 and up to 1000"),
        ({"class_fleet_slots": "*=5"}, "class_fleet_slots = '*=5': workers agree on it in the fleet's table"),
        ({"class_fleet_slots": "a=0.5", "table": "fleet"}, "a can't have 0.5 slots; write whole numbers"),
        ({"batch_size": 11}, "write a whole number from 1 to 10"),
        ({"prefetch": -1}, "write a whole number from 0 to 1000, or leave it out"),
        ({"executor": "fork"}, "write thread or process"),
        ({"max_extensions": -1}, "write a whole number, 0 or more"),
        ({"progress_timeout": 0}, "progress_timeout = 0: not more than nothing"),
        ({"log_level": "loud"}, "write debug, info, warning or error"),
    ],
)
def test_settings_that_can_not_hold_are_refused_with_the_fix(given: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        worker_settings({"queue": "orders", **given})
    assert says in str(caught.value)


def test_a_misspelt_variable_is_refused_with_a_hint_and_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_WORKER_SLOT", "hunter2")
    monkeypatch.setenv("TIDEGATE_WORKER_COLOUR", "")
    with pytest.raises(ConfigError) as caught:
        worker_settings({"queue": "orders"})
    assert str(caught.value).startswith(
        "TIDEGATE_WORKER_SLOT = None: is set, but there is no such setting; did you mean"
    )
    assert "TIDEGATE_WORKER_SLOTS?" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "COLOUR" not in str(caught.value)


@pytest.mark.looptime
async def test_a_whole_worker_runs_in_a_test_on_its_loop_and_by_its_clock() -> None:
    seen: list[tuple[int, float]] = []

    def sync_handler(order: Order, message: Message) -> None:
        seen.append((order.number, asyncio.get_running_loop().time()))
        if message.receive_count == 1:
            raise RuntimeError

    queue = FakeWorkQueue(visibility_s=600)
    good, bad = queue.send('{"number": 7}'), queue.send("{}")
    worker = Worker("orders", sync_handler, retry_base="1h", retry_cap="1h")
    async with worker.in_test(queue):
        await until(lambda: good in queue.deleted)
    assert [number for number, _ in seen] == [7, 7]
    assert seen[1][1] > 60
    assert queue.dead_letters == [(bad, "the body is no Order: number (missing)")]


def test_a_limit_of_classes_is_refused_where_no_message_has_a_class() -> None:
    worker = Worker("orders", handle, class_fleet_slots={"bulk": 2, "*": 5}, table="fleet")
    with pytest.raises(
        ConfigError, match=r"class_fleet_slots = 'bulk=2, \*=5': no message has a class; pass class_of=…"
    ):
        worker.work()


@pytest.mark.looptime
async def test_the_fleets_limit_holds_in_a_test_of_a_worker_too() -> None:
    running, most = 0, 0

    async def work(message: Message) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1

    queue = FakeWorkQueue()
    async with Worker("orders", work, slots=4, fleet_slots=2, table="fleet").in_test(queue):
        for _ in range(10):
            queue.send()
        await queue.all_deleted()
    assert most == 2


@pytest.mark.looptime
async def test_a_test_of_several_queues_gives_one_for_each() -> None:
    async def handler(message: Message) -> Reject:
        return Reject(message.queue)

    orders, mail = FakeWorkQueue(), FakeWorkQueue()
    orders.send()
    mail.send()
    async with Worker(["orders", "mail"], handler, slots=2).in_test(orders, mail):
        await until(lambda: orders.deleted and mail.deleted)
    assert [reason for _, reason in orders.dead_letters + mail.dead_letters] == ["orders", "mail"]


PROGRAM = """
from tidegate import Worker

def handle(message):
    print("done", flush=True)
    worker.stop()

worker = Worker("orders", handle, poll_wait=1)
worker.run()
"""


def run(server: SqsServer, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TIDEGATE_"))}
    environment |= {
        "AWS_ENDPOINT_URL_SQS": server.url,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=50, check=False
    )


@pytest.mark.integration
def test_a_program_whose_worker_cannot_start_ends_with_2_and_one_line() -> None:
    with SqsServer() as server:
        ran = run(server)
    assert ran.returncode == 2
    (line,) = [line for line in ran.stderr.splitlines() if not line.startswith("2")]  # log lines begin with the year
    assert line.startswith("tidegate: sqs:GetQueueUrl on orders found nothing: ")


@pytest.mark.integration
@pytest.mark.parametrize(("level", "says_that_it_starts"), [("info", True), ("warning", False)])
def test_a_program_that_has_set_up_no_logging_logs_from_the_level_that_is_set(
    level: str, says_that_it_starts: bool
) -> None:
    import boto3

    with SqsServer() as server:
        sqs = boto3.client(
            "sqs", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="t", aws_secret_access_key="t"
        )
        sqs.send_message(QueueUrl=sqs.create_queue(QueueName="orders")["QueueUrl"], MessageBody="hello")
        ran = run(server, TIDEGATE_WORKER_LOG_LEVEL=level)
    assert (ran.returncode, ran.stdout) == (0, "done\n")
    assert ("of pool orders starts" in ran.stderr) is says_that_it_starts
