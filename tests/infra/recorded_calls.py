"""Every call that the adapters make, as botocore sends it: operation, parameters, and what its error would name."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from aiobotocore.session import AioSession

from tests.aws.moto_cloud import REGION, make_group, make_service, moto_clients, use_test_account
from tests.contract.fleet import report
from tidegate.aws import (
    aio,
    alarms,
    asg,
    asg_instance,
    cloudwatch,
    dead_letters,
    dynamodb,
    ecs,
    errors,
    heartbeats,
    message_notes,
    metric_data,
    permits,
    s3,
    sqs,
    ssm,
    work_queue,
)
from tidegate.aws.clients import AwsClients
from tidegate.core.directive import Directive
from tidegate.core.model import PoolState
from tidegate.core.workers.permits import Permits
from tidegate.ports import Datum, Metric, Received, VisibilityChange
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.sqs import SqsServer

POOL = "mail"
TABLE = "fleet"
GROUP, HOOK = "mailers", "drain"
NAMESPACE = "tidegate"
CONTROLLER = {
    sqs: "sqs",
    alarms: "cloudwatch",
    cloudwatch: "cloudwatch",
    metric_data: "cloudwatch",
    ssm: "ssm",
    s3: "s3",
    ecs: "ecs",
    asg: "autoscaling",
    dynamodb: "dynamodb",
}
"""The modules that the controller's role answers for, each with the service that it calls."""
WORKER = {
    work_queue: "sqs",
    dead_letters: "sqs",
    heartbeats: "dynamodb",
    message_notes: "dynamodb",
    permits: "dynamodb",
    asg_instance: "autoscaling",
}

Exercises = dict[type, dict[str, Callable[[], object]]]

_label: ContextVar[str] = ContextVar("label", default="(none)")


@dataclass(frozen=True)
class Call:
    """`operation` and `label` as IAM writes actions ("sqs:GetQueueUrl")."""

    operation: str
    label: str
    parameters: Mapping[str, Any]


class Recorder:
    """Listens to a session's clients; only those that are made after it."""

    def __init__(self, session: Any) -> None:
        self.calls: list[Call] = []
        session.register("before-parameter-build", self._take)

    def _take(self, params: Mapping[str, Any], model: Any, **_: object) -> None:
        name = f"{model.service_model.service_name}:{model.name}"
        self.calls.append(Call(name, _label.get(), dict(params)))

    @property
    def operations(self) -> set[str]:
        """Each operation that was called."""
        return {call.operation for call in self.calls}


@contextmanager
def _labelled(operation: str, resource: str) -> Iterator[None]:
    """`errors.calling`, which also tells the recorder what it was given."""
    token = _label.set(operation)
    try:
        with errors.calling(operation, resource):
            yield
    finally:
        _label.reset(token)


def _label_calls(patch: pytest.MonkeyPatch, modules: Mapping[ModuleType, str]) -> None:
    for module in modules:
        patch.setattr(module, "calling", _labelled)


def _queue_reader(clients: AwsClients) -> dict[str, Callable[[], object]]:
    boto3.client("sqs").create_queue(QueueName="mail")
    reader = sqs.SqsQueueReader(clients.sqs)
    return {
        "counts": lambda: reader.counts("mail"),
        "visibility_timeout_s": lambda: reader.visibility_timeout_s("mail"),
    }


def _table(clients: AwsClients) -> dict[str, Callable[[], object]]:
    table = dynamodb.DynamoFleetTable(clients.dynamodb(), TABLE)
    return {
        "load": lambda: table.load(POOL),
        "save": lambda: table.save(POOL, PoolState(), 0),
        "workers": lambda: table.workers(POOL, 0.0),
        "direct": lambda: table.direct(POOL, Directive()),
    }


def _capacity(target: ecs.EcsService | asg.AutoScalingGroup) -> dict[str, Callable[[], object]]:
    def remove_one() -> None:
        seen = target.read()
        names = boto3.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"][0]["Instances"]
        target.set_desired(seen.desired - 1, seen, [names[0]["InstanceId"]])

    def set_desired() -> None:
        target.set_desired(3, replace(target.read(), desired=2))
        remove_one()

    return {"read": target.read, "set_desired": set_desired}


