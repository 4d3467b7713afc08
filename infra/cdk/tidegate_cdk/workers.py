"""What a pool's workers may do: infra/iam/worker.json and worker-kms.json with the pool's names in them."""

from collections.abc import Mapping, Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import Construct

from tidegate_cdk.sources import filled, statements


def worker_statements(pool: str, region: str, resources: Mapping[str, Sequence[str]]) -> list[iam.PolicyStatement]:
    """Each statement on its resources by its Sid. One that has none is left out; one that is not known is a KeyError,
    so that the policy can't grow unseen.
    """
    words = {"POOL": pool, "sqs.REGION.": f"sqs.{region}."}
    return [
        iam.PolicyStatement.from_json({**filled(one, words), "Resource": list(resources[one["Sid"]])})
        for one in statements("worker", "worker-kms")
        if resources[one["Sid"]]
    ]


def tasks_arn(scope: Construct, service: ecs.IBaseService) -> str:
    """Every task of the service's cluster: a task's ARN does not tell its service."""
    return Stack.of(scope).format_arn(
        service="ecs",
        resource="task",
        resource_name=f"{service.cluster.cluster_name}/*",
        account=service.env.account,
        region=service.env.region,
    )


def group_arn(scope: Construct, group: autoscaling.IAutoScalingGroup) -> str:
    """The group's ARN without the unique id in it, which nobody knows beforehand."""
    return Stack.of(scope).format_arn(
        service="autoscaling",
        resource="autoScalingGroup",
        resource_name=f"*:autoScalingGroupName/{group.auto_scaling_group_name}",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
