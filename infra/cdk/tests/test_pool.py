"""A pool's queue, policy, settings, alarms."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, Duration, Environment, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from stacks import INFRA, autoscaler, by_sid, group, only, resources, service, source, stack, text
from tidegate_cdk import Pool, QueueTerms

WATCHED = json.loads((INFRA / "observability" / "pool.json").read_text())
KEY = "arn:aws:kms:eu-west-1:123456789012:key/k"


def pool(at: Stack, **settings: Any) -> Pool:
    """Of the existing service, unless the settings say otherwise."""
    given: dict[str, Any] = {"target_wait": Duration.seconds(30), "max_workers": 5} | settings
    if "group" not in given:
        given["service"] = service(at)
    return Pool(at, "Pool", autoscaler=autoscaler(at), name="orders", **given)


def written(at: Stack) -> dict[str, Any]:
    """The pool's settings, with references in angle brackets."""
    found: dict[str, Any] = json.loads(text(only(at, "SSM::Parameter")["Value"]))["pools"]["orders"]
    return found


def queues(at: Stack) -> dict[str, Any]:
    return {one["QueueName"]: one for one in resources(at, "SQS::Queue")}


def test_a_queue_is_made_with_a_dead_letter_queue_that_only_it_may_use() -> None:
    at = stack()
    pool(at)
    made = queues(at)

    assert set(made) == {"orders", "orders-dead"}
    assert made["orders"]["RedrivePolicy"]["maxReceiveCount"] == 5
    assert made["orders"]["VisibilityTimeout"] == 60
    allowed = made["orders-dead"]["RedriveAllowPolicy"]
    assert allowed["redrivePermission"] == "byQueue"
    assert [text(one) for one in allowed["sourceQueueArns"]] == [
        "arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:orders"
    ]
    assert made["orders-dead"]["MessageRetentionPeriod"] == 1_209_600
    assert all(one["SqsManagedSseEnabled"] for one in made.values())


def test_both_queues_refuse_what_does_not_come_over_tls() -> None:
    at = stack()
    pool(at)
    policies = resources(at, "SQS::QueuePolicy")

    assert len(policies) == 2
    for one in policies:
        (statement,) = one["PolicyDocument"]["Statement"]
        assert statement["Effect"] == "Deny"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_fifo_queue_is_called_as_sqs_wants_it() -> None:
    at = stack()
    pool(at, queue_terms=QueueTerms(fifo=True, max_receive_count=9, visibility_timeout=Duration.minutes(2)))
    made = queues(at)

    assert set(made) == {"orders.fifo", "orders-dead.fifo"}
    assert made["orders.fifo"]["FifoQueue"] is True
    assert made["orders.fifo"]["RedrivePolicy"]["maxReceiveCount"] == 9
    assert made["orders.fifo"]["VisibilityTimeout"] == 120
    watched = {dimension["Value"] for one in alarms(at).values() for dimension in dimensions(one)}
    assert watched == {"orders", "orders-dead.fifo"}


def test_an_existing_queue_is_used_as_it_is() -> None:
    at = stack()
    arn = "arn:aws:sqs:us-east-1:210987654321:mail"
    pool(at, queue=sqs.Queue.from_queue_arn(at, "Mail", arn))

    assert queues(at) == {}
    assert written(at)["queue"] == arn
    assert "dead-letter-arrivals" not in {name.removeprefix("tidegate-orders-") for name in alarms(at)}
    assert "PutDeadLetters" not in worker_policy(at)


@pytest.mark.parametrize(("account", "watched"), [("123456789012", True), ("210987654321", False)])
def test_a_dead_letter_queue_is_watched_where_its_metrics_are_seen(account: str, watched: bool) -> None:
    at = Stack(App(), "S", env=Environment(account="123456789012", region="us-east-1"))
    queue, dead = (
        sqs.Queue.from_queue_arn(at, name, f"arn:aws:sqs:us-east-1:{account}:{name}") for name in ("mail", "mail-dead")
    )
    pool(at, queue=queue, dead_letter_queue=dead)

    assert ("tidegate-orders-dead-letter-arrivals" in alarms(at)) == watched
    assert worker_policy(at)["PutDeadLetters"]["Resource"] == f"arn:aws:sqs:us-east-1:{account}:mail-dead"


def worker_policy(at: Stack) -> dict[str, Any]:
    return by_sid(only(at, "IAM::ManagedPolicy")["PolicyDocument"])


