"""The controller as a function that a schedule calls once a minute."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from tidegate_cdk.nag import acknowledge
from tidegate_cdk.schedule import EveryMinute

_BUILT_FOR = "The zip is built for this version of Python; make lambda builds for another."


def make_function(
    scope: Construct,
    *,
    name: str,
    package: lambda_.Code,
    architecture: lambda_.Architecture,
    runtime: lambda_.Runtime,
    memory_size: int,
    role: iam.Role,
    log_group: logs.ILogGroup,
    environment: Mapping[str, str],
    key: kms.IKey | None,
) -> lambda_.Function:
    """With its schedule. One at a time; what failed is never tried again: the next minute is the retry."""
    function = lambda_.Function(
        scope,
        "Function",
        function_name=name,
        description=f"{name}: sets the desired counts of its pools.",
        role=role.without_policy_updates(),
        handler="tidegate.entrypoints.lambda_handler.handler",
        code=package,
        runtime=runtime,
        architecture=architecture,
        memory_size=memory_size,
        # A minute of ticks, and two endpoints that never answer after it.
        timeout=Duration.seconds(90),
        reserved_concurrent_executions=1,
        retry_attempts=0,
        max_event_age=Duration.seconds(60),
        # Text: the lines are JSON already, and CloudWatch Logs finds the metrics in those that are as written.
        logging_format=lambda_.LoggingFormat.TEXT,
        log_group=log_group,
        environment=dict(environment),
    )
    acknowledge(function, "AwsSolutions-L1", _BUILT_FOR)
    EveryMinute(scope, "Schedule", name=name, function=function, key=key)
    return function
