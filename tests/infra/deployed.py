"""A plain template, deployed on moto's CloudFormation."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import boto3
import pytest

from tests.aws.moto_cloud import REGION, moto_clients
from tests.infra.plain_template import PlainTemplate

SKIPPED_BY_MOTO = {
    "AWS::CloudWatch::Alarm",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::SQS::QueuePolicy",
    "AWS::Scheduler::Schedule",
}
"""Their properties are asserted in the template: in the tests here, in infra/cdk/tests and in those of parity."""


def client(name: str) -> Any:
    """Of any service: the stubs know the names only that the adapters use."""
    make: Any = boto3.client
    return make(name, region_name=REGION)


@contextmanager
def account() -> Iterator[None]:
    """An empty one of moto's."""
    with pytest.MonkeyPatch.context() as patch, moto_clients(patch):
        yield


def deploy(template: PlainTemplate, **given: str) -> dict[str, str]:
    """The physical id of each logical one; `given` are those of the template's parameters that it has by itself."""
    subnets = client("ec2").describe_subnets()["Subnets"][:2]
    network = {"VpcId": subnets[0]["VpcId"], "Subnets": ",".join(subnet["SubnetId"] for subnet in subnets)}
    common = {"WorkerImage": "worker", "AlarmTopicArn": f"arn:aws:sns:{REGION}:123456789012:ops"}
    client("cloudformation").create_stack(
        StackName="orders",
        TemplateBody=template.path.read_text(),
        Capabilities=["CAPABILITY_NAMED_IAM"],
        Parameters=_parameters({**network, **common, **given}),
    )
    made = client("cloudformation").list_stack_resources(StackName="orders")["StackResourceSummaries"]
    return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in made if one.get("PhysicalResourceId")}


def _parameters(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()]