def test_workers_of_a_service_may_do_what_the_source_says_and_nothing_else() -> None:
    at = stack()
    pool(at)
    allowed, said = worker_policy(at), source("worker")

    assert set(said) - set(allowed) == {"BeSparedAndWaitedForInTheGroup"}
    assert set(allowed) <= set(said)
    for sid, one in allowed.items():
        assert one["Action"] == said[sid]["Action"]
        assert one.get("Condition") == json.loads(json.dumps(said[sid].get("Condition")).replace("POOL", "orders"))
        assert one["Resource"] != "*"
    assert text(allowed["BeSparedInScaleIn"]["Resource"]).endswith(":task/prod/*")
    assert text(allowed["ReportToTheFleet"]["Resource"]).endswith(":table/tidegate")


def test_workers_of_a_group_may_keep_their_instance() -> None:
    at = stack()
    pool(at, group=group(at))
    allowed = worker_policy(at)

    assert "BeSparedInScaleIn" not in allowed
    resource = text(allowed["BeSparedAndWaitedForInTheGroup"]["Resource"])
    assert resource == (
        "arn:<AWS::Partition>:autoscaling:<AWS::Region>:<AWS::AccountId>"
        ":autoScalingGroup:*:autoScalingGroupName/workers"
    )
    assert written(at)["asg"] == "workers"


def test_an_encrypted_queues_key_may_be_used_through_sqs_only() -> None:
    at = stack()
    pool(at, queue_terms=QueueTerms(key=kms.Key.from_key_arn(at, "Key", KEY)))
    statement = worker_policy(at)["ReadAndMoveEncryptedMessages"]

    assert statement["Resource"] == KEY
    assert text(statement["Condition"]["StringEquals"]["kms:ViaService"]) == "sqs.<AWS::Region>.amazonaws.com"
    assert {one["KmsMasterKeyId"] for one in queues(at).values()} == {KEY}


def test_the_policy_is_attached_to_the_role_that_is_granted_work() -> None:
    at = stack()
    pool(at).grant_work(iam.Role.from_role_name(at, "Role", "orders-worker"))
    assert only(at, "IAM::ManagedPolicy")["Roles"] == ["orders-worker"]


def test_equipping_a_task_gives_it_the_environment_and_the_policy() -> None:
    at = stack()
    task = ecs.FargateTaskDefinition(at, "Task")
    task.add_container("worker", image=ecs.ContainerImage.from_registry("worker"))
    pool(at, slots_per_worker=4).equip(task)

    (container,) = only(at, "ECS::TaskDefinition")["ContainerDefinitions"]
    environment = {one["Name"]: text(one["Value"]) for one in container["Environment"]}
    assert environment == {
        "TIDEGATE_WORKER_QUEUE": "<PoolQueue81B9F4C5.Arn>",
        "TIDEGATE_WORKER_POOL": "orders",
        "TIDEGATE_WORKER_SLOTS": "4",
        "TIDEGATE_WORKER_TABLE": "arn:<AWS::Partition>:dynamodb:<AWS::Region>:<AWS::AccountId>:table/tidegate",
    }
    assert only(at, "IAM::ManagedPolicy")["Roles"] == [{"Ref": "TaskTaskRoleE98524A1"}]


def test_a_task_without_a_container_is_refused() -> None:
    at = stack()
    with pytest.raises(ValueError, match="the task definition has no container"):
        pool(at).equip(ecs.FargateTaskDefinition(at, "Task"))


def test_the_settings_are_the_pools_own_and_any_others_that_are_given() -> None:
    at = stack()
    pool(at, min_workers=2, slots_per_worker=4, more_settings={"policy": "wait"})

    assert written(at) == {
        "queue": "<PoolQueue81B9F4C5.Arn>",
        "min_workers": 2,
        "max_workers": 5,
        "slots_per_worker": 4,
        "target_wait": "30s",
        "ecs": {
            "cluster": "arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:cluster/prod",
            "service": "arn:aws:ecs:eu-west-1:123456789012:service/prod/orders",
        },
        "policy": "wait",
    }


def test_a_pool_of_another_stack_makes_no_cycle_between_the_stacks() -> None:
    app = App()
    central, team = Stack(app, "Central"), Stack(app, "Team")
    Pool(
        team, "Pool", autoscaler=autoscaler(central), name="orders", max_workers=5,
        target_wait=Duration.seconds(30), service=service(team),
    )  # fmt: skip
    app.synth()
    assert only(team, "IAM::ManagedPolicy")


def alarms(at: Stack) -> dict[str, dict[str, Any]]:
    return {one["AlarmName"]: one for one in resources(at, "CloudWatch::Alarm")}


def dimensions(alarm: Mapping[str, Any]) -> list[dict[str, str]]:
    """Of its one metric, or of all that its expression takes."""
    inputs = [one["MetricStat"]["Metric"] for one in alarm.get("Metrics", []) if "MetricStat" in one]
    return [dimension for one in (inputs or [alarm]) for dimension in one["Dimensions"]]