def _settings(clients: AwsClients) -> Exercises:
    boto3.client("ssm").put_parameter(Name="/tidegate", Value="{}", Type="String")
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="settings")
    boto3.client("s3").put_object(Bucket="settings", Key="tidegate.toml", Body=b"")
    return {
        ssm.SsmParameter: {"read": lambda: ssm.SsmParameter(clients.ssm()).read("/tidegate")},
        s3.S3Object: {"read": lambda: s3.S3Object(clients.s3()).read("settings", "tidegate.toml")},
    }


def controller_exercises(clients: AwsClients) -> Exercises:
    """What calls each public method of each of the controller's adapters, all of which has been set up."""
    bare = AwsClients(REGION, session=boto3.Session())
    make_service(bare, 2)
    make_group(bare, 2, 0, 9)
    metrics = cloudwatch.CloudWatchMetrics(clients.cloudwatch)
    states = alarms.CloudWatchAlarms(clients.cloudwatch)
    writer = metric_data.CloudWatchWriter(clients.cloudwatch, NAMESPACE)
    datum = Datum(POOL, "Waiting", "Count", 6000.0, 1, 5.0, 5.0, 5.0)
    return {
        sqs.SqsQueueReader: _queue_reader(clients),
        alarms.CloudWatchAlarms: {"states": lambda: states.states(["payments-5xx"], 6000.0)},
        cloudwatch.CloudWatchMetrics: {"latest": lambda: metrics.latest([Metric("mail", "Depth", "Sum")], 6000.0)},
        metric_data.CloudWatchWriter: {"put": lambda: writer.put([datum])},
        **_settings(clients),
        ecs.EcsService: _capacity(ecs.EcsService(clients.ecs(), "jobs", "workers", lambda: 0.0)),
        asg.AutoScalingGroup: _capacity(asg.AutoScalingGroup(clients.autoscaling(), "workers", lambda: 0.0)),
        dynamodb.DynamoFleetTable: _table(clients),
    }


RECEIVED = Received("m1", "no handle", "hello", {})


def _member(instance_id: str) -> dict[str, Callable[[], object]]:
    async def with_member(use: Callable[[asg_instance.AsgInstance], Any]) -> None:
        instance = await asg_instance.AsgInstance.connect(GROUP, instance_id, HOOK)
        await use(instance)
        await instance.close()

    async def nothing(_: object) -> None:
        """Connect and close only."""

    def member(use: Callable[[asg_instance.AsgInstance], Any]) -> Callable[[], object]:
        return lambda: asyncio.run(with_member(use))

    return {
        "connect": member(nothing),
        "set_protected": member(lambda instance: instance.set_protected(True, 600.0)),
        "keep": member(lambda instance: instance.keep()),
        "complete": member(lambda instance: instance.complete()),
        "close": member(nothing),
    }


def _permits() -> dict[str, Callable[[], object]]:
    async def with_permits(use: Callable[[permits.DynamoPermits], Any]) -> None:
        store = await permits.DynamoPermits.connect(TABLE)
        await use(store)
        await store.close()

    async def nothing(_: object) -> None:
        """Connect and close only."""

    def permitted(use: Callable[[permits.DynamoPermits], Any]) -> Callable[[], object]:
        return lambda: asyncio.run(with_permits(use))

    return {
        "connect": permitted(nothing),
        "permits": permitted(lambda store: store.permits(POOL)),
        "replace": permitted(lambda store: store.replace(POOL, Permits(), 0, 1000.0)),
        "close": permitted(nothing),
    }


