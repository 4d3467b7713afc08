"""What Lambda calls, against moto: one tick of every pool per invocation; a failing pool takes nothing from others."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest

from tests.aws.moto_cloud import REGION, make_service, moto_clients
from tests.controller.pool_rig import InlineExecutor
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import DynamoFleetTable, create_table
from tidegate.entrypoints import invocation, service
from tidegate.entrypoints.invocation import PoolsFailed
from tidegate.entrypoints.lambda_handler import handler
from tidegate.errors import ConfigError
from tidegate.testing import FakeClock

SETTINGS = """\
table = "tidegate"
tick = "60s"

[pools.orders]
queue = "orders"
target_wait = "2m"
ecs = { cluster = "jobs", service = "workers" }
max_workers = 10
service_time_hint = "60s"
stop_timeout = "120s"
"""
SECOND_POOL = """
[pools.mail]
queue = "mail"
target_wait = "2m"
asg = "nowhere"
max_workers = 10
"""


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where Lambda unpacks the function, with its settings; the environment has not run anything yet."""
    monkeypatch.setenv("LAMBDA_TASK_ROOT", str(tmp_path))
    monkeypatch.setenv("TIDEGATE_CONFIG", "pools.toml")
    (tmp_path / "pools.toml").write_text(SETTINGS)
    invocation._start.cache_clear()
    yield tmp_path
    invocation._start.cache_clear()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """With ten messages of a minute's work each in "orders", an ECS service of one worker, and the fleet table."""
    with moto_clients(monkeypatch) as clients:
        sqs = clients.sqs(REGION)
        url = sqs.create_queue(QueueName="orders")["QueueUrl"]
        sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": str(n), "MessageBody": "x"} for n in range(10)])
        make_service(clients, desired=1)
        create_table(clients.dynamodb(), "tidegate")
        yield clients


def desired(clients: AwsClients) -> int:
    return clients.ecs().describe_services(cluster="jobs", services=["workers"])["services"][0]["desiredCount"]


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_invocation_is_one_tick_of_every_pool_with_a_json_line_for_each(
    bundle: Path, account: AwsClients, capsys: pytest.CaptureFixture[str]
) -> None:
    assert handler({}, None) == {"pools": 1}

    (line,) = lines(capsys)
    assert (line["event"], line["pool"], line["current"], line["wrote"]) == ("decision", "orders", 1, True)
    assert desired(account) == line["desired"] > 1
    assert DynamoFleetTable(account.dynamodb(), "tidegate").load("orders").state.desired == line["desired"]


