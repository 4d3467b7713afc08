"""The sandbox's own clients reach the sandbox, whatever the shell that it was started in is set to."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tidegate.aws.stand_in import QueueSender, create_queues, stand_in_clients
from tidegate.sandbox.sqs import SqsServer

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server() -> Iterator[SqsServer]:
    with SqsServer() as server:
        yield server


@pytest.fixture
def dead_proxy() -> Iterator[str]:
    """A port that refuses: bound, and nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def use(server: SqsServer, name: str) -> int:
    """Makes a queue, sends to it, and counts what came."""
    clients = stand_in_clients(server.url, "eu-west-1")
    QueueSender(clients, create_queues(clients, name, visibility_s=10, max_receives=3)).send(["a", "b"])
    return server.snapshot()[name].visible


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_no_proxy_stands_between_the_sandbox_and_itself(
    server: SqsServer, dead_proxy: str, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, dead_proxy)
    assert use(server, f"by-{variable}") == 2


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AWS_PROFILE", "of-another-machine"),
        ("AWS_DEFAULT_PROFILE", "of-another-machine"),
        ("AWS_CONFIG_FILE", "broken.ini"),
        ("AWS_SHARED_CREDENTIALS_FILE", "broken.ini"),
        ("AWS_DEFAULTS_MODE", "fast"),
        ("AWS_ENDPOINT_URL_SQS", "https://sqs.eu-west-1.amazonaws.com"),
        ("AWS_REGION", "us-gov-west-1"),
        ("AWS_USE_FIPS_ENDPOINT", "true"),
    ],
)
def test_no_variable_and_no_file_of_the_shell_changes_where_the_sandbox_calls(
    server: SqsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.ini").write_text("[default\nregion")
    monkeypatch.setenv(variable, value)
    assert use(server, f"under-{variable}") == 2


def test_credentials_of_a_real_account_are_not_sent(server: SqsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "REAL")
    headers: list[dict[str, str]] = []
    sqs = stand_in_clients(server.url, "eu-west-1").sqs()

    def note(request: Any, **_: object) -> None:
        headers.append({name: str(value) for name, value in request.headers.items()})

    sqs.meta.events.register("before-send.sqs", note)
    sqs.list_queues()
    (sent,) = headers
    assert "Credential=sandbox/" in sent["Authorization"]
    assert "REAL" not in "".join(sent.values())
