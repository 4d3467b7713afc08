"""The endpoint over real sockets: start, stop, clients that vanish, the process of its own."""

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tidegate.sandbox.sqs import SqsEndpoint, SqsServer
from tidegate.sandbox.sqs.connection import hung_up

pytestmark = pytest.mark.integration

CONTENT_TYPE = "application/x-amz-json-1.0"


class Wire:
    """One connection that speaks the JSON protocol by hand, so that it can be cut where a real client would not."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)

    def ask(self, operation: str, **params: Any) -> None:
        headers = {"X-Amz-Target": f"AmazonSQS.{operation}", "Content-Type": CONTENT_TYPE}
        self.connection.request("POST", "/", json.dumps(params), headers)

    def answer(self) -> tuple[int, dict[str, Any], "http.client.HTTPMessage"]:
        response = self.connection.getresponse()
        return response.status, json.loads(response.read()), response.headers

    def __call__(self, operation: str, **params: Any) -> dict[str, Any]:
        self.ask(operation, **params)
        status, answer, _ = self.answer()
        assert status == 200, answer
        return answer

    def cut(self) -> None:
        self.connection.close()


@pytest.fixture
def server() -> Iterator[SqsServer]:
    with SqsServer() as running:
        yield running


@pytest.fixture
def wire(server: SqsServer) -> Iterator[Wire]:
    made = Wire(server.url)
    yield made
    made.cut()


def wait_for_polls(server: SqsServer, count: int) -> None:
    """Until `count` long polls wait; each look is one turn of the endpoint's loop."""
    for _ in range(10_000):
        if _waiting(server) == count:
            return
    pytest.fail(f"{_waiting(server)} long polls wait, not {count}")


def _waiting(server: SqsServer) -> int:
    server.snapshot()
    return sum(len(line.waiting) for line in list(server._endpoint._polls._lines.values()))


