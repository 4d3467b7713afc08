"""The Terraform modules: formatted, valid, tested; and values that no schema checks held against AWS's own models.

All on one worker: terraform keeps what it downloads in the folders themselves.
"""

import json
import re
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.infra.terraform import EXAMPLES, MODULES, ROOT, TERRAFORM, initialised, need_terraform, planned, run

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("terraform"), pytest.mark.timeout(300)]

POOLS = {
    "orders": {
        "settings": json.dumps({"queue": "orders", "target_wait": "30s", "max_workers": 20}),
        "queue_arn": "arn:aws:sqs:us-east-1:123456789012:orders",
        "service_arn": "arn:aws:ecs:us-east-1:123456789012:service/prod/orders",
    }
}
ON_ECS = {
    "controller": "ecs",
    "pools": POOLS,
    "ecs": {
        "cluster_arn": "arn:aws:ecs:us-east-1:123456789012:cluster/prod",
        "image": "tidegate",
        "subnets": ["subnet-1"],
        "security_groups": ["sg-1"],
    },
}
AS_FUNCTION = {"pools": POOLS, "package_s3": {"bucket": "artifacts", "key": "tidegate.zip"}}


@pytest.fixture(autouse=True)
def _terraform() -> None:
    need_terraform()


def names(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix()


def test_everything_is_formatted() -> None:
    run(TERRAFORM, "fmt", "-check", "-recursive", "-diff")


@pytest.mark.parametrize("folder", [*MODULES, *EXAMPLES], ids=names)
def test_it_is_valid(folder: Path) -> None:
    run(initialised(folder), "validate")


@pytest.mark.parametrize("folder", MODULES, ids=names)
def test_its_own_tests_pass(folder: Path) -> None:
    said = run(initialised(folder), "test")
    assert re.search(r"Success! [1-9]\d* passed, 0 failed", said), said


def resources(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Every resource of the root module and those below it."""

    def below(module: dict[str, Any]) -> list[dict[str, Any]]:
        inner = [one for child in module.get("child_modules", []) for one in below(child)]
        return [*module.get("resources", []), *inner]

    return below(plan["planned_values"]["root_module"])


def of_kind(plan: dict[str, Any], kind: str) -> dict[str, Any]:
    (one,) = [resource["values"] for resource in resources(plan) if resource["type"] == kind]
    values: dict[str, Any] = one
    return values


def enum(service: str, shape: str) -> set[str]:
    """What AWS's own model of the service allows."""
    make: Any = boto3.client
    return set(make(service, region_name="us-east-1").meta.service_model.shape_for(shape).metadata["enum"])


def test_the_functions_values_are_some_that_aws_has(tmp_path: Path) -> None:
    plan = planned(TERRAFORM, AS_FUNCTION, tmp_path)
    function, schedule = of_kind(plan, "aws_lambda_function"), of_kind(plan, "aws_scheduler_schedule")

    assert function["runtime"] in enum("lambda", "Runtime")
    assert set(function["architectures"]) <= enum("lambda", "Architecture")
    assert function["logging_config"][0]["log_format"] in enum("lambda", "LogFormat")
    assert 1 <= function["timeout"] <= 900
    assert schedule["schedule_expression"] == "rate(1 minute)"
    assert schedule["flexible_time_window"][0]["mode"] in {"OFF", "FLEXIBLE"}
    assert len(function["description"]) <= 256


def test_the_tables_and_the_parameters_values_are_some_that_aws_has(tmp_path: Path) -> None:
    plan = planned(TERRAFORM, AS_FUNCTION, tmp_path)
    assert of_kind(plan, "aws_dynamodb_table")["billing_mode"] in enum("dynamodb", "BillingMode")
    assert of_kind(plan, "aws_ssm_parameter")["type"] in enum("ssm", "ParameterType")
    assert of_kind(plan, "aws_ssm_parameter")["tier"] in enum("ssm", "ParameterTier")


def test_the_tasks_values_are_some_that_aws_has(tmp_path: Path) -> None:
    """https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html#fargate-tasks-size"""
    plan = planned(TERRAFORM, ON_ECS, tmp_path)
    task, service = of_kind(plan, "aws_ecs_task_definition"), of_kind(plan, "aws_ecs_service")

    assert (task["cpu"], task["memory"]) in {("256", "512"), ("256", "1024"), ("256", "2048")}
    assert task["runtime_platform"][0]["cpu_architecture"] in enum("ecs", "CPUArchitecture")
    assert task["network_mode"] in enum("ecs", "NetworkMode")
    assert service["launch_type"] in enum("ecs", "LaunchType")
    assert service["propagate_tags"] in enum("ecs", "PropagateTags")


def test_the_alarms_values_are_some_that_aws_has(tmp_path: Path) -> None:
    plan = planned(MODULES[1], {"pool": "orders", "dead_letter_queue_name": "orders-dead"}, tmp_path)
    alarms = [one["values"] for one in resources(plan) if one["type"] == "aws_cloudwatch_metric_alarm"]

    assert {alarm["comparison_operator"] for alarm in alarms} <= enum("cloudwatch", "ComparisonOperator")
    assert {alarm["statistic"] for alarm in alarms} - {None} <= enum("cloudwatch", "Statistic")
    assert {alarm["treat_missing_data"] for alarm in alarms} <= {"breaching", "notBreaching", "ignore", "missing"}
    assert all(alarm["datapoints_to_alarm"] <= alarm["evaluation_periods"] for alarm in alarms)
    for alarm in alarms:
        returned = [query for query in alarm["metric_query"] if query["return_data"]]
        assert len(returned) == (0 if alarm["metric_name"] else 1), "exactly one value is compared"


def test_the_settings_that_terraform_writes_are_settings_that_the_controller_takes(tmp_path: Path) -> None:
    from tidegate.config import load_text

    pool = {
        "name": "orders",
        "queue_arn": "arn:aws:sqs:us-east-1:123456789012:orders",
        "target_wait": "30s",
        "max_workers": 20,
        "slots_per_worker": 4,
        "ecs": {
            "cluster_arn": "arn:aws:ecs:us-east-1:123456789012:cluster/prod",
            "service_arn": "arn:aws:ecs:us-east-1:123456789012:service/prod/orders",
        },
    }
    written = planned(MODULES[2], pool, tmp_path)["planned_values"]["outputs"]["pool"]["value"]
    plan = planned(TERRAFORM, {**AS_FUNCTION, "pools": {"orders": written}}, tmp_path)

    loaded = load_text(of_kind(plan, "aws_ssm_parameter")["value"].encode(), "the parameter", {})

    assert loaded.warnings == ()
    assert loaded.settings.ticks_per_invocation * loaded.settings.tick_s == 60
    assert re.fullmatch(r"arn:aws:dynamodb:us-east-1:[0-9]{12}:table/tidegate", loaded.settings.table or "")
    assert loaded.settings.publish == "log"
    assert loaded.settings.pools["orders"].max_workers == 20
