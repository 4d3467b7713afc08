"""The controller, as a function or as a task, with its table, settings, log and roles."""

from typing import Any, Literal

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_ssm as ssm
from aws_cdk.aws_ecs import FargateService
from constructs import Construct

from tidegate_cdk import checks
from tidegate_cdk.function import make_function
from tidegate_cdk.nag import ANY_GROUP_ID, acknowledge_wildcards
from tidegate_cdk.policy import ControllerPolicy
from tidegate_cdk.settings import later, rendered, revision
from tidegate_cdk.task import ControllerTask, make_service
from tidegate_cdk.terms import PoolTerms

_NO_RESOURCE_TYPE = "IAM knows no resource type for the action."
_ANY_ALARM = "Which alarms hold a pool is said in the settings, and may change without the policy."
_COLONS = ArnFormat.COLON_RESOURCE_NAME


class Autoscaler(Construct):
    """Everything but the pools. One for an account and Region is enough.

    `controller` "lambda": a function that a schedule calls once a minute. `package` is the zip that `make lambda`
    writes, `architecture` and `runtime` are those that it was built for. "ecs": a task that always runs; `ecs` says of
    which image and where, `architecture` is the image's.

    With `encryption_key` table, log and schedule are encrypted with that key and not with the services' own; its policy
    must let CloudWatch Logs and EventBridge Scheduler use it.

    Raises ValueError for a name, tick or namespace that would be refused later, and for a controller without what it
    needs or with what the other one does.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        package: lambda_.Code | None = None,
        controller: Literal["lambda", "ecs"] = "lambda",
        ecs: ControllerTask | None = None,
        name: str = "tidegate",
        tick: Duration | None = None,
        namespace: str = "tidegate",
        architecture: lambda_.Architecture | None = None,
        runtime: lambda_.Runtime | None = None,
        memory_size: int = 256,
        encryption_key: kms.IKey | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        deletion_protection: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        self.name = checks.controller_name(name)
        self.namespace = checks.namespace(namespace)
        self._is_lambda = checks.is_lambda(controller, package is not None, ecs is not None)
        self._tick_s = checks.tick_s(tick or Duration.seconds(10))
        self._pools: dict[str, PoolTerms] = {}
        self._key = encryption_key
        self.table = self._make_table(deletion_protection)
        self.log_group = self._make_log_group(log_retention)
        self.parameter = self._make_parameter()
        self.role = self._make_role()
        self._policy = self._make_policy()
        architecture = architecture or lambda_.Architecture.ARM_64
        runtime = runtime or lambda_.Runtime.PYTHON_3_13
        self.function = self._make_function(package, architecture, runtime, memory_size) if package else None
        """None where the controller is a task."""
        self.service = self._make_service(ecs, architecture) if ecs else None
        """None where the controller is a function."""

    def add(self, terms: PoolTerms) -> None:
        """Serve this pool too; `Pool` does it by itself. Raises ValueError when there is one of this name already."""
        if terms.name in self._pools:
            raise ValueError(f"name = {terms.name!r}: this autoscaler has a pool of that name; give each its own")
        if (terms.service_arn is None) == (terms.group_arn is None):
            raise ValueError(f"pool {terms.name}: set exactly one of service and group, which is what it scales")
        self._pools[terms.name] = terms
        self._policy.allow("ReadQueueCounts", terms.queue_arn)
        if terms.service_arn is not None:
            self._policy.allow("ScaleTheService", terms.service_arn)
        if terms.group_arn is not None:
            self._policy.allow("ReadGroupsWhichHaveNoResourceType", "*")
            self._policy.allow("ScaleTheGroup", terms.group_arn)
            acknowledge_wildcards(self._policy.policy, [terms.group_arn], ANY_GROUP_ID)
        if "hold_on_alarms" in terms.settings:
            every = Stack.of(self).format_arn(
                service="cloudwatch", resource="alarm", resource_name="*", arn_format=_COLONS
            )
            self._policy.allow("ReadTheAlarmsThatHoldPools", every)
            acknowledge_wildcards(self._policy.policy, [every], _ANY_ALARM)

    def grant_operate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody use `tidegate status`, `freeze`, `pin` and `resume` on these pools."""
        table = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"],
            resource_arns=[self.table.table_arn],
        )
        settings = iam.Grant.add_to_principal(
            grantee=grantee, actions=["ssm:GetParameter"], resource_arns=[self.parameter.parameter_arn]
        )
        return table.combine(settings)

    def metric_errors(self) -> cloudwatch.Metric:
        """Invocations in which some pool could not be served. Raises ValueError where the controller is a task."""
        return self._as_function().metric_errors()

    def metric_duration(self) -> cloudwatch.Metric:
        """How long invocations run: most of a minute, with ticks of ten seconds. Raises as `metric_errors`."""
        return self._as_function().metric_duration()

    @property
    def table_arn(self) -> str:
        """Made of the table's name, so that pools of other stacks can use it without a cycle between the stacks."""
        return Stack.of(self).format_arn(service="dynamodb", resource="table", resource_name=self.name)

    @property
    def settings_source(self) -> str:
        """TIDEGATE_CONFIG of the controller; for `tidegate status`, `freeze`, `pin` and `resume` too."""
        return f"ssm:/{self.name}/settings"

    def _as_function(self) -> lambda_.Function:
        if self.function is None:
            raise ValueError('controller = "ecs": a task has no invocations; look at the metric Decisions of its pools')
        return self.function

    def _settings(self) -> dict[str, Any]:
        return {
            # By its ARN, which also says whose account this is: queues of others are then told from queues of its own.
            "table": self.table_arn,
            "tick": f"{self._tick_s}s",
            "namespace": self.namespace,
            # In Lambda CloudWatch Logs reads the metrics from the log, without a call.
            "publish": "log" if self._is_lambda else "cloudwatch",
            "ticks_per_invocation": max(1, 60 // self._tick_s) if self._is_lambda else 1,
            "pools": {name: dict(terms.settings) for name, terms in self._pools.items()},
        }

    def _make_table(self, protected: bool) -> dynamodb.Table:
        managed = dynamodb.TableEncryption.CUSTOMER_MANAGED if self._key else dynamodb.TableEncryption.AWS_MANAGED
        return dynamodb.Table(
            self,
            "Table",
            table_name=self.name,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            time_to_live_attribute="expires_at",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            encryption=managed,
            encryption_key=self._key,
            deletion_protection=protected,
            removal_policy=RemovalPolicy.RETAIN if protected else RemovalPolicy.DESTROY,
        )

    def _make_log_group(self, retention: logs.RetentionDays) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/aws/lambda/{self.name}" if self._is_lambda else f"/ecs/{self.name}",
            retention=retention,
            encryption_key=self._key,
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _make_parameter(self) -> ssm.StringParameter:
        """Intelligent tiering: above 4 KB it becomes an advanced parameter, which costs a few cents a month."""
        stack = Stack.of(self)
        return ssm.StringParameter(
            self,
            "Settings",
            parameter_name=f"/{self.name}/settings",
            description=f"Settings of the tidegate controller {self.name}, made by CloudFormation.",
            tier=ssm.ParameterTier.INTELLIGENT_TIERING,
            string_value=later(lambda: rendered(stack, self._settings())),
        )

    def _make_role(self) -> iam.Role:
        return iam.Role(
            self,
            "Role",
            role_name=f"{self.name}-controller",
            description=f"The tidegate controller {self.name}: reads queues, sets desired counts.",
            assumed_by=iam.ServicePrincipal(
                "lambda.amazonaws.com" if self._is_lambda else "ecs-tasks.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            ),
        )

    def _make_policy(self) -> ControllerPolicy:
        policy = ControllerPolicy(self, self.role, self.namespace)
        policy.allow("ReadSettingsFromParameter", self.parameter.parameter_arn)
        policy.allow("ReadMetricsWhichHaveNoResourceType", "*")
        policy.allow("KeepStateAndReadHeartbeats", self.table.table_arn)
        if self._is_lambda:
            policy.allow("WriteItsOwnLog", self.log_group.log_group_arn)
        else:
            policy.allow("PublishMetricsIntoOneNamespace", "*")
        if self._key is not None:
            policy.allow_key(self._key.key_arn)
        acknowledge_wildcards(policy.policy, ["*"], _NO_RESOURCE_TYPE)
        return policy

    def _environment(self) -> dict[str, str]:
        """Of the controller: where the settings are, and a text that changes with them, so that it reads them anew."""
        stack = Stack.of(self)
        return {
            "TIDEGATE_CONFIG": self.settings_source,
            "TIDEGATE_CONFIG_REVISION": later(lambda: revision(stack, self._settings())),
        }

    def _make_function(
        self, package: lambda_.Code, architecture: lambda_.Architecture, runtime: lambda_.Runtime, memory_size: int
    ) -> lambda_.Function:
        function = make_function(
            self,
            name=self.name,
            package=package,
            architecture=architecture,
            runtime=runtime,
            memory_size=memory_size,
            role=self.role,
            log_group=self.log_group,
            environment=self._environment(),
            key=self._key,
        )
        function.node.add_dependency(self._policy.policy)
        return function

    def _make_service(self, terms: ControllerTask, architecture: lambda_.Architecture) -> FargateService:
        service = make_service(
            self,
            name=self.name,
            terms=terms,
            architecture=architecture,
            role=self.role,
            log_group=self.log_group,
            environment=self._environment(),
        )
        service.node.add_dependency(self._policy.policy)
        return service
