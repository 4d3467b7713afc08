"""The controller as a task that always runs: what it needs, and the service that keeps one of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from tidegate_cdk.nag import acknowledge, acknowledge_wildcards
from tidegate_cdk.sources import statements

_NO_RESOURCE_TYPE = "IAM knows no resource type for the action."
_NO_SECRETS = "The variables say where the settings and the health file are; none is a secret."
_HEALTH_FOLDER = "/run/tidegate"
"""A volume of the image, which belongs to the user that it runs as (infra/docker/Dockerfile)."""


@dataclass(frozen=True)
class ControllerTask:
    """Cluster, image (infra/docker/Dockerfile) and network of the task. Subnets need a way to AWS's APIs.

    `repository` is where `image` lies when that is a private one of ECR: the task may then be started from it. Without
    `security_groups` one is made that lets it call out; `subnets` are the VPC's private ones where they are left out.
    """

    cluster: ecs.ICluster
    image: str
    repository: ecr.IRepository | None = None
    subnets: ec2.SubnetSelection | None = None
    security_groups: Sequence[ec2.ISecurityGroup] = ()
    assign_public_ip: bool = False
    cpu: int = 256
    memory: int = 512


def make_service(
    scope: Construct,
    *,
    name: str,
    terms: ControllerTask,
    architecture: lambda_.Architecture,
    role: iam.Role,
    log_group: logs.ILogGroup,
    environment: Mapping[str, str],
) -> ecs.FargateService:
    """One at a time: the old one stops before the new one starts. Two would do no harm, one would only stand by."""
    execution = _execution_role(scope, name, log_group, terms.repository)
    task = _task(scope, name, terms, architecture, role, execution.role)
    _container(task, terms, log_group, environment)
    service = ecs.FargateService(
        scope,
        "Service",
        service_name=name,
        cluster=terms.cluster,
        task_definition=task,
        desired_count=1,
        min_healthy_percent=0,
        max_healthy_percent=100,
        circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
        propagate_tags=ecs.PropagatedTagSource.SERVICE,
        vpc_subnets=terms.subnets,
        security_groups=[*terms.security_groups] or None,
        assign_public_ip=terms.assign_public_ip,
    )
    service.node.add_dependency(execution.policy)
    return service


@dataclass(frozen=True)
class _Execution:
    role: iam.Role
    policy: iam.Policy


def _execution_role(
    scope: Construct, name: str, log_group: logs.ILogGroup, repository: ecr.IRepository | None
) -> _Execution:
    """What ECS itself needs to start the task: its log, and the image where that is in a private repository."""
    role = iam.Role(
        scope,
        "ExecutionRole",
        role_name=f"{name}-execution",
        description=f"Lets ECS start the tidegate controller {name}.",
        assumed_by=iam.ServicePrincipal(
            "ecs-tasks.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
        ),
    )
    resources = {
        "WriteItsOwnLog": [log_group.log_group_arn],
        "PullTheImage": [repository.repository_arn] if repository else [],
        "SignInToTheRegistryWhichHasNoResourceType": ["*"] if repository else [],
    }
    allowed = [
        iam.PolicyStatement.from_json({**one, "Resource": resources[one["Sid"]]})
        for one in statements("lambda", "execution")
        if resources[one["Sid"]]
    ]
    policy = iam.Policy(scope, "ExecutionPolicy", policy_name="execution", roles=[role], statements=allowed)
    if repository:
        acknowledge_wildcards(policy, ["*"], _NO_RESOURCE_TYPE)
    return _Execution(role, policy)


def _task(
    scope: Construct,
    name: str,
    terms: ControllerTask,
    architecture: lambda_.Architecture,
    role: iam.Role,
    execution: iam.Role,
) -> ecs.FargateTaskDefinition:
    task = ecs.FargateTaskDefinition(
        scope,
        "Task",
        family=name,
        cpu=terms.cpu,
        memory_limit_mib=terms.memory,
        task_role=role.without_policy_updates(),
        execution_role=execution.without_policy_updates(),
        runtime_platform=ecs.RuntimePlatform(
            operating_system_family=ecs.OperatingSystemFamily.LINUX,
            cpu_architecture=ecs.CpuArchitecture.of(architecture.name.upper()),
        ),
    )
    # Where it says at each tick how it is; the rest of its disk is read-only.
    task.add_volume(name="health")
    acknowledge(task, "AwsSolutions-ECS2", _NO_SECRETS)
    return task


def _container(
    task: ecs.FargateTaskDefinition,
    terms: ControllerTask,
    log_group: logs.ILogGroup,
    environment: Mapping[str, str],
) -> None:
    container = task.add_container(
        "controller",
        image=ecs.ContainerImage.from_registry(terms.image),
        command=["tidegate", "run"],
        essential=True,
        readonly_root_filesystem=True,
        stop_timeout=Duration.seconds(30),
        environment={**environment, "TIDEGATE_HEALTH_FILE": f"{_HEALTH_FOLDER}/health.json"},
        health_check=ecs.HealthCheck(
            command=["CMD", "tidegate", "health"],
            interval=Duration.seconds(30),
            timeout=Duration.seconds(5),
            retries=3,
            start_period=Duration.seconds(60),
        ),
        logging=ecs.LogDriver.aws_logs(stream_prefix="controller", log_group=log_group),
    )
    container.add_mount_points(ecs.MountPoint(source_volume="health", container_path=_HEALTH_FOLDER, read_only=False))
