"""Requests after botocore's model: signed as botocore signs, and none where botocore's own can't be reproduced."""

import datetime
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import botocore.session
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse, HTTPHeaders
from botocore.config import Config
from botocore.credentials import ReadOnlyCredentials
from hypothesis import given
from hypothesis import strategies as st

from tests.aws.moto_cloud import use_test_account
from tidegate.aws.request_model import RequestModel, model_of

OURS = ReadOnlyCredentials("AKIDOURS", "secret", None)
KEYS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=20)
TOKENS = st.none() | st.text("abcXYZ0189+/=", min_size=1, max_size=200)
SECONDS = st.integers(0, 4_000_000_000)


class Nothing:
    """The body of an answer that says nothing."""

    def stream(self) -> list[bytes]:
        return [b"{}"]


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)


def sent(
    region: str = "eu-west-1",
    credentials: ReadOnlyCredentials = OURS,
    *,
    endpoint_url: str | None = None,
    config: Config | None = None,
) -> Any:
    """The request that botocore makes of a delete; it never leaves this process."""
    session = botocore.session.get_session()
    session.set_credentials(str(credentials.access_key), str(credentials.secret_key), credentials.token)
    client: Any = session.create_client("sqs", region_name=region, endpoint_url=endpoint_url, config=config)
    requests: list[Any] = []

    def keep(request: Any, **_: object) -> AWSResponse:
        requests.append(request)
        headers, body = HTTPHeaders(), Nothing()
        return AWSResponse(request.url, 200, headers, body)

    client.meta.events.register("before-send.sqs.DeleteMessageBatch", keep)
    client.delete_message_batch(QueueUrl="https://queue/orders", Entries=[{"Id": "0", "ReceiptHandle": "r"}])
    client.close()
    return requests[0]


def signed_by_botocore(request: Any, credentials: ReadOnlyCredentials, at_s: int, region: str) -> str:
    """The authorization that botocore gives a request of the same URL, headers and body."""
    kept = ("x-amz-target", "content-type", "x-amzn-query-mode", "user-agent")
    headers = {name: value for name, value in request.headers.items() if name.lower() in kept}
    again = AWSRequest("POST", request.url, headers, request.body)
    at = datetime.datetime.fromtimestamp(at_s, datetime.UTC)
    with patch("botocore.auth.get_current_datetime", lambda: at):
        SigV4Auth(credentials, "sqs", region).add_auth(again)
    return str(again.headers["Authorization"])


def test_a_request_of_botocores_is_understood_whatever_the_endpoint_is() -> None:
    made = {
        "https://sqs.eu-west-1.amazonaws.com/": sent(),
        "https://sqs.cn-north-1.amazonaws.com.cn/": sent("cn-north-1"),
        "https://sqs-fips.us-east-1.amazonaws.com/": sent("us-east-1", config=Config(use_fips_endpoint=True)),
        "https://sqs.eu-west-1.api.aws/": sent(config=Config(use_dualstack_endpoint=True)),
        "http://127.0.0.1:4566/some/path": sent(endpoint_url="http://127.0.0.1:4566/some/path"),
        "https://queue.example:443/": sent(endpoint_url="https://queue.example:443"),
    }
    for url, request in made.items():
        model = model_of(request, OURS)
        assert model is not None, url
        assert model.request(b"{}", 0.0, OURS).url == request.url
    assert [request.url for request in made.values()] == list(made)


@given(body=st.binary(max_size=300), at_s=SECONDS, key=KEYS, secret=KEYS, token=TOKENS)
def test_the_signature_is_botocores_for_every_body_time_and_credentials(
    body: bytes, at_s: int, key: str, secret: str, token: str | None
) -> None:
    credentials = ReadOnlyCredentials(key, secret, token)
    made = MODEL.request(body, at_s + 0.9, credentials)
    assert made.headers["authorization"] == signed_by_botocore(made, credentials, at_s, "us-east-1")
    assert made.headers.get("x-amz-security-token") == token


MODEL = RequestModel(
    "https://sqs.us-east-1.amazonaws.com/",
    {
        "host": "sqs.us-east-1.amazonaws.com",
        "x-amz-target": "AmazonSQS.DeleteMessageBatch",
        "content-type": "application/x-amz-json-1.0",
        "x-amzn-query-mode": "true",
        "user-agent": "tidegate  worker",
    },
    "us-east-1",
    "sqs",
    frozenset({"content-type", "host", "x-amz-date", "x-amz-target", "x-amzn-query-mode"}),
)


def test_only_what_is_one_calls_own_differs_from_the_model() -> None:
    request = sent(credentials=(credentials := ReadOnlyCredentials("AKIDTOKEN", "secret", "token")))
    model = model_of(request, credentials)
    assert model is not None
    first, second = (model.request(b'{"QueueUrl":"q"}', at_s, credentials) for at_s in (1.0, 2.0))
    theirs = {name.lower(): value for name, value in request.headers.items()}
    assert first.headers.keys() == theirs.keys()
    own = {"authorization", "x-amz-date", "amz-sdk-invocation-id", "content-length"}
    for name in theirs.keys() - own:
        assert first.headers[name] == second.headers[name] == text(theirs[name])
    for name in own - {"content-length"}:
        assert first.headers[name] != second.headers[name]


def text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


CALL = "amz-sdk-invocation-id"


def with_header(request: Any, name: str, value: str | None) -> None:
    if name in request.headers:
        del request.headers[name]
    if value is not None:
        request.headers[name] = value


CHANGES: dict[str, Callable[[Any], None]] = {
    "a header of somebody else's": lambda request: with_header(request, "X-Amzn-Trace-Id", "Root=1"),
    "no signature": lambda request: with_header(request, "Authorization", None),
    "another kind of signature": lambda request: with_header(request, "Authorization", "Bearer abc"),
    "another body than was signed": lambda request: setattr(request, "body", request.body + b" "),
    "another target than was signed": lambda request: with_header(request, "X-Amz-Target", "AmazonSQS.Other"),
    "a query": lambda request: setattr(request, "url", request.url + "?a=b"),
    "another method": lambda request: setattr(request, "method", "GET"),
    "a signed header that each call has its own of": lambda request: with_header(
        request,
        "Authorization",
        text(request.headers["Authorization"]).replace("=content-type", f"={CALL};content-type"),
    ),
    "a second attempt": lambda request: with_header(
        request, "amz-sdk-request", "ttl=20261130T093000Z; attempt=2; max=2"
    ),
    "a body that is no bytes": lambda request: setattr(request, "body", None),
    "no date": lambda request: with_header(request, "X-Amz-Date", None),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_request_that_is_not_understood_is_no_model(change: Callable[[Any], None]) -> None:
    request = sent()
    assert model_of(request, OURS) is not None
    change(request)
    assert model_of(request, OURS) is None


def test_a_request_signed_with_other_credentials_is_no_model() -> None:
    assert model_of(sent(), ReadOnlyCredentials("AKIDTHEIRS", "secret", None)) is None
    assert model_of(sent(), ReadOnlyCredentials("AKIDOURS", "other", None)) is None
