"""What only the real queue adapter has: finding the queue, clients and timeouts, calls that fail as a whole."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import boto3
import pytest

from tests.aws.moto_cloud import REGION, use_test_account
from tidegate.aws.aio import QUICK_CONFIG, poll_config
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.errors import Gone, Invalid, Throttled, Unreachable
from tidegate.ports import VisibilityChange
from tidegate.sandbox.sqs import SqsServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqsServer]:
    use_test_account(monkeypatch)
    with SqsServer() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
        yield server


@pytest.fixture
def sqs(server: SqsServer) -> Any:
    return boto3.client("sqs")


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def connect(stack: AsyncExitStack, queue: str, **options: Any) -> SqsWorkQueue:
    connected = await SqsWorkQueue.connect(queue, **options)
    stack.push_async_callback(connected.close)
    return connected


@pytest.mark.integration
@pytest.mark.parametrize("notation", ["name", "arn", "url"])
async def test_a_queue_is_found_by_name_arn_and_url(sqs: Any, stack: AsyncExitStack, notation: str) -> None:
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    queue = await connect(stack, {"name": "orders", "arn": arn, "url": url}[notation])
    assert [message.body for message in await queue.receive(1, 0)] == ["hello"]


@pytest.mark.integration
async def test_a_queue_that_does_not_exist_is_gone(sqs: Any, stack: AsyncExitStack) -> None:
    with pytest.raises(Gone, match="sqs:GetQueueUrl on nowhere"):
        await connect(stack, "nowhere")
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    queue = await connect(stack, url.replace("orders", "nowhere"))
    with pytest.raises(Gone, match="sqs:GetQueueAttributes"):
        await queue.visibility_timeout_s()
    with pytest.raises(Gone, match="sqs:ReceiveMessage"):
        await queue.receive(1, 0)


@pytest.mark.integration
async def test_attributes_of_the_sender_come_as_sqs_gives_them(sqs: Any, stack: AsyncExitStack) -> None:
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    tenant = {"DataType": "String", "StringValue": "acme"}
    sqs.send_message(QueueUrl=url, MessageBody="hello", MessageAttributes={"tenant": tenant}, MessageGroupId="acme")
    (message,) = await (await connect(stack, "orders")).receive(1, 0)
    assert message.message_attributes["tenant"]["StringValue"] == "acme"
    assert message.attributes["MessageGroupId"] == "acme"


@pytest.mark.integration
async def test_a_lease_of_ones_own_is_asked_for_at_each_receive(sqs: Any, stack: AsyncExitStack) -> None:
    url = sqs.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "0"})["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    queue = await connect(stack, "orders", visibility_s=60)
    assert await queue.visibility_timeout_s() == 60
    assert len(await queue.receive(1, 0)) == 1
    assert await queue.receive(1, 0) == []


async def test_nobody_there_is_unreachable(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"http://127.0.0.1:{port}")
    queue = await connect(stack, f"http://127.0.0.1:{port}/000000000000/orders")
    for call in (queue.visibility_timeout_s(), queue.receive(1, 0), queue.delete(["r"])):
        with pytest.raises(Unreachable):
            await call


async def test_no_region_is_said_with_where_to_set_it(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(Invalid, match="AWS_REGION"):
        await connect(stack, "orders")


async def test_an_endpoint_that_is_no_url_is_said(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "nonsense")
    with pytest.raises(Invalid, match="http://host:port"):
        await connect(stack, "orders")


def test_a_poll_may_take_longer_than_its_wait_and_is_never_repeated_unseen() -> None:
    config: Any = poll_config(20)
    assert config.read_timeout > 20
    assert config.retries["total_max_attempts"] == 1


def test_a_call_for_a_lease_is_known_to_have_failed_within_seconds() -> None:
    config: Any = QUICK_CONFIG
    assert config.read_timeout * config.retries["total_max_attempts"] <= 6


class Client:
    """The two batch calls of an SQS client; calls for entries from `broken_from` on fail as a whole."""

    def __init__(self, broken_from: int) -> None:
        self.broken_from = broken_from
        self.ids: list[list[str]] = []

    async def delete_message_batch(self, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, Any]:  # noqa: N803  boto's names
        self.ids.append([entry["Id"] for entry in Entries])
        if int(Entries[0]["Id"]) >= self.broken_from:
            raise Throttled("sqs:DeleteMessageBatch", "orders", "slow down")
        failed = {"Id": Entries[0]["Id"], "Code": "InternalError", "SenderFault": False}
        return {"Successful": [], "Failed": [failed]}


def queue_on(client: Client) -> SqsWorkQueue:
    anything: Any = client
    return SqsWorkQueue("orders", "url", anything, anything, None, AsyncExitStack())


async def test_a_call_that_fails_among_others_fails_its_own_entries_only() -> None:
    client = Client(broken_from=20)
    failures = await queue_on(client).delete([f"r{i}" for i in range(23)])
    assert [len(ids) for ids in client.ids] == [10, 10, 3]
    assert [(failure.index, failure.code) for failure in failures] == [
        (0, "InternalError"),
        (10, "InternalError"),
        (20, "Throttled"),
        (21, "Throttled"),
        (22, "Throttled"),
    ]


async def test_when_every_call_fails_the_error_is_raised() -> None:
    with pytest.raises(Throttled):
        await queue_on(Client(broken_from=0)).delete(["r0"])


@pytest.mark.integration
async def test_polls_and_everything_else_have_a_connection_pool_each(sqs: Any, stack: AsyncExitStack) -> None:
    """The mistake of misk #3811: long polls take the connections that deletes need."""
    sqs.create_queue(QueueName="orders")
    queue: Any = await connect(stack, "orders", region=REGION)
    assert queue._polls._endpoint.http_session is not queue._rest._endpoint.http_session


@pytest.mark.integration
async def test_a_visibility_change_carries_each_messages_own_timeout(sqs: Any, stack: AsyncExitStack) -> None:
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    for body in ("a", "b"):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    queue = await connect(stack, "orders")
    held = await queue.receive(10, 0)
    held += await queue.receive(10, 0)
    first, second = held
    assert (
        await queue.change_visibility(
            [VisibilityChange(first.receipt_handle, 0), VisibilityChange(second.receipt_handle, 100)]
        )
        == []
    )
    assert [message.message_id for message in await queue.receive(10, 0)] == [first.message_id]
