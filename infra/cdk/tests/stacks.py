"""Stacks of little else than what a test is about."""

import json
from pathlib import Path
from typing import Any

from aws_cdk import App, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from tidegate_cdk import Autoscaler, ControllerTask

INFRA = Path(__file__).parents[2]

Resource = dict[str, Any]


def stack() -> Stack:
    """An empty one, of no account or Region."""
    return Stack(App(), "S", analytics_reporting=False)


def autoscaler(scope: Stack, **settings: Any) -> Autoscaler:
    """With a package that lies in a bucket."""
    bucket = s3.Bucket.from_bucket_name(scope, "Bucket", "artifacts")
    return Autoscaler(scope, "Tidegate", package=lambda_.Code.from_bucket_v2(bucket, "tidegate.zip"), **settings)


def by_task(scope: Stack, **settings: Any) -> Autoscaler:
    """As a task in the cluster "prod", of an image in the repository "tidegate"."""
    repository = ecr.Repository.from_repository_name(scope, "Repository", "tidegate")
    subnets = ec2.SubnetSelection(subnets=[ec2.Subnet.from_subnet_id(scope, "Subnet", "subnet-1")])
    task = ControllerTask(
        cluster=cluster(scope), image=repository.repository_uri_for_tag("1"), repository=repository, subnets=subnets
    )
    return Autoscaler(scope, "Tidegate", controller="ecs", **{"ecs": task, **settings})


def service(scope: Stack) -> ecs.IBaseService:
    """One that exists: arn:aws:ecs:…:service/prod/orders."""
    arn = "arn:aws:ecs:eu-west-1:123456789012:service/prod/orders"
    return ecs.FargateService.from_fargate_service_attributes(scope, "Service", cluster=cluster(scope), service_arn=arn)


def cluster(scope: Stack) -> ecs.ICluster:
    """One that exists, "prod"."""
    vpc = ec2.Vpc.from_vpc_attributes(scope, "Vpc", vpc_id="vpc-1", availability_zones=["eu-west-1a"])
    return ecs.Cluster.from_cluster_attributes(scope, "Cluster", cluster_name="prod", vpc=vpc)


def group(scope: Stack) -> autoscaling.IAutoScalingGroup:
    """One that exists, "workers"."""
    return autoscaling.AutoScalingGroup.from_auto_scaling_group_name(scope, "Group", "workers")


def resources(scope: Stack, kind: str) -> list[Resource]:
    """The properties of every resource of the type AWS::KIND."""
    found = Template.from_stack(scope).find_resources(f"AWS::{kind}")
    return [one["Properties"] for one in found.values()]


def only(scope: Stack, kind: str) -> Resource:
    """The properties of the one resource of that type."""
    (one,) = resources(scope, kind)
    return one


def policy(scope: Stack, name: str) -> dict[str, Resource]:
    """The statements of the inline policy of that name, by their Sids."""
    (one,) = [found for found in resources(scope, "IAM::Policy") if found["PolicyName"] == name]
    return by_sid(one["PolicyDocument"])


def by_sid(document: Resource) -> dict[str, Resource]:
    """A policy document's statements by their Sids."""
    statements = {statement["Sid"]: statement for statement in document["Statement"]}
    assert len(statements) == len(document["Statement"]), "two statements of one Sid, which IAM refuses"
    return statements


def source(name: str) -> dict[str, Resource]:
    """The statements of infra/iam/NAME.json by their Sids."""
    return by_sid(json.loads((INFRA / "iam" / f"{name}.json").read_text()))


def text(value: Any) -> str:
    """A value with its references in angle brackets, joined."""
    if not isinstance(value, dict):
        return str(value)
    ((function, arguments),) = value.items()
    if function == "Fn::Join":
        return str(arguments[0]).join(text(one) for one in arguments[1])
    return f"<{arguments if function == 'Ref' else '.'.join(arguments)}>"
