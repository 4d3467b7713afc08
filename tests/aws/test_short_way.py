"""The short way beside botocore's: the same requests, answers and errors, and back when anything fails."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiobotocore.session import get_session
from aiohttp import web
from botocore import exceptions as boto
from botocore.credentials import ReadOnlyCredentials

from tests.aws.moto_cloud import CREDENTIALS, use_test_account
from tests.json_endpoint import JSON
from tidegate.aws.aio import QUICK_CONFIG, open_client
from tidegate.aws.short_way import ShortWay

pytestmark = pytest.mark.integration

NOW_S = 1_700_000_000.0
HANGS_UP = web.Response(status=599)
"""The connection is closed instead of an answer."""


@dataclass
class Endpoint:
    """Answers in turn with what a test wants, the last one for ever, and keeps the requests."""

    answers: list[web.Response | dict[str, Any]] = field(default_factory=lambda: [{}])
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.bodies.append(await request.read())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is HANGS_UP:
            assert request.transport is not None
            request.transport.close()
        if isinstance(answer, web.Response):
            return web.Response(status=answer.status, body=answer.body, headers=answer.headers)
        return web.Response(body=json.dumps(answer).encode(), headers={"Content-Type": JSON})


@pytest.fixture
async def stack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncExitStack]:
    use_test_account(monkeypatch)
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def endpoint(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    endpoint = Endpoint()
    runner = web.ServerRunner(web.Server(endpoint.answer))
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://{}:{}".format(*runner.addresses[0][:2]))
    return endpoint


Make = Callable[..., ShortWay]


@pytest.fixture
async def client(stack: AsyncExitStack, endpoint: Endpoint) -> Any:
    return await open_client(stack, get_session(), "sqs", None, QUICK_CONFIG)


def way(client: Any, operation: str = "DeleteMessageBatch", session: Any = None, *, again: bool = True) -> ShortWay:
    return ShortWay(client, session or get_session(), operation, again=again, wall=lambda: NOW_S)


async def delete(call: Callable[..., Any]) -> dict[str, Any]:
    answer: dict[str, Any] = await call(QueueUrl="https://q/orders", Entries=[{"Id": "0", "ReceiptHandle": "ré"}])
    return answer


async def test_the_first_call_is_botocores_and_the_further_ones_are_like_it(client: Any, endpoint: Endpoint) -> None:
    deletes = way(client)
    assert not deletes.short
    for _ in range(3):
        await delete(deletes)
    assert deletes.short
    theirs, ours, next_one = endpoint.headers
    assert ours.keys() == theirs.keys()
    own = {"authorization", "x-amz-date", "amz-sdk-invocation-id", "content-length"}
    assert {name for name in theirs if theirs[name] != ours[name]} == own
    assert ours["amz-sdk-invocation-id"] != next_one["amz-sdk-invocation-id"]
    assert json.loads(endpoint.bodies[0]) == json.loads(endpoint.bodies[1])


MESSAGES = {
    "none": {},
    "plain": {
        "Messages": [{"MessageId": "m", "ReceiptHandle": "r", "Body": "b\u2713", "Attributes": {"SenderId": "s"}}]
    },
    "attributes": {
        "Messages": [
            {
                "MessageId": "m",
                "ReceiptHandle": "r",
                "Body": "",
                "MessageAttributes": {
                    "bytes": {"DataType": "Binary.gzip", "BinaryValue": "/wD+"},
                    "text": {"DataType": "String", "StringValue": "x"},
                },
            }
        ]
    },
}


@pytest.mark.parametrize("answer", MESSAGES.values(), ids=MESSAGES.keys())
async def test_an_answer_is_read_as_botocore_reads_it(client: Any, endpoint: Endpoint, answer: dict[str, Any]) -> None:
    receive = way(client, "ReceiveMessage")
    endpoint.answers = [answer]
    theirs, ours = [await receive(QueueUrl="https://q/orders") for _ in range(2)]
    del theirs["ResponseMetadata"]
    assert ours == theirs


def refusal(status: int, kind: str, query: str) -> web.Response:
    body = json.dumps({"__type": f"com.amazonaws.sqs#{kind}", "message": "why"}).encode()
    headers = {"Content-Type": JSON, "x-amzn-RequestId": "req-1", "x-amzn-query-error": f"{query};Sender"}
    return web.Response(status=status, body=body, headers=headers)


@pytest.mark.parametrize(
    "answer",
    [
        refusal(400, "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"),
        refusal(403, "AccessDeniedException", "AccessDenied"),
        web.Response(status=403, body=b"<html>no</html>", headers={"Content-Type": "text/html"}),
    ],
    ids=["modelled", "denied", "html"],
)
async def test_a_refusal_is_botocores_own_error_and_the_next_call_is_botocores(
    client: Any, endpoint: Endpoint, answer: web.Response
) -> None:
    deletes = way(client)
    await delete(deletes)
    assert deletes.short
    endpoint.answers = [answer]
    with pytest.raises(boto.ClientError) as ours:
        await delete(deletes)
    assert len(endpoint.headers) == 2
    assert not deletes.short
    with pytest.raises(boto.ClientError) as theirs:
        await delete(deletes)
    assert type(ours.value) is type(theirs.value)
    assert ours.value.response["Error"] == theirs.value.response["Error"]
    for name in ("HTTPStatusCode", "RequestId"):
        assert ours.value.response["ResponseMetadata"].get(name) == theirs.value.response["ResponseMetadata"].get(name)
    endpoint.answers = [{}]
    await delete(deletes)
    assert deletes.short


PASSING = {"fault of AWS's": refusal(500, "InternalFailure", "InternalFailure"), "closed connection": HANGS_UP}


@pytest.mark.parametrize("failure", PASSING.values(), ids=PASSING.keys())
async def test_what_may_pass_is_called_again_by_botocore(client: Any, endpoint: Endpoint, failure: Any) -> None:
    deletes = way(client)
    await delete(deletes)
    endpoint.answers = [failure, {"Successful": [{"Id": "0"}]}]
    assert (await delete(deletes))["Successful"] == [{"Id": "0"}]
    assert len(endpoint.headers) == 3


class Slow:
    """A connection pool that sends nothing, and is said to have waited."""

    def __init__(self) -> None:
        self.sent = 0

    async def send(self, request: Any) -> Any:
        self.sent += 1
        raise boto.ReadTimeoutError(endpoint_url=request.url)


@pytest.mark.parametrize(("again", "sent"), [(True, 2), (False, 1)])
async def test_what_was_too_slow_is_called_as_often_as_botocore_would_and_no_more(
    client: Any, monkeypatch: pytest.MonkeyPatch, *, again: bool, sent: int
) -> None:
    deletes, slow = way(client, again=again), Slow()
    await delete(deletes)
    monkeypatch.setattr(client._endpoint.http_session, "send", slow.send)
    with pytest.raises(boto.ReadTimeoutError):
        await delete(deletes)
    assert slow.sent == sent
    assert not deletes.short


@pytest.mark.parametrize(
    ("failure", "error"),
    [(PASSING["fault of AWS's"], boto.ClientError), (HANGS_UP, boto.ConnectionClosedError)],
    ids=PASSING.keys(),
)
async def test_a_poll_is_never_repeated_unseen(
    client: Any, endpoint: Endpoint, failure: Any, error: type[Exception]
) -> None:
    receive = way(client, "ReceiveMessage", again=False)
    await receive(QueueUrl="https://q/orders")
    endpoint.answers = [failure]
    with pytest.raises(error):
        await receive(QueueUrl="https://q/orders")
    assert len(endpoint.headers) == 2


async def test_an_answer_that_is_none_is_a_value_error_and_not_asked_for_again(client: Any, endpoint: Endpoint) -> None:
    deletes = way(client)
    await delete(deletes)
    endpoint.answers = [web.Response(body=b"<html>Please log in</html>")]
    with pytest.raises(ValueError, match="Expecting value"):
        await delete(deletes)
    assert len(endpoint.headers) == 2
    assert not deletes.short


class Rotating:
    """A session whose credentials are renewed."""

    def __init__(self, *each: ReadOnlyCredentials) -> None:
        self._each = list(each)

    async def get_credentials(self) -> "Rotating":
        return self

    async def get_frozen_credentials(self) -> ReadOnlyCredentials:
        return self._each.pop(0) if len(self._each) > 1 else self._each[0]


async def test_renewed_credentials_sign_from_then_on(client: Any, endpoint: Endpoint) -> None:
    first = ReadOnlyCredentials("testing", "testing", CREDENTIALS["AWS_SESSION_TOKEN"])
    deletes = way(client, session=Rotating(first, first, ReadOnlyCredentials("AKIDNEW", "new", "new token")))
    for _ in range(3):
        await delete(deletes)
    assert [headers["x-amz-security-token"] for headers in endpoint.headers] == ["testing", "testing", "new token"]
    assert "Credential=AKIDNEW/20231114/eu-west-1/sqs/aws4_request" in endpoint.headers[2]["authorization"]


async def test_where_somebody_adds_headers_every_call_stays_botocores(client: Any, endpoint: Endpoint) -> None:
    def trace(request: Any, **_: object) -> None:
        request.headers["X-Amzn-Trace-Id"] = f"Root={len(endpoint.headers)}"

    client.meta.events.register("before-send.sqs", trace)
    deletes = way(client)
    for _ in range(3):
        await delete(deletes)
    assert not deletes.short
    assert [headers["x-amzn-trace-id"] for headers in endpoint.headers] == ["Root=0", "Root=1", "Root=2"]
