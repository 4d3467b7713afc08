"""What calls the function: once a minute, never twice."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from tidegate_cdk.sources import statements


class EveryMinute(Construct):
    """A schedule with a role that may call this function and nothing else."""

    def __init__(
        self, scope: Construct, construct_id: str, *, name: str, function: lambda_.IFunction, key: kms.IKey | None
    ) -> None:
        super().__init__(scope, construct_id)
        self._function = function
        self.role = self._make_role(name)
        self.schedule = scheduler.CfnSchedule(
            self,
            "Resource",
            name=name,
            description="Calls the tidegate controller once a minute.",
            schedule_expression="rate(1 minute)",
            kms_key_arn=key.key_arn if key else None,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=function.function_arn,
                role_arn=self.role.role_arn,
                # What it could not deliver is never tried again: the next minute is the retry.
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_retry_attempts=0, maximum_event_age_in_seconds=60
                ),
            ),
        )

    def _make_role(self, name: str) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            role_name=f"{name}-schedule",
            description=f"Lets the schedule call the tidegate controller {name}.",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
            ),
        )
        calls = [
            iam.PolicyStatement.from_json({**one, "Resource": [self._function.function_arn]})
            for one in statements("schedule")
        ]
        iam.Policy(self, "Policy", policy_name="schedule", roles=[role], statements=calls)
        return role
