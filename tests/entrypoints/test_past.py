"""`tidegate backtest --pool`, from the settings file to moto's CloudWatch and back."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.aws.moto_cloud import moto_clients
from tests.aws.test_cloudwatch import put
from tidegate.aws.clients import AwsClients
from tidegate.core.model import PoolState, ServiceTime
from tidegate.entrypoints.cli import app
from tidegate.entrypoints.past import open_pool
from tidegate.lab.history_cache import HistoryCache
from tidegate.lab.rivals import RIVALS
from tidegate.lab.subject import Given, Subject, from_pool
from tidegate.ports import Metric
from tidegate.stores.file import FileStore

SETTINGS = """\
state_dir = "{state}"
region = "eu-west-1"

[pools.orders]
queue = "orders"
target_wait = "30s"
ecs = {{ cluster = "prod", service = "orders" }}
max_workers = 10
"""


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    (tmp_path / "tidegate.toml").write_text(SETTINGS.format(state=tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEGATE_CONFIG", raising=False)
    with moto_clients(monkeypatch) as clients:
        yield clients


def backtest(*more: str) -> Result:
    args = ["backtest", "--pool", "orders", "--days", "1", "--cache", "cache", *more]
    return CliRunner().invoke(app, args, prog_name="tidegate")


def told(result: Result) -> str:
    return " ".join(result.output.split())


@pytest.mark.integration
@pytest.mark.timeout(180)
def test_a_pool_is_tried_on_its_own_past_with_what_its_workers_measured(
    cloud: AwsClients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(rival for rival in RIVALS if rival.key in ("keda", "fixed_mean"))  # a day under all of them takes long
    monkeypatch.setattr("tidegate.lab.backtest.RIVALS", few)
    minute = time.time() // 60 * 60
    put(cloud, Metric("orders", "NumberOfMessagesSent", "Sum"), {minute - 60 * n: 30.0 for n in range(60, 75)})
    put(
        cloud,
        Metric("orders", "ApproximateAgeOfOldestMessage", "Maximum"),
        {minute - 60 * n: n for n in range(60, 75)},
    )
    FileStore(tmp_path / "state").save("orders", PoolState(service_time=ServiceTime(100, 200.0, 500.0)), 0)
    result = backtest("--price-per-worker-hour", "0.05", "--json", "told.json", "--html", "told.html")
    assert result.exit_code == 0, result.output
    assert "orders: 450 messages in 24.0 h, 2 s each; target 30 s, start-up 60 s" in told(result)
    assert "service time 2s (measured by the workers, latest 100 runs), CV² 0.25" in told(result)
    assert "as it was: the oldest message was older than 30s in 100.00% of the periods with data" in told(result)
    figures = json.loads(Path("told.json").read_text())
    assert {"tidegate", "keda", "fixed_mean", "clairvoyant"} <= {each["key"] for each in figures["policies"]}
    assert all(each["dollars"] == pytest.approx(0.05 * each["worker_hours"]) for each in figures["policies"])
    assert "kept in" in figures["notes"][0]
    assert "tidegate backtest: orders" in Path("told.html").read_text()


def test_the_second_look_asks_cloudwatch_nothing(cloud: AwsClients, monkeypatch: pytest.MonkeyPatch) -> None:
    put(cloud, Metric("orders", "NumberOfMessagesSent", "Sum"), {time.time() - 7200: 300.0})

    def look(*, refresh: bool = False) -> Subject:
        source = open_pool("tidegate.toml", "orders")
        kept = HistoryCache(Path("cache"), source.account)
        return from_pool(source, 1, Given(service_time="1s"), kept, refresh=refresh)

    first = look()
    assert sum(each.count for each in first.bins) == 300
    monkeypatch.setattr(AwsClients, "cloudwatch", lambda self, region=None: pytest.fail("CloudWatch was asked"))
    assert look().bins == first.bins
    with pytest.raises(pytest.fail.Exception):
        look(refresh=True)


def test_a_queue_that_is_not_there_is_not_taken_for_an_inactive_one(cloud: AwsClients) -> None:
    gone = backtest("--service-time", "1s")
    assert gone.exit_code == 2
    assert "orders found nothing" in gone.stderr
    cloud.sqs().create_queue(QueueName="orders")
    inactive = backtest("--service-time", "1s")
    assert inactive.exit_code == 2
    assert "it was inactive all the time; look further back with --days, or give a trace" in inactive.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--pool", "mail"], "POOL = 'mail': no such pool in tidegate.toml; write one of orders"),
        (["--pool", "orders", "--trace", "t.csv"], "--pool = 'orders': a trace is given as well"),
        (["--trace", "t.csv", "--days", "3"], "--days = 3: a trace has its own length; leave it out"),
        ([], "--trace = None: no traffic is given; give --trace FILE or --pool NAME"),
    ],
)
def test_what_does_not_go_together_is_one_line(cloud: AwsClients, args: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["backtest", *args], prog_name="tidegate")
    assert result.exit_code == 2
    assert said in result.stderr
