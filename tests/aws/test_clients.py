"""How long a dead endpoint takes to be said, and where Region and endpoints come from."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.config import Config
from moto import mock_aws

from tests.aws.moto_cloud import use_test_account
from tidegate.aws.asg import AutoScalingGroup
from tidegate.aws.clients import ANSWER_LIMIT_S, CONFIG, METRICS_CONFIG, AwsClients, longest_call_s
from tidegate.aws.cloudwatch import CloudWatchMetrics
from tidegate.aws.dynamodb import DynamoFleetTable
from tidegate.aws.ecs import EcsService
from tidegate.aws.sqs import SqsQueueReader
from tidegate.errors import Denied, Invalid, Unreachable
from tidegate.ports import Metric

QUEUE_URL = "https://sqs.eu-west-1.amazonaws.com/111122223333/mail"
AGE = Metric(QUEUE_URL, "ApproximateAgeOfOldestMessage", "Maximum")

CALLS: dict[str, Callable[[AwsClients], object]] = {
    "sqs": lambda aws: SqsQueueReader(aws.sqs).counts(QUEUE_URL),
    "ecs": lambda aws: EcsService(aws.ecs(), "jobs", "workers", time.time).read(),
    "autoscaling": lambda aws: AutoScalingGroup(aws.autoscaling(), "workers", time.time).read(),
    "cloudwatch": lambda aws: CloudWatchMetrics(aws.cloudwatch).latest([AGE], time.time()),
    "dynamodb": lambda aws: DynamoFleetTable(aws.dynamodb(), "fleet").load("mail"),
}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    use_test_account(monkeypatch)
    return monkeypatch


@contextlib.contextmanager
def closed_port() -> Iterator[str]:
    """Bound but not listening: it refuses, and nobody else can take it meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """Accepts (the kernel does, up to the backlog) and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def seconds_to_say_unreachable(endpoint: str) -> dict[str, float]:
    """All services at the same time."""
    clients = AwsClients(endpoint_url=endpoint)
    for make in (clients.sqs, clients.ecs, clients.autoscaling, clients.cloudwatch, clients.dynamodb):
        make()  # the first client of a service loads its model, which takes a moment that is not the call's

    def measure(call: Callable[[AwsClients], object]) -> float:
        start = time.monotonic()
        with pytest.raises(Unreachable, match=r"check the endpoint"):
            call(clients)
        return time.monotonic() - start

    with ThreadPoolExecutor(len(CALLS)) as threads:
        return dict(zip(CALLS, threads.map(measure, CALLS.values()), strict=True))


@pytest.mark.parametrize("config", [CONFIG, METRICS_CONFIG])
def test_the_settings_keep_every_call_under_the_answer_limit(config: Config) -> None:
    assert longest_call_s(config) < ANSWER_LIMIT_S


@pytest.mark.integration
@pytest.mark.parametrize("endpoint", [closed_port, silent_server])
def test_a_dead_endpoint_is_unreachable_for_every_service_in_time(
    account: pytest.MonkeyPatch, endpoint: Callable[[], contextlib.AbstractContextManager[str]]
) -> None:
    """Wall time gets twice the limit here, for a machine under load; the settings themselves are checked above."""
    with endpoint() as url:
        taken = seconds_to_say_unreachable(url)
    print({service: round(seconds, 2) for service, seconds in taken.items()})  # noqa: T201  # the measurement
    assert max(taken.values()) < 2 * ANSWER_LIMIT_S


@pytest.mark.integration
def test_the_endpoints_in_the_environment_are_used(account: pytest.MonkeyPatch) -> None:
    """One for everything, another for SQS alone: docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html"""
    account.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    account.setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:2")
    clients = AwsClients()
    assert clients.ecs().meta.endpoint_url == "http://127.0.0.1:1"
    assert clients.sqs().meta.endpoint_url == "http://127.0.0.1:2"


def test_no_region_anywhere_names_the_setting(account: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        account.delenv(name)
    account.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(Invalid, match=r"set `region` in the settings, or AWS_REGION"):
        AwsClients().sqs()


@pytest.mark.parametrize("endpoint", ["127.0.0.1:4566", "http://[nonsense", "ftp://host", "http://host:99999"])
def test_an_endpoint_that_is_no_url_is_invalid(account: pytest.MonkeyPatch, endpoint: str) -> None:
    with pytest.raises(Invalid, match=r"AWS_ENDPOINT_URL\) as http://host:port"):
        AwsClients(endpoint_url=endpoint).sqs()


def test_a_region_that_is_no_name_is_invalid(account: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid, match="moon base"):
        AwsClients("moon base").ecs()


def test_no_credentials_is_denied_and_names_the_ways_to_give_them(account: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        account.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        account.setenv(name, "/nonexistent")
    with pytest.raises(Denied, match="AWS_PROFILE"):
        SqsQueueReader(AwsClients().sqs).counts(QUEUE_URL)


def test_a_profile_that_does_not_exist_is_denied(account: pytest.MonkeyPatch) -> None:
    account.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(Denied, match="nobody"):
        AwsClients().sqs()


def test_each_region_has_its_own_client_and_each_client_is_made_once(account: pytest.MonkeyPatch) -> None:
    clients = AwsClients("eu-west-1")
    assert clients.sqs() is clients.sqs("eu-west-1")
    assert clients.sqs("us-east-2").meta.region_name == "us-east-2"


@mock_aws
def test_threads_that_start_together_share_one_client(account: pytest.MonkeyPatch) -> None:
    clients, start = AwsClients(), threading.Barrier(8)

    def get(_: int) -> object:
        start.wait()
        return clients.sqs()

    with ThreadPoolExecutor(8) as threads:
        assert len({id(client) for client in threads.map(get, range(8))}) == 1