def worker_exercises(instance_id: str) -> Exercises:
    """As `controller_exercises`, for the worker's two; SQS and DynamoDB are where the environment says."""

    async def with_queue(use: Callable[[work_queue.SqsWorkQueue], Any]) -> None:
        queue = await work_queue.SqsWorkQueue.connect("mail", poll_wait_s=0)
        await use(queue)
        await queue.close()

    async def with_table(use: Callable[[heartbeats.DynamoHeartbeats], Any]) -> None:
        sink = await heartbeats.DynamoHeartbeats.connect(TABLE)
        await use(sink)
        await sink.close()

    async def with_notes(use: Callable[[message_notes.DynamoMessageNotes], Any]) -> None:
        notes = await message_notes.DynamoMessageNotes.connect(TABLE)
        await use(notes)
        await notes.close()

    async def nothing(_: object) -> None:
        """Connect and close only."""

    def queue(use: Callable[[work_queue.SqsWorkQueue], Any]) -> Callable[[], object]:
        return lambda: asyncio.run(with_queue(use))

    def table(use: Callable[[heartbeats.DynamoHeartbeats], Any]) -> Callable[[], object]:
        return lambda: asyncio.run(with_table(use))

    def noted(use: Callable[[message_notes.DynamoMessageNotes], Any]) -> Callable[[], object]:
        return lambda: asyncio.run(with_notes(use))

    return {
        work_queue.SqsWorkQueue: {
            "connect": queue(nothing),
            "visibility_timeout_s": queue(lambda q: q.visibility_timeout_s()),
            "max_receives": queue(lambda q: q.max_receives()),
            "backlog": queue(lambda q: q.backlog()),
            "receive": queue(lambda q: q.receive(1, 0, 30)),
            "delete": queue(lambda q: q.delete(["no handle"])),
            "change_visibility": queue(lambda q: q.change_visibility([VisibilityChange("no handle", 5)])),
            "dead_letter": queue(lambda q: q.dead_letter(RECEIVED, "why")),
            "close": queue(nothing),
        },
        dead_letters.DeadLetters: {"put": queue(lambda q: q.dead_letter(RECEIVED, "why"))},
        heartbeats.DynamoHeartbeats: {
            "connect": table(nothing),
            "put": table(lambda sink: sink.put(POOL, report("i-1"), 1000.0)),
            "directive": table(lambda sink: sink.directive(POOL)),
            "close": table(nothing),
        },
        asg_instance.AsgInstance: _member(instance_id),
        message_notes.DynamoMessageNotes: {
            "connect": noted(nothing),
            "note": noted(lambda notes: notes.note(POOL, "m-1")),
            "begins_alone": noted(lambda notes: notes.begins_alone(POOL, "m-1", 2, "i-1", 1000.0)),
            "ended": noted(lambda notes: notes.ended(POOL, "m-1", 2, 1000.0, spared=False)),
            "close": noted(nothing),
        },
        permits.DynamoPermits: _permits(),
    }


def make_queue_with_dead_letters(name: str) -> None:
    client = boto3.client("sqs")
    dead_url = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    dead_arn = client.get_queue_attributes(QueueUrl=dead_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": "5"})
    client.create_queue(QueueName=name, Attributes={"RedrivePolicy": policy})


def _run(exercises: Exercises) -> None:
    for methods in exercises.values():
        for call in methods.values():
            call()


def controller_calls() -> tuple[Recorder, Exercises, Recorder]:
    """What the controller's adapters call, what made them, and what setting the table up calls."""
    with pytest.MonkeyPatch.context() as patch, moto_clients(patch):
        _label_calls(patch, CONTROLLER)
        set_up, serve = boto3.Session(), boto3.Session()
        setting_up, serving = Recorder(set_up.events), Recorder(serve.events)
        dynamodb.create_table(AwsClients(REGION, session=set_up).dynamodb(), TABLE)
        exercises = controller_exercises(AwsClients(REGION, session=serve))
        _run(exercises)
    return serving, exercises, setting_up


def instance_with_a_hook(cloud: Cloud) -> str:
    """The id of one that is being terminated, in a group with a hook on that."""
    group = cloud.create_group(GROUP, 0, 2, 1)
    instance_id = group.admit().instance_id
    client = boto3.client("autoscaling")
    transition = "autoscaling:EC2_INSTANCE_TERMINATING"
    client.put_lifecycle_hook(AutoScalingGroupName=GROUP, LifecycleHookName=HOOK, LifecycleTransition=transition)
    client.terminate_instance_in_auto_scaling_group(InstanceId=instance_id, ShouldDecrementDesiredCapacity=True)
    return instance_id


def worker_calls() -> tuple[Recorder, Exercises]:
    """As `controller_calls`, against the sandbox's endpoints."""
    with pytest.MonkeyPatch.context() as patch, SqsServer() as queues, Cloud(REGION) as cloud:
        use_test_account(patch)
        patch.setenv("AWS_ENDPOINT_URL", cloud.url)
        patch.setenv("AWS_ENDPOINT_URL_SQS", queues.url)
        make_queue_with_dead_letters("mail")
        dynamodb.create_table(AwsClients(REGION).dynamodb(), TABLE)
        _label_calls(patch, WORKER)
        session = AioSession()
        recorder = Recorder(session.get_component("event_emitter"))
        patch.setattr(aio, "get_session", lambda: session)
        exercises = worker_exercises(instance_with_a_hook(cloud))
        _run(exercises)
    return recorder, exercises


def source_of(module: ModuleType) -> str:
    """The module's text."""
    assert module.__file__ is not None
    return Path(module.__file__).read_text()