def test_a_refusal_carries_both_names_of_the_error(wire: Wire) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html"""
    wire.ask("GetQueueUrl", QueueName="nowhere")
    status, answer, headers = wire.answer()
    assert (status, answer["__type"]) == (400, "com.amazonaws.sqs#QueueDoesNotExist")
    assert headers["x-amzn-query-error"] == "AWS.SimpleQueueService.NonExistentQueue;Sender"
    assert headers["Content-Type"].startswith(CONTENT_TYPE)


@pytest.mark.parametrize("target", ["AmazonSQS.MakeCoffee", "DynamoDB_20120810.GetItem", ""])
def test_an_operation_it_does_not_know_is_refused(server: SqsServer, target: str) -> None:
    wire = Wire(server.url)
    wire.connection.request("POST", "/", "{}", {"X-Amz-Target": target})
    status, answer, _ = wire.answer()
    wire.cut()
    assert (status, answer["__type"]) == (400, "com.amazon.coral.service#UnknownOperationException")


def test_any_path_is_taken_as_the_javascript_sdk_posts_to_the_queue_url(server: SqsServer, wire: Wire) -> None:
    url = wire("CreateQueue", QueueName="jobs")["QueueUrl"]
    assert url.startswith(f"{server.url}/")
    headers = {"X-Amz-Target": "AmazonSQS.SendMessage"}
    wire.connection.request("POST", urlsplit(url).path, json.dumps({"QueueUrl": url, "MessageBody": "x"}), headers)
    assert wire.answer()[0] == 200


def test_a_batch_of_one_mebibyte_of_escaped_characters_is_read(wire: Wire) -> None:
    wire("CreateQueue", QueueName="jobs")
    body = "é" * (1_048_576 // 2)
    wire("SendMessage", QueueUrl="jobs", MessageBody=body)
    assert wire("ReceiveMessage", QueueUrl="jobs")["Messages"][0]["Body"] == body


def test_a_long_poll_whose_client_closed_is_never_handed_a_message(server: SqsServer, wire: Wire) -> None:
    wire("CreateQueue", QueueName="jobs")
    dead, alive = Wire(server.url), Wire(server.url)
    dead.ask("ReceiveMessage", QueueUrl="jobs", WaitTimeSeconds=20)
    wait_for_polls(server, 1)
    alive.ask("ReceiveMessage", QueueUrl="jobs", WaitTimeSeconds=20)
    wait_for_polls(server, 2)
    dead.cut()
    wire("SendMessage", QueueUrl="jobs", MessageBody="x")
    _, answer, _ = alive.answer()
    alive.cut()
    assert [message["Body"] for message in answer["Messages"]] == ["x"]
    assert server.snapshot()["jobs"].received == 1


def test_many_clients_that_close_in_the_moment_of_the_send_take_no_message_with_them(
    server: SqsServer, wire: Wire
) -> None:
    for number in range(50):
        wire("CreateQueue", QueueName=f"jobs-{number}")
        dead = Wire(server.url)
        dead.ask("ReceiveMessage", QueueUrl=f"jobs-{number}", WaitTimeSeconds=20)
        wait_for_polls(server, 1)
        dead.cut()
        wire("SendMessage", QueueUrl=f"jobs-{number}", MessageBody="x")
        wait_for_polls(server, 0)
    found = {(queue.visible, queue.in_flight, queue.received) for queue in server.snapshot().values()}
    assert found == {(1, 0, 0)}


def test_stopping_answers_open_long_polls_with_nothing(server: SqsServer, wire: Wire) -> None:
    wire("CreateQueue", QueueName="jobs")
    poll = Wire(server.url)
    poll.ask("ReceiveMessage", QueueUrl="jobs", WaitTimeSeconds=20)
    wait_for_polls(server, 1)
    server.stop()
    status, answer, _ = poll.answer()
    poll.cut()
    assert (status, answer) == (200, {})


def test_deleting_a_queue_answers_its_long_polls_and_only_those(server: SqsServer, wire: Wire) -> None:
    for name in ("jobs", "other"):
        wire("CreateQueue", QueueName=name)
    poll, other = Wire(server.url), Wire(server.url)
    poll.ask("ReceiveMessage", QueueUrl="jobs", WaitTimeSeconds=20)
    other.ask("ReceiveMessage", QueueUrl="other", WaitTimeSeconds=20)
    wait_for_polls(server, 2)
    wire("DeleteQueue", QueueUrl="jobs")
    assert poll.answer()[:2] == (200, {})
    wire("SendMessage", QueueUrl="other", MessageBody="x")
    assert other.answer()[1]["Messages"][0]["Body"] == "x"
    poll.cut()
    other.cut()


def test_after_the_stop_no_thread_is_left_and_the_port_is_free() -> None:
    before = threading.active_count()
    with SqsServer() as server:
        port = urlsplit(server.url).port
        assert threading.active_count() == before + 1
    server.stop()
    assert threading.active_count() == before
    with socket.create_server(("127.0.0.1", port or 0)):
        pass


def test_a_port_that_is_taken_is_told_at_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = SqsServer(port=taken.getsockname()[1])
        with pytest.raises(OSError, match="address already in use"):
            server.start()
    server.stop()


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_that_can_not_be_is_told_at_the_start(port: int) -> None:
    with pytest.raises(OverflowError, match="0-65535"):
        SqsServer(port=port).start()


async def test_it_runs_on_a_callers_own_loop_and_leaves_no_task_there() -> None:
    endpoint = SqsEndpoint()
    await endpoint.start()
    wire = Wire(endpoint.url)
    await asyncio.to_thread(wire, "CreateQueue", QueueName="jobs")
    assert list(endpoint.snapshot()) == ["jobs"]
    await endpoint.stop()
    wire.cut()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_closed_peer_is_seen_before_the_loop_has_seen_it() -> None:
    accepted: asyncio.Future[asyncio.BaseTransport] = asyncio.get_running_loop().create_future()

    class Silent(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.set_result(transport)

    server = await asyncio.get_running_loop().create_server(Silent, "127.0.0.1", 0)
    client = socket.create_connection(server.sockets[0].getsockname())
    transport = await accepted
    assert not hung_up(transport)
    client.close()
    assert not transport.is_closing(), "the loop knows nothing yet"
    assert hung_up(transport)
    assert hung_up(None)
    transport.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_as_a_process_it_says_its_url_serves_and_ends_on_a_signal(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "tidegate.sandbox.sqs"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        wire = Wire(process.stdout.readline().strip())
        wire("CreateQueue", QueueName="jobs")
        wire.ask("ReceiveMessage", QueueUrl="jobs", WaitTimeSeconds=20)
        process.send_signal(number)
        out, err = process.communicate(timeout=10)
        wire.cut()
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("where", [("--port", "99999"), ("--port", "-1"), ("--host", "a" * 64)])
def test_as_a_process_it_says_in_one_line_that_it_can_not_listen_there(where: tuple[str, str]) -> None:
    command = [sys.executable, "-m", "tidegate.sandbox.sqs", *where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("can't listen on ")


def test_as_a_process_it_says_in_one_line_that_the_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-m", "tidegate.sandbox.sqs", "--port", str(taken.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "choose another --port" in done.stderr
