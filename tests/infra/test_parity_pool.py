"""Terraform and the CDK make the same of a pool: queues and their policies, workers' permissions, alarms, dashboard."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.infra.parity import ACCOUNT, POOL, allowed, by_name, resources
from tests.infra.plain_template import FUNCTION, permissions, text
from tests.infra.terraform import MODULES, evaluated, need_terraform, planned

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("terraform"), pytest.mark.timeout(300)]

NAMES = {"": "orders", "dead_letter_": "orders-dead"}


@pytest.fixture(autouse=True)
def _terraform() -> None:
    need_terraform()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_terraform()
    return planned(MODULES[2], POOL, tmp_path_factory.mktemp("pool"))


def test_workers_may_do_the_same(tmp_path: Path) -> None:
    queue = {f"{kind}queue_arn": f"arn:aws:sqs:{ACCOUNT}:{name}" for kind, name in NAMES.items()}
    made = allowed(MODULES[2], "local.worker_statements", {**POOL, **queue}, tmp_path)
    assert made == permissions(FUNCTION.the("IAM::ManagedPolicy")["PolicyDocument"]["Statement"])


QUEUE = {
    "message_retention_seconds": "MessageRetentionPeriod",
    "visibility_timeout_seconds": "VisibilityTimeout",
    "receive_wait_time_seconds": "ReceiveMessageWaitTimeSeconds",
    "sqs_managed_sse_enabled": "SqsManagedSseEnabled",
    "kms_master_key_id": "KmsMasterKeyId",
}
"""Each argument of Terraform's with CloudFormation's property."""


def test_the_queues_are_the_same(pool: dict[str, Any]) -> None:
    """What neither says is SQS's default in both; Terraform's provider writes some of those out."""
    made = {one["name"]: one for one in resources(pool, "aws_sqs_queue")}
    same = {one["QueueName"]: one for one in FUNCTION.of_type("SQS::Queue")}

    assert set(made) == set(same) == {"orders", "orders-dead"}
    for name, queue in same.items():
        said = {mine: queue[theirs] for mine, theirs in QUEUE.items() if theirs in queue}
        assert said == {mine: made[name][mine] for mine in said}
        assert {mine for mine in QUEUE if made[name].get(mine) is not None} == set(said)


def test_a_message_is_given_up_after_as_many_receives(tmp_path: Path) -> None:
    redrive = FUNCTION.the("SQS::Queue", QueueName="orders")["RedrivePolicy"]
    assert evaluated(MODULES[2], "var.max_receive_count", POOL, tmp_path) == redrive["maxReceiveCount"]


def test_neither_queue_takes_what_does_not_come_over_tls(pool: dict[str, Any], tmp_path: Path) -> None:
    made = evaluated(MODULES[2], "local.tls_only", POOL, tmp_path)
    same = [one["PolicyDocument"]["Statement"] for one in FUNCTION.of_type("SQS::QueuePolicy")]

    assert len(resources(pool, "aws_sqs_queue_policy")) == len(same) == 2
    del made["Sid"]  # of the CDK's they have none
    for (statement,) in same:
        assert {key: statement[key] for key in statement if key != "Resource"} == made


def alarm_of_terraform(alarm: dict[str, Any]) -> dict[str, Any]:
    """An alarm without its way of writing; inputs by id."""
    inputs = {
        one["id"]: (one["metric"][0]["namespace"], one["metric"][0]["metric_name"], one["metric"][0]["dimensions"],
                    one["metric"][0]["stat"], one["metric"][0]["period"])
        for one in alarm["metric_query"] if one["metric"]
    }  # fmt: skip
    single = (alarm["namespace"], alarm["metric_name"], alarm["dimensions"], alarm["statistic"], alarm["period"])
    return {
        "watches": inputs or single,
        "compares": [(one["id"], one["expression"]) for one in alarm["metric_query"] if one["return_data"]],
        "labels": {one["id"]: one["label"] for one in alarm["metric_query"]},
        "threshold": alarm["threshold"],
        "compared": (alarm["comparison_operator"], alarm["treat_missing_data"]),
        "periods": (alarm["datapoints_to_alarm"], alarm["evaluation_periods"]),
        "says": alarm["alarm_description"],
        "tells": (len(alarm["alarm_actions"]), len(alarm["ok_actions"])),
    }


def alarm_of_cdk(alarm: Any) -> dict[str, Any]:
    """The same of the template's."""

    queries = alarm.get("Metrics", [])
    inputs = {
        one["Id"]: (one["MetricStat"]["Metric"]["Namespace"], one["MetricStat"]["Metric"]["MetricName"],
                    by_name(one["MetricStat"]["Metric"]["Dimensions"]), one["MetricStat"]["Stat"],
                    one["MetricStat"]["Period"])
        for one in queries if "MetricStat" in one
    }  # fmt: skip
    single = (
        None
        if queries
        else (
            alarm["Namespace"],
            alarm["MetricName"],
            by_name(alarm["Dimensions"]),
            alarm["Statistic"],
            alarm["Period"],
        )
    )
    return {
        "watches": inputs or single,
        "compares": [(one["Id"], one["Expression"]) for one in queries if one["ReturnData"]],
        "labels": {one["Id"]: one["Label"] for one in queries},
        "threshold": alarm["Threshold"],
        "compared": (alarm["ComparisonOperator"], alarm["TreatMissingData"]),
        "periods": (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]),
        "says": alarm["AlarmDescription"],
        "tells": (len(alarm["AlarmActions"]), len(alarm["OKActions"])),
    }


def test_the_alarms_are_the_same(pool: dict[str, Any]) -> None:
    made = {one["alarm_name"]: alarm_of_terraform(one) for one in resources(pool, "aws_cloudwatch_metric_alarm")}
    assert len(made) == 9
    assert made == {one["AlarmName"]: alarm_of_cdk(one) for one in FUNCTION.of_type("CloudWatch::Alarm")}


def test_the_dashboards_widgets_are_the_same(pool: dict[str, Any]) -> None:
    """Each one's metrics, statistics, periods, lines and place."""
    (made,) = resources(pool, "aws_cloudwatch_dashboard")
    same = FUNCTION.the("CloudWatch::Dashboard")
    widgets = json.loads(text(same["DashboardBody"]).replace("<AWS::Region>", region_of(made)))["widgets"]

    assert made["dashboard_name"] == same["DashboardName"]
    assert json.loads(made["dashboard_body"])["widgets"] == widgets
    assert len(widgets) == 8


def region_of(dashboard: dict[str, Any]) -> str:
    """Where all of its widgets look."""
    (region,) = {one["properties"]["region"] for one in json.loads(dashboard["dashboard_body"])["widgets"]}
    return str(region)
