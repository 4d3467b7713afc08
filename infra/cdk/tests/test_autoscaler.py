"""The controller's resources are what docs/deploy.md says."""

import json
from typing import Any

import pytest
from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Match, Template
from stacks import autoscaler, group, only, policy, resources, service, source, stack, text
from tidegate_cdk import Pool, PoolTerms

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders"
SERVICE = "arn:aws:ecs:eu-west-1:123456789012:service/prod/orders"
TERMS = PoolTerms("orders", {"queue": QUEUE, "target_wait": "30s", "max_workers": 5}, QUEUE, SERVICE)


def test_the_table_is_the_fleet_tables_form_and_can_be_restored() -> None:
    at = stack()
    autoscaler(at)
    Template.from_stack(at).has_resource(
        "AWS::DynamoDB::Table",
        {
            "DeletionPolicy": "Retain",
            "Properties": {
                "TableName": "tidegate",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
                "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                "SSESpecification": {"SSEEnabled": True},
                "DeletionProtectionEnabled": True,
            },
        },
    )


def test_without_protection_the_table_goes_with_the_stack() -> None:
    at = stack()
    autoscaler(at, deletion_protection=False)
    Template.from_stack(at).has_resource(
        "AWS::DynamoDB::Table", {"DeletionPolicy": "Delete", "Properties": {"DeletionProtectionEnabled": False}}
    )


def test_the_function_runs_one_at_a_time_and_is_never_called_again_for_what_failed() -> None:
    at = stack()
    autoscaler(at)
    function, invoked = only(at, "Lambda::Function"), only(at, "Lambda::EventInvokeConfig")

    assert function["ReservedConcurrentExecutions"] == 1
    assert function["Handler"] == "tidegate.entrypoints.lambda_handler.handler"
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert (function["Timeout"], function["MemorySize"]) == (90, 256)
    assert function["LoggingConfig"]["LogFormat"] == "Text"
    assert (invoked["MaximumRetryAttempts"], invoked["MaximumEventAgeInSeconds"]) == (0, 60)


def test_the_schedule_calls_it_once_a_minute_without_retries() -> None:
    at = stack()
    autoscaler(at, name="tides")
    schedule = only(at, "Scheduler::Schedule")

    assert (schedule["Name"], schedule["ScheduleExpression"]) == ("tides", "rate(1 minute)")
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}
    assert set(policy(at, "schedule")) == set(source("schedule"))
    assert text(policy(at, "schedule")["CallTheFunction"]["Resource"]).startswith("<TidegateFunction")


def test_the_log_is_kept_for_as_long_as_is_said() -> None:
    at = stack()
    autoscaler(at, log_retention=logs.RetentionDays.ONE_YEAR)
    assert only(at, "Logs::LogGroup") == {"LogGroupName": "/aws/lambda/tidegate", "RetentionInDays": 365}


def test_its_roles_can_be_taken_by_the_accounts_own_function_and_schedule_only() -> None:
    at = stack()
    autoscaler(at)
    trusts = {role["RoleName"]: role["AssumeRolePolicyDocument"]["Statement"][0] for role in resources(at, "IAM::Role")}
    assert {name: trust["Principal"] for name, trust in trusts.items()} == {
        "tidegate-controller": {"Service": "lambda.amazonaws.com"},
        "tidegate-schedule": {"Service": "scheduler.amazonaws.com"},
    }
    for trust in trusts.values():
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_the_controller_may_do_what_the_source_says_on_its_own_resources_and_nothing_else() -> None:
    at = stack()
    autoscaler(at).add(TERMS)
    allowed, said = policy(at, "controller"), source("controller") | source("lambda")

    assert {sid: text(one["Resource"]) for sid, one in allowed.items() if one["Resource"] != "*"} == {
        "ReadSettingsFromParameter": (
            "arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter<TidegateSettingsC2346C2B>"
        ),
        "ReadQueueCounts": QUEUE,
        "ScaleTheService": SERVICE,
        "KeepStateAndReadHeartbeats": "<TidegateTableC91466C9.Arn>",
        "WriteItsOwnLog": "<TidegateLog41765E72.Arn>",
    }
    assert [sid for sid, one in allowed.items() if one["Resource"] == "*"] == ["ReadMetricsWhichHaveNoResourceType"]
    for sid, one in allowed.items():
        assert one["Action"] == said[sid]["Action"]
        assert one.get("Condition") == said[sid].get("Condition")


