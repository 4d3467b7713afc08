"""The controller as a task: what is made of it, and what it and its start may do."""

import json
from typing import Any

import pytest
from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template
from stacks import autoscaler, by_task, cluster, only, policy, resources, source, stack, text
from tidegate_cdk import Autoscaler, ControllerTask, PoolTerms

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders"
SERVICE = "arn:aws:ecs:eu-west-1:123456789012:service/prod/orders"
TERMS = PoolTerms("orders", {"queue": QUEUE, "target_wait": "30s", "max_workers": 5}, QUEUE, SERVICE)


def test_one_task_runs_and_none_of_the_function_is_made() -> None:
    at = stack()
    by_task(at)
    service = only(at, "ECS::Service")

    assert (service["ServiceName"], service["DesiredCount"], service["LaunchType"]) == ("tidegate", 1, "FARGATE")
    deployment = service["DeploymentConfiguration"]
    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == (0, 100), "two could run at once"
    assert deployment["DeploymentCircuitBreaker"] == {"Enable": True, "Rollback": True}
    for kind in ("Lambda::Function", "Scheduler::Schedule", "Lambda::EventInvokeConfig"):
        Template.from_stack(at).resource_count_is(f"AWS::{kind}", 0)


def test_the_container_runs_the_controller_with_its_settings_on_a_disk_that_is_read_only() -> None:
    at = stack()
    by_task(at, architecture=lambda_.Architecture.X86_64)
    task = only(at, "ECS::TaskDefinition")
    (container,) = task["ContainerDefinitions"]

    assert [text(task[role]) for role in ("TaskRoleArn", "ExecutionRoleArn")] == [
        "<TidegateRoleEECAC4D8.Arn>",
        "<TidegateExecutionRoleBF232795.Arn>",
    ]
    assert (task["Cpu"], task["Memory"], task["RuntimePlatform"]["CpuArchitecture"]) == ("256", "512", "X86_64")
    assert container["Command"] == ["tidegate", "run"]
    assert text(container["Image"]).endswith("/tidegate:1")
    assert container["ReadonlyRootFilesystem"] is True
    assert container["StopTimeout"] == 30
    environment = {one["Name"]: one["Value"] for one in container["Environment"]}
    assert environment["TIDEGATE_CONFIG"] == "ssm:/tidegate/settings"
    assert environment["TIDEGATE_CONFIG_REVISION"]


def test_its_health_is_read_from_a_file_that_it_can_write() -> None:
    at = stack()
    by_task(at)
    task = only(at, "ECS::TaskDefinition")
    (container,) = task["ContainerDefinitions"]
    (mount,), (volume,) = container["MountPoints"], task["Volumes"]
    (file,) = [one["Value"] for one in container["Environment"] if one["Name"] == "TIDEGATE_HEALTH_FILE"]

    assert container["HealthCheck"]["Command"] == ["CMD", "tidegate", "health"]
    assert (mount["SourceVolume"], mount["ReadOnly"]) == (volume["Name"], False)
    assert file.startswith(mount["ContainerPath"] + "/")


def test_its_settings_publish_by_calls_and_tick_by_themselves() -> None:
    at = stack()
    by_task(at, tick=Duration.seconds(20)).add(TERMS)
    settings = json.loads(text(only(at, "SSM::Parameter")["Value"]))
    assert (settings["publish"], settings["ticks_per_invocation"], settings["tick"]) == ("cloudwatch", 1, "20s")


def test_it_may_publish_into_its_namespace_and_leaves_the_log_to_ecs() -> None:
    at = stack()
    by_task(at, namespace="tides").add(TERMS)
    allowed, said = policy(at, "controller"), source("controller")

    assert "WriteItsOwnLog" not in allowed
    assert set(allowed) <= set(said)
    assert allowed["PublishMetricsIntoOneNamespace"]["Condition"] == {"StringEquals": {"cloudwatch:namespace": "tides"}}
    for sid, one in allowed.items():
        assert one["Action"] == said[sid]["Action"]


def test_what_starts_it_may_log_and_pull_this_image() -> None:
    at = stack()
    by_task(at)
    allowed, said = policy(at, "execution"), source("lambda") | source("execution")

    assert set(allowed) == set(said)
    assert {sid: one["Action"] for sid, one in allowed.items()} == {sid: one["Action"] for sid, one in said.items()}
    assert text(allowed["PullTheImage"]["Resource"]).endswith(":repository/tidegate")
    assert [sid for sid, one in allowed.items() if one["Resource"] == "*"] == [
        "SignInToTheRegistryWhichHasNoResourceType"
    ]


def test_of_a_public_image_nothing_need_be_pulled_with_permission() -> None:
    at = stack()
    subnets = ec2.SubnetSelection(subnets=[ec2.Subnet.from_subnet_id(at, "Public", "subnet-2")])
    image = "public.ecr.aws/x/tidegate:1"
    Autoscaler(at, "T", controller="ecs", ecs=ControllerTask(cluster=cluster(at), image=image, subnets=subnets))
    assert set(policy(at, "execution")) == {"WriteItsOwnLog"}


def test_its_roles_can_be_taken_by_the_accounts_own_tasks_only() -> None:
    at = stack()
    by_task(at)
    trusts = {role["RoleName"]: role["AssumeRolePolicyDocument"]["Statement"][0] for role in resources(at, "IAM::Role")}
    assert set(trusts) == {"tidegate-controller", "tidegate-execution"}
    for trust in trusts.values():
        assert trust["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_its_log_is_a_group_of_its_own_and_a_key_of_ones_own_encrypts_it() -> None:
    at = stack()
    key = "arn:aws:kms:eu-west-1:123456789012:key/k"
    by_task(at, encryption_key=kms.Key.from_key_arn(at, "Key", key))
    assert (only(at, "Logs::LogGroup")["LogGroupName"], only(at, "Logs::LogGroup")["KmsKeyId"]) == (
        "/ecs/tidegate",
        key,
    )


def test_a_task_has_no_metrics_of_invocations() -> None:
    one = by_task(stack())
    for metric in (one.metric_errors, one.metric_duration):
        with pytest.raises(ValueError, match='controller = "ecs": a task has no invocations; look at the metric Dec'):
            metric()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"controller": "fargate"}, 'controller = \'fargate\': must be "lambda" or "ecs"'),
        ({"controller": "ecs"}, 'controller = "ecs" needs ecs: cluster and image'),
        ({}, r'controller = "lambda" needs package: the function\'s zip \(make lambda\)'),
    ],
)
def test_a_controller_without_what_it_needs_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Autoscaler(stack(), "Tidegate", **settings)


def test_a_controller_with_what_the_other_one_needs_is_refused() -> None:
    at = stack()
    task = ControllerTask(cluster=cluster(at), image="x")
    with pytest.raises(ValueError, match='controller = "lambda": remove ecs'):
        autoscaler(at, ecs=task)
    with pytest.raises(ValueError, match='controller = "ecs": remove package'):
        by_task(stack(), package=lambda_.Code.from_inline("x"))
