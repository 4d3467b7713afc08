"""What the alarms watch is what the controller really publishes: it ticks here, and its lines and calls are read.

The alarms are the template's; test_parity_pool holds Terraform's against them.
"""

import io
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.aws.moto_cloud import REGION, make_service, moto_clients
from tests.contract.fleet import report
from tests.infra.parity import by_name
from tests.infra.plain_template import FUNCTION
from tidegate.aws import fleet_items
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import create_table
from tidegate.config import load
from tidegate.core.reports import WAIT_BOUNDS_S
from tidegate.entrypoints.service import tick_once
from tidegate.entrypoints.wiring import wire
from tidegate.testing import FakeClock, RecordedEvents

pytestmark = pytest.mark.integration

SETTINGS = """
table = "tidegate"
publish = "{publish}"
[pools.orders]
queue = "orders"
target_wait = "30s"
ecs = {{ cluster = "jobs", service = "workers" }}
max_workers = 5
slots_per_worker = 4
"""

Series = tuple[str, str, tuple[tuple[str, str], ...]]
"""Namespace, name, dimensions: all that tells one series from another."""


def series(namespace: str, name: str, dimensions: dict[str, str]) -> Series:
    return namespace, name, tuple(sorted(dimensions.items()))


def watched() -> set[Series]:
    """Every series that the alarms of the pool look at."""
    alarms = FUNCTION.of_type("CloudWatch::Alarm")
    queries = [query["MetricStat"]["Metric"] for alarm in alarms for query in alarm.get("Metrics", ()) if _reads(query)]
    plain = [alarm for alarm in alarms if "MetricName" in alarm]
    return {series(one["Namespace"], one["MetricName"], by_name(one["Dimensions"])) for one in (*queries, *plain)}


def _reads(query: dict[str, Any]) -> bool:
    return "MetricStat" in query


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    with moto_clients(monkeypatch) as made:
        queue = boto3.client("sqs").create_queue(QueueName="orders")["QueueUrl"]
        for number in range(30):
            boto3.client("sqs").send_message(QueueUrl=queue, MessageBody=str(number))
        make_service(made, 1)
        create_table(made.dynamodb(), "tidegate")
        yield made


def reported(now_s: float, completed: int) -> dict[str, Any]:
    """A worker's report as it lies in the table: of five messages that it started, one was late."""
    one = report("i-1")
    waits = (4, *[0] * (len(WAIT_BOUNDS_S) - 1), 1)
    told = replace(
        one,
        reported_at_s=now_s,
        started_at_s=now_s - 900,
        first_receive_at_s=now_s - 890,
        recent=replace(one.recent, waits=waits),
        total=replace(one.total, starts=completed + 2, completions=completed),
    )
    return fleet_items.report_to_item("orders", told, now_s + 60)


def ticked(clients: AwsClients, publish: str, folder: Path) -> io.StringIO:
    """The log of two ticks of the controller, while a worker reports its progress."""
    (folder / "tidegate.toml").write_text(SETTINGS.format(publish=publish))
    clock, log = FakeClock(time.time()), io.StringIO()
    wired = wire(load(folder / "tidegate.toml", {}).settings, clock, log=log)
    for completed in (100, 140):
        clients.dynamodb().put_item(TableName="tidegate", Item=reported(clock.now(), completed))
        assert all(outcome.ok for outcome in tick_once(wired, RecordedEvents()))
        clock.advance(10)
    return log


def of_lines(lines: Iterable[str]) -> set[Series]:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html"""
    found = set()
    for line in map(json.loads, lines):
        for directive in line["_aws"]["CloudWatchMetrics"]:
            for names in directive["Dimensions"]:
                dimensions = {name: line[name] for name in names}
                found |= {series(directive["Namespace"], one["Name"], dimensions) for one in directive["Metrics"]}
    return found


def of_cloudwatch() -> set[Series]:
    pages = boto3.client("cloudwatch", region_name=REGION).get_paginator("list_metrics").paginate(Namespace="tidegate")
    metrics = [metric for page in pages for metric in page["Metrics"]]
    return {series(one["Namespace"], one["MetricName"], by_name(one["Dimensions"])) for one in metrics}  # type: ignore[arg-type]


OWN = {one for one in watched() if one[0] == "tidegate"}


def test_every_alarm_looks_at_the_controllers_metrics_or_at_the_dead_letter_queues() -> None:
    others = {(namespace, dimensions) for namespace, _, dimensions in watched() - OWN}
    assert others == {("AWS/SQS", (("QueueName", "orders-dead"),))}
    assert len({name for _, name, _ in OWN}) == 12


def test_a_function_writes_every_one_of_them_into_its_log(clients: AwsClients, tmp_path: Path) -> None:
    lines = ticked(clients, "log", tmp_path).getvalue().splitlines()
    assert of_lines(lines) - of_cloudwatch() >= OWN


def test_a_task_puts_every_one_of_them_into_cloudwatch(clients: AwsClients, tmp_path: Path) -> None:
    assert ticked(clients, "cloudwatch", tmp_path).getvalue() == ""
    assert of_cloudwatch() >= OWN