def test_a_second_pool_adds_its_resources_to_the_same_statements() -> None:
    at = stack()
    one = autoscaler(at)
    one.add(TERMS)
    one.add(PoolTerms("mail", {"hold_on_alarms": ["5xx"]}, QUEUE.replace("orders", "mail"), group_arn="arn:aws:g"))
    allowed = policy(at, "controller")

    assert allowed["ReadQueueCounts"]["Resource"] == [QUEUE, QUEUE.replace("orders", "mail")]
    assert allowed["ScaleTheGroup"]["Resource"] == "arn:aws:g"
    assert allowed["ReadGroupsWhichHaveNoResourceType"]["Resource"] == "*"
    assert text(allowed["ReadTheAlarmsThatHoldPools"]["Resource"]).endswith(":alarm:*")


def test_the_settings_hold_every_pool_however_late_it_was_added() -> None:
    at = stack()
    autoscaler(at, tick=Duration.seconds(20)).add(TERMS)
    settings = json.loads(text(only(at, "SSM::Parameter")["Value"]))

    assert settings == {
        "table": "arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/tidegate",
        "tick": "20s",
        "namespace": "tidegate",
        "publish": "log",
        "ticks_per_invocation": 3,
        "pools": {"orders": {"queue": QUEUE, "target_wait": "30s", "max_workers": 5}},
    }


def test_a_change_of_the_settings_is_a_change_of_the_function() -> None:
    def revision(most: int) -> str:
        at = stack()
        autoscaler(at).add(PoolTerms("orders", {**TERMS.settings, "max_workers": most}, QUEUE, SERVICE))
        found: str = only(at, "Lambda::Function")["Environment"]["Variables"]["TIDEGATE_CONFIG_REVISION"]
        return found

    assert revision(5) == revision(5) != revision(6)


def test_a_key_of_ones_own_encrypts_table_log_and_schedule_and_may_be_read_with() -> None:
    at = stack()
    key = "arn:aws:kms:eu-west-1:123456789012:key/k"
    autoscaler(at, encryption_key=kms.Key.from_key_arn(at, "Key", key))

    assert only(at, "DynamoDB::Table")["SSESpecification"]["KMSMasterKeyId"] == key
    assert only(at, "Logs::LogGroup")["KmsKeyId"] == key
    assert only(at, "Scheduler::Schedule")["KmsKeyArn"] == key
    granted = policy(at, "controller")["ReadWhatIsEncryptedWithTheKey"]
    assert (granted["Action"], granted["Resource"]) == ("kms:Decrypt", key)


def test_an_operator_may_read_the_settings_and_write_overrides() -> None:
    at = stack()
    operator = iam.User(at, "Operator")
    autoscaler(at).grant_operate(operator)
    Template.from_stack(at).has_resource_properties(
        "AWS::IAM::Policy",
        {
            "Users": [Match.any_value()],
            "PolicyDocument": {
                "Statement": [
                    Match.object_like({"Action": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]}),
                    Match.object_like({"Action": "ssm:GetParameter"}),
                ]
            },
        },
    )


def test_metrics_are_the_functions_own() -> None:
    at = stack()
    one = autoscaler(at)
    assert [one.metric_errors().metric_name, one.metric_duration().metric_name] == ["Errors", "Duration"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": "Tide"}, "name = 'Tide': must be 3 to 40 small letters"),
        ({"namespace": "AWS/SQS"}, "namespace = 'AWS/SQS': must be 1 to 255"),
        ({"tick": Duration.seconds(61)}, "tick = 61 s: must be whole seconds from 5 to 60"),
        ({"tick": Duration.millis(5500)}, "tick = 5.5 s: must be whole seconds"),
    ],
)
def test_what_would_be_refused_later_is_refused_at_synthesis(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        autoscaler(stack(), **settings)


def test_two_pools_of_one_name_are_refused() -> None:
    one = autoscaler(stack())
    one.add(TERMS)
    with pytest.raises(ValueError, match="this autoscaler has a pool of that name"):
        one.add(TERMS)


def test_a_pool_scales_exactly_one_thing() -> None:
    at = stack()
    one = autoscaler(at)
    neither: dict[str, Any] = {}
    for given in (neither, {"service": service(at), "group": group(at)}):
        with pytest.raises(ValueError, match="set exactly one of service and group"):
            Pool(
                at, f"P{len(given)}", autoscaler=one, name="p", max_workers=2, target_wait=Duration.minutes(1), **given
            )  # fmt: skip
