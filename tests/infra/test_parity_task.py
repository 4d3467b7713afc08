"""Terraform and the CDK make the same of a controller that is a task: permissions, service, container, health check."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.infra.parity import ACCOUNT, CONTROLLER, SERVICE, allowed, by_name, resources, trust
from tests.infra.plain_template import TASK, Properties, permissions
from tests.infra.terraform import TERRAFORM, evaluated, need_terraform, planned

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("terraform"), pytest.mark.timeout(300)]

ON_ECS = {
    "controller": "ecs",
    "pools": CONTROLLER["pools"],
    "ecs": {
        "cluster_arn": SERVICE["cluster_arn"],
        "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/tidegate:1",
        "image_repository_arn": f"arn:aws:ecr:{ACCOUNT}:repository/tidegate",
        "subnets": ["subnet-1"],
        "security_groups": ["sg-1"],
    },
}


@pytest.fixture(autouse=True)
def _terraform() -> None:
    need_terraform()


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_terraform()
    return planned(TERRAFORM, ON_ECS, tmp_path_factory.mktemp("task"))


def service() -> Properties:
    """The controller's own, not the workers'."""
    return TASK.the("ECS::Service", ServiceName="tidegate")


def container() -> dict[str, Any]:
    (one,) = TASK.the("ECS::TaskDefinition", Family="tidegate")["ContainerDefinitions"]
    found: dict[str, Any] = one
    return found


def policy(name: str) -> dict[str, Any]:
    return permissions(TASK.the("IAM::Policy", PolicyName=name)["PolicyDocument"]["Statement"])


def test_the_controller_may_do_the_same(tmp_path: Path) -> None:
    assert allowed(TERRAFORM, "local.controller_statements", ON_ECS, tmp_path) == policy("controller")


def test_what_starts_it_may_do_the_same(tmp_path: Path) -> None:
    assert allowed(TERRAFORM, "local.execution_statements", ON_ECS, tmp_path) == policy("execution")


def test_roles_are_called_the_same_and_trust_the_same(plan: dict[str, Any]) -> None:
    made = {role["name"]: trust(json.loads(role["assume_role_policy"])) for role in resources(plan, "aws_iam_role")}
    roles = [role for role in TASK.of_type("IAM::Role") if "RoleName" in role]
    assert made == {role["RoleName"]: trust(role["AssumeRolePolicyDocument"]) for role in roles}


def test_the_service_keeps_one_of_it_in_the_same_way(plan: dict[str, Any]) -> None:
    (made,) = resources(plan, "aws_ecs_service")
    deployment = service()["DeploymentConfiguration"]

    assert (made["name"], made["desired_count"], made["launch_type"]) == ("tidegate", 1, "FARGATE")
    assert (service()["DesiredCount"], service()["LaunchType"]) == (1, "FARGATE")
    assert made["deployment_minimum_healthy_percent"] == deployment["MinimumHealthyPercent"] == 0
    assert made["deployment_maximum_percent"] == deployment["MaximumPercent"] == 100
    (breaker,) = made["deployment_circuit_breaker"]
    assert {"Enable": breaker["enable"], "Rollback": breaker["rollback"]} == deployment["DeploymentCircuitBreaker"]
    assert made["propagate_tags"] == service()["PropagateTags"]
    (network,) = made["network_configuration"]
    same = service()["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert (network["assign_public_ip"], same["AssignPublicIp"]) == (False, "DISABLED")


def test_the_task_is_of_the_same_size_and_machine(plan: dict[str, Any]) -> None:
    (made,) = resources(plan, "aws_ecs_task_definition")
    same = TASK.the("ECS::TaskDefinition", Family="tidegate")
    (platform,) = made["runtime_platform"]

    assert (made["cpu"], made["memory"]) == (same["Cpu"], same["Memory"])
    assert made["network_mode"] == same["NetworkMode"]
    assert platform["cpu_architecture"] == same["RuntimePlatform"]["CpuArchitecture"]
    assert platform["operating_system_family"] == same["RuntimePlatform"]["OperatingSystemFamily"]
    assert [one["name"] for one in made["volume"]] == [one["Name"] for one in same["Volumes"]]


def test_the_container_runs_the_same_with_the_same_variables_and_health_check(tmp_path: Path) -> None:
    """The CDK's has one variable more: CloudFormation does not tell the parameter's version, which Terraform names."""
    made = evaluated(TERRAFORM, "[local.container, local.health_file]", ON_ECS, tmp_path)

    assert made[0] == {key: lower(container()[upper(key)]) for key in made[0]}
    assert len(made[0]) == 7
    variables = by_name(container()["Environment"])
    assert variables.pop("TIDEGATE_CONFIG_REVISION")
    assert variables == {"TIDEGATE_CONFIG": "ssm:/tidegate/settings", "TIDEGATE_HEALTH_FILE": made[1]}


def upper(key: str) -> str:
    """As CloudFormation writes it."""
    return key[0].upper() + key[1:]


def lower(value: Any) -> Any:
    """CloudFormation's structure as the ECS API has it."""
    if isinstance(value, dict):
        return {key[0].lower() + key[1:]: lower(one) for key, one in value.items()}
    return [lower(one) for one in value] if isinstance(value, list) else value


def test_the_log_is_the_same(plan: dict[str, Any]) -> None:
    (log,) = resources(plan, "aws_cloudwatch_log_group")
    same = TASK.the("Logs::LogGroup", LogGroupName=log["name"])
    assert (log["name"], log["retention_in_days"]) == ("/ecs/tidegate", same["RetentionInDays"])
