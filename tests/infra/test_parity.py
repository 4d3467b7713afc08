"""Terraform and the CDK make the same: the controller as a function, its schedule, table, log, roles."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.infra.parity import CONTROLLER, allowed, resources, trust
from tests.infra.plain_template import FUNCTION, permissions
from tests.infra.terraform import TERRAFORM, need_terraform, planned

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("terraform"), pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def _terraform() -> None:
    need_terraform()


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_terraform()
    return planned(TERRAFORM, CONTROLLER, tmp_path_factory.mktemp("controller"))


def test_the_controller_may_do_the_same(tmp_path: Path) -> None:
    made = allowed(TERRAFORM, "concat(local.controller_statements, local.log_statements)", CONTROLLER, tmp_path)
    assert made == permissions(FUNCTION.the("IAM::Policy", PolicyName="controller")["PolicyDocument"]["Statement"])


def test_roles_are_called_the_same_and_trust_the_same(controller: dict[str, Any]) -> None:
    made = {
        role["name"]: trust(json.loads(role["assume_role_policy"])) for role in resources(controller, "aws_iam_role")
    }
    named = {
        role["RoleName"]: trust(role["AssumeRolePolicyDocument"])
        for role in FUNCTION.of_type("IAM::Role")
        if "RoleName" in role
    }
    assert made == named


def test_the_schedule_is_the_same(controller: dict[str, Any]) -> None:
    (made,) = resources(controller, "aws_scheduler_schedule")
    schedule = FUNCTION.the("Scheduler::Schedule")

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
    function, event = FUNCTION.the("Lambda::Function"), FUNCTION.the("Lambda::EventInvokeConfig")

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
    same, kept = FUNCTION.the("DynamoDB::Table"), FUNCTION.the("Logs::LogGroup", LogGroupName=log["name"])

    assert (table["name"], table["billing_mode"]) == (same["TableName"], same["BillingMode"])
    assert [table["hash_key"], table["range_key"]] == [key["AttributeName"] for key in same["KeySchema"]]
    assert table["ttl"][0]["attribute_name"] == same["TimeToLiveSpecification"]["AttributeName"]
    assert table["deletion_protection_enabled"] == same["DeletionProtectionEnabled"]
    assert log["retention_in_days"] == kept["RetentionInDays"]
