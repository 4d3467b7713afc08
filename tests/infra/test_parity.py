"""Terraform and the CDK make the same: actions, conditions, schedule, alarms, names, in plan and template."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.infra.plain_template import of_type, permissions, the
from tests.infra.terraform import MODULES, TERRAFORM, evaluated, need_terraform, planned

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("terraform"), pytest.mark.timeout(300)]

ACCOUNT = "us-east-1:123456789012"
SERVICE = {
    "cluster_arn": f"arn:aws:ecs:{ACCOUNT}:cluster/prod",
    "service_arn": f"arn:aws:ecs:{ACCOUNT}:service/prod/orders",
}
CONTROLLER = {
    "package_s3": {"bucket": "artifacts", "key": "tidegate.zip"},
    "pools": {
        "orders": {
            "settings": "{}",
            "queue_arn": f"arn:aws:sqs:{ACCOUNT}:orders",
            "service_arn": SERVICE["service_arn"],
        }
    },
}
POOL = {
    "name": "orders",
    "table_arn": f"arn:aws:dynamodb:{ACCOUNT}:table/tidegate",
    "target_wait": "30s",
    "max_workers": 20,
    "slots_per_worker": 4,
    "ecs": SERVICE,
    "alarm_actions": [f"arn:aws:sns:{ACCOUNT}:ops"],
}
"""As the example app has it, whose template is compared."""
NAMES = {"": "orders", "dead_letter_": "orders-dead"}


@pytest.fixture(autouse=True)
def _terraform() -> None:
    need_terraform()


def terraforms(folder: Path, statements: str, variables: dict[str, Any], into: Path) -> dict[str, Any]:
    """What those statements of the module allow."""
    known = "{ Sid = one.Sid, Action = one.Action, Condition = try(one.Condition, null) }"
    expression = f"[for one in {statements} : {known}]"
    return permissions(evaluated(folder, expression, variables, into))


def resources(plan: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The values of every resource of that type, of the root module and those below it."""

    def below(module: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            *module.get("resources", []),
            *(one for child in module.get("child_modules", []) for one in below(child)),
        ]

    return [one["values"] for one in below(plan["planned_values"]["root_module"]) if one["type"] == kind]


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_terraform()
    return planned(TERRAFORM, CONTROLLER, tmp_path_factory.mktemp("controller"))


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_terraform()
    return planned(MODULES[2], POOL, tmp_path_factory.mktemp("pool"))


def test_the_controller_may_do_the_same(tmp_path: Path) -> None:
    made = terraforms(TERRAFORM, "concat(local.controller_statements, local.log_statements)", CONTROLLER, tmp_path)
    assert made == permissions(the("IAM::Policy", PolicyName="controller")["PolicyDocument"]["Statement"])


def test_workers_may_do_the_same(tmp_path: Path) -> None:
    queue = {f"{kind}queue_arn": f"arn:aws:sqs:{ACCOUNT}:{name}" for kind, name in NAMES.items()}
    made = terraforms(MODULES[2], "local.worker_statements", {**POOL, **queue}, tmp_path)
    assert made == permissions(the("IAM::ManagedPolicy")["PolicyDocument"]["Statement"])


def test_roles_are_called_the_same_and_trust_the_same(controller: dict[str, Any]) -> None:
    def trust(document: dict[str, Any]) -> tuple[str, list[str]]:
        (statement,) = document["Statement"]
        return statement["Principal"]["Service"], [*statement["Condition"]["StringEquals"]]

    made = {
        role["name"]: trust(json.loads(role["assume_role_policy"])) for role in resources(controller, "aws_iam_role")
    }
    named = {
        role["RoleName"]: trust(role["AssumeRolePolicyDocument"]) for role in of_type("IAM::Role") if "RoleName" in role
    }
    assert made == named


def test_the_schedule_is_the_same(controller: dict[str, Any]) -> None:
    (made,) = resources(controller, "aws_scheduler_schedule")
    schedule = the("Scheduler::Schedule")

    assert (made["name"], made["schedule_expression"]) == (schedule["Name"], schedule["ScheduleExpression"])
    assert made["flexible_time_window"][0]["mode"] == schedule["FlexibleTimeWindow"]["Mode"]
    retry = schedule["Target"]["RetryPolicy"]
    assert made["target"][0]["retry_policy"] == [
        {
            "maximum_event_age_in_seconds": retry["MaximumEventAgeInSeconds"],
            "maximum_retry_attempts": retry["MaximumRetryAttempts"],
        }
    ]


