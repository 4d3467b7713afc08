"""moto, and the sandbox's SQS, as the cloud of these tests; moto filled in where it lacks what the adapters need."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import boto3
import pytest
from moto import mock_aws
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult
from moto.dynamodb.models import dynamodb_backends
from moto.server import ThreadedMotoServer

from tidegate.aws.asg import AutoScalingGroup
from tidegate.aws.clients import AwsClients
from tidegate.aws.ecs import EcsService
from tidegate.sandbox.sqs import SqsServer
from tidegate.sandbox.tables import SerialDynamoDB

REGION = "eu-west-1"

dynamodb_backends.backend = SerialDynamoDB  # before the process's first table: moto keeps what it has made

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
}


def use_test_account(patch: pytest.MonkeyPatch) -> None:
    """Credentials of no account, and nothing of the developer's own."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS"):
        patch.delenv(name, raising=False)
    for name, value in CREDENTIALS.items():
        patch.setenv(name, value)


def _no_refreshes(_: AutoScalingResponse) -> ActionResult:
    return ActionResult({"InstanceRefreshes": []})


@contextmanager
def moto_clients(patch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """Clients of an empty account. moto knows no DescribeInstanceRefreshes: here no group ever has one."""
    use_test_account(patch)
    patch.setattr(AutoScalingResponse, "describe_instance_refreshes", _no_refreshes, raising=False)
    with mock_aws():
        yield AwsClients(REGION, session=_session())


@contextmanager
def moto_over_http(patch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """The same on a free port, which aiobotocore too is pointed at; tables outlive it, as the process does."""
    use_test_account(patch)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    try:
        yield AwsClients(REGION)
    finally:
        server.stop()


@contextmanager
def our_sqs(patch: pytest.MonkeyPatch) -> Iterator[SqsServer]:
    """The sandbox's SQS, which the environment's clients are pointed at."""
    use_test_account(patch)
    with SqsServer() as server:
        patch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
        yield server


@functools.cache
def _session() -> boto3.Session:
    """One for all tests: each new one parses the services' models again, which is most of a short test's time."""
    return boto3.Session()


def make_service(
    clients: AwsClients,
    desired: int,
    now: Callable[[], float] = time.time,
    name: str = "workers",
    cluster: str = "jobs",
) -> EcsService:
    """An ECS service in a cluster of its own. moto runs its tasks from the first update on."""
    ecs = clients.ecs()
    ecs.create_cluster(clusterName=cluster)
    ecs.register_task_definition(
        family="worker", containerDefinitions=[{"name": "worker", "image": "worker", "memory": 128}]
    )
    ecs.create_service(cluster=cluster, serviceName=name, taskDefinition="worker", desiredCount=desired)
    return EcsService(ecs, cluster, name, now)


def make_group(
    clients: AwsClients, desired: int, low: int, high: int, now: Callable[[], float] = time.time
) -> AutoScalingGroup:
    """An Auto Scaling group "workers"; moto's instances are InService at once."""
    client = clients.autoscaling()
    client.create_launch_configuration(
        LaunchConfigurationName="worker", ImageId="ami-12c6146b", InstanceType="t3.micro"
    )
    client.create_auto_scaling_group(
        AutoScalingGroupName="workers",
        LaunchConfigurationName="worker",
        MinSize=low,
        MaxSize=high,
        DesiredCapacity=desired,
        AvailabilityZones=[f"{REGION}a"],
    )
    return AutoScalingGroup(client, "workers", now)