def test_the_next_invocation_goes_on_from_the_stored_state_with_the_same_clients(
    bundle: Path, account: AwsClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make: Any = botocore.session.Session.create_client

    def counted(session: Any, service: str, **settings: Any) -> Any:
        made.append(service)
        return make(session, service, **settings)

    monkeypatch.setattr(botocore.session.Session, "create_client", counted)

    handler({}, None)
    first = sorted(made)
    handler({}, None)

    assert first == ["cloudwatch", "dynamodb", "ecs", "sqs"]
    assert sorted(made) == first
    assert DynamoFleetTable(account.dynamodb(), "tidegate").load("orders").version == 2


def test_a_pool_that_fails_is_raised_after_the_others_were_served(bundle: Path, account: AwsClients) -> None:
    (bundle / "pools.toml").write_text(SETTINGS + SECOND_POOL)

    with pytest.raises(PoolsFailed, match=r"^1 of 2 pools failed: mail: autoscaling:Describe\w+ on asg:nowhere found"):
        handler({}, None)

    assert desired(account) > 1


def test_a_decision_around_something_broken_is_raised_too(bundle: Path, account: AwsClients) -> None:
    (bundle / "pools.toml").write_text(SETTINGS.replace('queue = "orders"', 'queue = "ordres"'))

    with pytest.raises(PoolsFailed, match=r"^1 of 1 pools failed: orders: ordres: sqs:GetQueueUrl on ordres found"):
        handler({}, None)

    assert desired(account) == 1


@pytest.mark.parametrize("instead", ["", 'state_dir = "/tmp/tidegate"\n'])
def test_without_a_table_it_refuses_as_nothing_else_lasts_in_lambda(bundle: Path, instead: str) -> None:
    (bundle / "pools.toml").write_text(SETTINGS.replace('table = "tidegate"\n', instead))

    with pytest.raises(ConfigError, match=r'table = None: is not set, and in Lambda .*; set table = "tidegate"'):
        handler({}, None)


def test_settings_that_were_wrong_are_read_again_by_the_next_invocation(bundle: Path, account: AwsClients) -> None:
    (bundle / "pools.toml").write_text(SETTINGS.replace("max_workers = 10", "max_workers = 0"))
    with pytest.raises(ConfigError, match=r"pools\.orders\.max_workers = 0"):
        handler({}, None)
    (bundle / "pools.toml").write_text(SETTINGS)

    assert handler({}, None) == {"pools": 1}


def test_a_warning_of_the_settings_is_logged_once_and_not_at_each_invocation(
    bundle: Path, account: AwsClients, capsys: pytest.CaptureFixture[str]
) -> None:
    (bundle / "pools.toml").write_text(SETTINGS.replace('"2m"', '"59s"'))

    handler({}, None)
    handler({}, None)

    warnings = [line["fault"] for line in lines(capsys) if line["event"] == "settings"]
    assert len(warnings) == 1
    assert warnings[0].startswith("pools.orders.target_wait = '59s': ")


class Context:
    """Of an invocation whose time-out is `timeout_s` after the clock's start."""

    def __init__(self, clock: FakeClock, timeout_s: float) -> None:
        self._clock = clock
        self._ends_s = clock.now() + timeout_s

    def get_remaining_time_in_millis(self) -> int:
        return round((self._ends_s - self._clock.now()) * 1000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """Virtual time, and no threads that it could run ahead of."""
    clock = FakeClock(time.time())
    monkeypatch.setattr(invocation, "SystemClock", lambda: clock)
    monkeypatch.setattr(service, "ThreadPoolExecutor", lambda *_, **__: InlineExecutor())
    return clock


SIX_TICKS = SETTINGS.replace('tick = "60s"', 'tick = "10s"\nticks_per_invocation = 6')


@pytest.mark.parametrize(("timeout_s", "ticks"), [(90, 6), (55, 5), (30, 3), (12, 1), (1, 1)])
def test_ticks_are_made_as_far_as_the_time_out_allows_and_one_in_any_case(
    bundle: Path, account: AwsClients, clock: FakeClock, capsys: pytest.CaptureFixture[str], timeout_s: int, ticks: int
) -> None:
    (bundle / "pools.toml").write_text(SIX_TICKS)

    assert handler({}, Context(clock, timeout_s)) == {"pools": 1}

    said = lines(capsys)
    assert [line["event"] for line in said].count("decision") == ticks
    assert clock.waits_s == [10.0] * (ticks - 1)
    missed = [line["missed"] for line in said if line["event"] == "tick_missed"]
    assert missed == ([] if ticks == 6 else [6 - ticks])


def test_a_pool_that_a_later_tick_served_has_not_failed(
    bundle: Path, account: AwsClients, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = account.sqs().get_queue_url(QueueName="orders")["QueueUrl"]
    (bundle / "pools.toml").write_text(SIX_TICKS)
    account.sqs().delete_queue(QueueUrl=url)
    clock.at(clock.now() + 45, lambda: account.sqs().create_queue(QueueName="orders"))

    assert handler({}, Context(clock, 90)) == {"pools": 1}


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ('tick = "10s"', "ticks_per_invocation = 6"),
        ('tick = "5s"\nticks_per_invocation = 6', "ticks_per_invocation = 12"),
    ],
)
def test_ticks_that_leave_most_of_a_minute_unwatched_are_refused(bundle: Path, written: str, fix: str) -> None:
    (bundle / "pools.toml").write_text(SETTINGS.replace('tick = "60s"', written))

    with pytest.raises(ConfigError, match=rf'tick = .* unwatched; set tick = "60s", or {fix}'):
        handler({}, None)


def test_settings_can_be_in_a_parameter(bundle: Path, account: AwsClients, monkeypatch: pytest.MonkeyPatch) -> None:
    boto3.client("ssm").put_parameter(Name="/tidegate/prod", Value=SETTINGS, Type="String")
    monkeypatch.setenv("TIDEGATE_CONFIG", "ssm:/tidegate/prod:1")

    assert handler({}, None) == {"pools": 1}
    assert desired(account) > 1


def test_metrics_are_lines_between_the_decisions(
    bundle: Path, account: AwsClients, capsys: pytest.CaptureFixture[str]
) -> None:
    (bundle / "pools.toml").write_text('publish = "log"\n' + SETTINGS)

    handler({}, None)

    decided, metrics = lines(capsys)
    assert metrics["DesiredWorkers"] == decided["desired"]
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "tidegate"


@pytest.mark.integration
def test_a_cold_start_loads_nothing_of_the_worker_the_command_line_or_the_sandbox() -> None:
    heavy = ("aiobotocore", "aiohttp", "typer", "tidegate.worker", "tidegate.sandbox", "tidegate.lab", "moto")
    code = f"import sys, tidegate.entrypoints.lambda_handler; print([n for n in {heavy} if n in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)

    assert done.stdout == "[]\n"