def test_the_function_is_the_same(controller: dict[str, Any]) -> None:
    (made,) = resources(controller, "aws_lambda_function")
    (invoked,) = resources(controller, "aws_lambda_function_event_invoke_config")
    function, event = the("Lambda::Function"), the("Lambda::EventInvokeConfig")

    assert {
        key: made[key] for key in ("function_name", "handler", "runtime", "architectures", "timeout", "memory_size")
    } == {
        "function_name": function["FunctionName"],
        "handler": function["Handler"],
        "runtime": function["Runtime"],
        "architectures": function["Architectures"],
        "timeout": function["Timeout"],
        "memory_size": function["MemorySize"],
    }
    assert made["reserved_concurrent_executions"] == function["ReservedConcurrentExecutions"]
    assert invoked["maximum_retry_attempts"] == event["MaximumRetryAttempts"]
    assert invoked["maximum_event_age_in_seconds"] == event["MaximumEventAgeInSeconds"]


def test_table_and_log_are_the_same(controller: dict[str, Any]) -> None:
    (table,), (log,) = resources(controller, "aws_dynamodb_table"), resources(controller, "aws_cloudwatch_log_group")
    same, kept = the("DynamoDB::Table"), the("Logs::LogGroup", LogGroupName=log["name"])

    assert (table["name"], table["billing_mode"]) == (same["TableName"], same["BillingMode"])
    assert [table["hash_key"], table["range_key"]] == [key["AttributeName"] for key in same["KeySchema"]]
    assert table["ttl"][0]["attribute_name"] == same["TimeToLiveSpecification"]["AttributeName"]
    assert table["deletion_protection_enabled"] == same["DeletionProtectionEnabled"]
    assert log["retention_in_days"] == kept["RetentionInDays"]


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
        "expressions": [one["expression"] for one in alarm["metric_query"] if one["return_data"]],
        "threshold": alarm["threshold"],
        "compared": (alarm["comparison_operator"], alarm["treat_missing_data"]),
        "periods": (alarm["datapoints_to_alarm"], alarm["evaluation_periods"]),
        "says": alarm["alarm_description"],
        "tells": (len(alarm["alarm_actions"]), len(alarm["ok_actions"])),
    }


def alarm_of_cdk(alarm: Any) -> dict[str, Any]:
    """The same of the template's."""

    def names(dimensions: list[dict[str, str]]) -> dict[str, str]:
        return {one["Name"]: one["Value"] for one in dimensions}

    queries = alarm.get("Metrics", [])
    inputs = {
        one["Id"]: (one["MetricStat"]["Metric"]["Namespace"], one["MetricStat"]["Metric"]["MetricName"],
                    names(one["MetricStat"]["Metric"]["Dimensions"]), one["MetricStat"]["Stat"],
                    one["MetricStat"]["Period"])
        for one in queries if "MetricStat" in one
    }  # fmt: skip
    single = (
        None
        if queries
        else (alarm["Namespace"], alarm["MetricName"], names(alarm["Dimensions"]), alarm["Statistic"], alarm["Period"])
    )
    return {
        "watches": inputs or single,
        "expressions": [one["Expression"] for one in queries if one["ReturnData"]],
        "threshold": alarm["Threshold"],
        "compared": (alarm["ComparisonOperator"], alarm["TreatMissingData"]),
        "periods": (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]),
        "says": alarm["AlarmDescription"],
        "tells": (len(alarm["AlarmActions"]), len(alarm["OKActions"])),
    }


def test_the_alarms_are_the_same(pool: dict[str, Any]) -> None:
    made = {one["alarm_name"]: alarm_of_terraform(one) for one in resources(pool, "aws_cloudwatch_metric_alarm")}
    assert len(made) == 9
    assert made == {one["AlarmName"]: alarm_of_cdk(one) for one in of_type("CloudWatch::Alarm")}


def test_the_queues_are_the_same(pool: dict[str, Any]) -> None:
    made = {
        one["name"]: (
            one["message_retention_seconds"],
            one["visibility_timeout_seconds"],
            one["sqs_managed_sse_enabled"],
        )
        for one in resources(pool, "aws_sqs_queue")
    }
    assert made == {
        one["QueueName"]: (one["MessageRetentionPeriod"], one.get("VisibilityTimeout", made[one["QueueName"]][1]),
                           one["SqsManagedSseEnabled"])
        for one in of_type("SQS::Queue")
    }  # fmt: skip


def test_the_dashboard_is_called_the_same(pool: dict[str, Any]) -> None:
    (made,) = resources(pool, "aws_cloudwatch_dashboard")
    assert made["dashboard_name"] == the("CloudWatch::Dashboard")["DashboardName"]