def test_every_alarm_of_the_source_is_made_as_it_stands_there() -> None:
    at = stack()
    pool(at, late_share_objective=0.05)
    made = alarms(at)

    assert set(made) == {f"tidegate-orders-{one['id'].replace('_', '-')}" for one in WATCHED["alarms"]}
    for one in WATCHED["alarms"]:
        alarm = made[f"tidegate-orders-{one['id'].replace('_', '-')}"]
        assert alarm["AlarmDescription"] == one["description"]
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (one["datapoints"], one["of"])
        assert (alarm["ComparisonOperator"], alarm["TreatMissingData"]) == (one["comparison"], one["missing"])
        returned = [query for query in alarm.get("Metrics", []) if query["ReturnData"]]
        assert [query["Expression"] for query in returned] == ([one["expression"]] if "expression" in one else [])
    assert made["tidegate-orders-late-share"]["Threshold"] == 0.05
    assert made["tidegate-orders-scale-events"]["Threshold"] == 1


def test_alarms_that_are_not_wanted_are_left_out_and_the_others_tell_the_topic() -> None:
    at = stack()
    topic = "arn:aws:sns:eu-west-1:123456789012:ops"
    pool(at, left_out=["scale_events"], alarm_topics=[sns.Topic.from_topic_arn(at, "Topic", topic)])

    assert "tidegate-orders-scale-events" not in alarms(at)
    for alarm in alarms(at).values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [topic]


def test_the_dashboard_shows_what_the_source_says() -> None:
    at = stack()
    pool(at)
    dashboard = only(at, "CloudWatch::Dashboard")

    assert dashboard["DashboardName"] == "tidegate-orders"
    widgets = json.loads(text(dashboard["DashboardBody"]))["widgets"]
    assert [one["properties"]["title"] for one in widgets] == [one["title"] for one in WATCHED["dashboard"]]
    assert all(isinstance(line, list) for one in widgets for line in one["properties"]["metrics"]), (
        "PutDashboard wants it"
    )
    (last,) = widgets[-1]["properties"]["metrics"]
    assert last[:4] == ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", "orders-dead"]


def test_metrics_are_those_that_the_controller_publishes() -> None:
    at = stack()
    one = pool(at)
    named = [one.metric_oldest_over_target(), one.metric_waiting(), one.metric_desired_workers()]

    assert {metric.metric_name for metric in named} <= set(WATCHED["published"])
    assert one.metric("BusySlots").dimensions == {"Pool": "orders"}
    cloudwatch.Alarm(at, "Mine", metric=one.metric_waiting(), threshold=1000, evaluation_periods=1)
    assert any(alarm.get("MetricName") == "Waiting" for alarm in resources(at, "CloudWatch::Alarm"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_workers": 0}, "max_workers = 0: must be at least 1"),
        ({"min_workers": 6}, "min_workers = 6 is more than max_workers = 5"),
        ({"slots_per_worker": 0}, "slots_per_worker = 0: must be at least 1"),
        ({"target_wait": None}, "set target_wait, or finish_by in more_settings"),
        ({"late_share_objective": 1}, "late_share_objective = 1: must be from 0 to 0.999"),
        ({"left_out": ["cpu"]}, r"left_out = \['cpu'\]: unknown; there are at_ceiling"),
        ({"queue_terms": QueueTerms(max_receive_count=0)}, "max_receive_count = 0: must be from 1 to 1000"),
    ],
)
def test_what_the_controller_or_aws_would_refuse_is_refused_at_synthesis(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pool(stack(), **settings)


def test_a_pool_may_have_a_time_to_finish_by_instead_of_a_target() -> None:
    at = stack()
    pool(at, target_wait=None, more_settings={"finish_by": {"at": "06:00"}})
    assert "target_wait" not in written(at)


def test_a_queue_that_exists_is_not_given_terms_nor_a_made_one_a_dead_letter_queue() -> None:
    at = stack()
    other = sqs.Queue.from_queue_arn(at, "Mail", "arn:aws:sqs:us-east-1:210987654321:mail")
    with pytest.raises(ValueError, match="queue_terms are for a queue that is made here"):
        pool(at, queue=other, queue_terms=QueueTerms())
    with pytest.raises(ValueError, match="dead_letter_queue goes with queue"):
        Pool(
            at, "Other", autoscaler=autoscaler(Stack(App(), "T")), name="orders", max_workers=5,
            target_wait=Duration.seconds(30), service=service(Stack(App(), "U")), dead_letter_queue=other,
        )  # fmt: skip


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match=r"metric_name = \['CPU'\]: unknown"):
        pool(stack()).metric("CPU")
