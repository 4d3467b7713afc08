"""What the sandbox's AWS APIs tell of workers, over HTTP, as the capacity adapters ask."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ecs.models import ecs_backends

from tidegate.errors import TidegateError
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.platform import Phase, WorkerView

if TYPE_CHECKING:
    from types_boto3_autoscaling import AutoScalingClient
    from types_boto3_ecs import ECSClient

pytestmark = pytest.mark.integration

CONTAINER: Any = {"name": "worker", "image": "worker", "memory": 512}
P, R, S = Phase.PENDING, Phase.RUNNING, Phase.STOPPING


@pytest.fixture(scope="module")
def ecs(running_cloud: Cloud, session: boto3.Session) -> "ECSClient":
    return session.client("ecs", endpoint_url=running_cloud.url)


@pytest.fixture(scope="module")
def autoscaling(running_cloud: Cloud, session: boto3.Session) -> "AutoScalingClient":
    return session.client("autoscaling", endpoint_url=running_cloud.url)


def described(ecs: "ECSClient") -> Any:
    return ecs.describe_services(cluster="cluster", services=["service"])["services"][0]


def counts(service: Any) -> tuple[int, int, int]:
    """(desired, running, pending) as the service says, checked against the sum of its deployments."""
    deployments = service["deployments"]
    assert service["runningCount"] == sum(one["runningCount"] for one in deployments)
    assert service["pendingCount"] == sum(one["pendingCount"] for one in deployments)
    return service["desiredCount"], service["runningCount"], service["pendingCount"]


def fleet(revision: str, *phases: Phase) -> list[WorkerView]:
    return [WorkerView(f"w{number}", phase, revision, 0.0) for number, phase in enumerate(phases)]


# -- ECS ---------------------------------------------------------------------------------------------------------------


def test_a_new_service_has_no_workers_until_the_agent_shows_some(cloud: Cloud, ecs: "ECSClient") -> None:
    service = cloud.create_service("cluster", "service", desired=3)
    assert counts(described(ecs)) == (3, 0, 0)
    service.show(fleet(service.wanted().revision, R, P, P))
    assert counts(described(ecs)) == (3, 1, 2)


def test_update_service_changes_what_is_wanted_and_never_what_runs(cloud: Cloud, ecs: "ECSClient") -> None:
    service = cloud.create_service("cluster", "service", desired=1)
    service.show(fleet(service.wanted().revision, R))
    answer = ecs.update_service(cluster="cluster", service="service", desiredCount=5)
    assert counts(answer["service"]) == counts(described(ecs)) == (5, 1, 0)
    assert service.wanted().count == 5


def test_a_stopping_worker_is_neither_running_nor_pending(cloud: Cloud, ecs: "ECSClient") -> None:
    """Unverified against AWS's own words; a user reports it so in aws/containers-roadmap issue 2485."""
    service = cloud.create_service("cluster", "service", desired=1)
    service.show(fleet(service.wanted().revision, R, S))
    assert counts(described(ecs)) == (1, 1, 0)


def test_the_first_deployment_is_complete_once_its_workers_are_up_and_stays_so(cloud: Cloud, ecs: "ECSClient") -> None:
    """https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Deployment.html (rolloutState)"""
    service = cloud.create_service("cluster", "service", desired=2)
    revision = service.wanted().revision
    states = []
    for workers in (fleet(revision, R, P), fleet(revision, R, R), fleet(revision, R)):
        service.show(workers)
        states.append([one["rolloutState"] for one in described(ecs)["deployments"]])
    ecs.update_service(cluster="cluster", service="service", desiredCount=9)
    states.append([one["rolloutState"] for one in described(ecs)["deployments"]])
    assert states == [["IN_PROGRESS"], ["COMPLETED"], ["COMPLETED"], ["COMPLETED"]]


@pytest.mark.parametrize("how", ["forced", "by a new task definition"])
def test_a_deployment_is_in_progress_until_the_old_workers_are_gone(cloud: Cloud, ecs: "ECSClient", how: str) -> None:
    """https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Deployment.html (status, rolloutState)"""
    service = cloud.create_service("cluster", "service", desired=1)
    old = service.wanted().revision
    service.show(fleet(old, R))
    if how == "forced":
        ecs.update_service(cluster="cluster", service="service", forceNewDeployment=True)
    else:
        definition = ecs.register_task_definition(family="service", containerDefinitions=[CONTAINER])
        ecs.update_service(cluster="cluster", service="service", taskDefinition="service:2")
        arn = definition["taskDefinition"]["taskDefinitionArn"]
        assert described(ecs)["deployments"][0]["taskDefinition"] == arn
    new = service.wanted().revision
    seen = []
    for workers in (fleet(old, R), [*fleet(old, R), *fleet(new, P)], [*fleet(old, R), *fleet(new, R)], fleet(new, R)):
        service.show(workers)
        deployments = described(ecs)["deployments"]
        seen.append([(one["id"], one["status"], one["rolloutState"], one["runningCount"]) for one in deployments])
    both = [(new, "PRIMARY", "IN_PROGRESS", 0), (old, "ACTIVE", "COMPLETED", 1)]
    assert seen == [
        both,
        both,
        [(new, "PRIMARY", "IN_PROGRESS", 1), (old, "ACTIVE", "COMPLETED", 1)],
        [(new, "PRIMARY", "COMPLETED", 1)],
    ]


def test_a_service_that_was_created_through_the_api_is_as_truthful(cloud: Cloud, ecs: "ECSClient") -> None:
    ecs.create_cluster(clusterName="cluster")
    ecs.register_task_definition(family="task", containerDefinitions=[CONTAINER])
    ecs.create_service(cluster="cluster", serviceName="service", taskDefinition="task", desiredCount=2)
    service = cloud.service("cluster", "service")
    service.show(fleet(service.wanted().revision, R, P))
    ecs.update_service(cluster="cluster", service="service", desiredCount=2)
    assert counts(described(ecs)) == (2, 1, 1)


def test_a_deleted_service_wants_no_workers(cloud: Cloud, ecs: "ECSClient") -> None:
    service = cloud.create_service("cluster", "service", desired=2)
    ecs.delete_service(cluster="cluster", service="service", force=True)
    assert service.wanted().count == 0


def test_a_cluster_counts_the_tasks_of_its_services(cloud: Cloud, ecs: "ECSClient") -> None:
    for name, phases in (("one", (R, R)), ("two", (R, P))):
        service = cloud.create_service("cluster", name, desired=2)
        service.show(fleet(service.wanted().revision, *phases))
    ecs.update_service(cluster="cluster", service="one", desiredCount=7)
    cluster = ecs.describe_clusters(clusters=["cluster"])["clusters"][0]
    assert (cluster["runningTasksCount"], cluster["pendingTasksCount"]) == (3, 1)


def test_an_answer_in_the_making_is_not_changed_by_what_the_agent_shows_meanwhile(cloud: Cloud) -> None:
    service = cloud.create_service("cluster", "service", desired=2)
    revision = service.wanted().revision
    service.show(fleet(revision, R, P))
    (answer,), _ = ecs_backends[DEFAULT_ACCOUNT_ID][cloud.region].describe_services("cluster", ["service"])
    running_before = answer.running_count
    service.show(fleet(revision, R, R))
    assert (running_before, answer.pending_count, answer.deployments[0]["pendingCount"]) == (1, 1, 1)


def test_counts_stay_consistent_while_many_clients_update_and_the_agent_shows(cloud: Cloud, ecs: "ECSClient") -> None:
    """The agent always shows six workers, whatever the split: no answer may tell of another number."""
    service = cloud.create_service("cluster", "service", desired=6)
    revision = service.wanted().revision
    service.show(fleet(revision, *[R] * 6))
    done = threading.Event()

    def show() -> None:
        running = 0
        while not done.wait(0.0005):
            running = (running + 1) % 7
            service.show(fleet(revision, *[R] * running, *[P] * (6 - running)))

    def update_and_describe(number: int) -> set[int]:
        totals = set()
        for _ in range(10):
            ecs.update_service(cluster="cluster", service="service", desiredCount=number)
            _, running, pending = counts(described(ecs))
            totals.add(running + pending)
        return totals

    shower = threading.Thread(target=show)
    shower.start()
    try:
        with ThreadPoolExecutor(4) as clients:
            totals = [*clients.map(update_and_describe, range(4))]
    finally:
        done.set()
        shower.join()
    assert totals == [{6}] * 4


# -- Auto Scaling ------------------------------------------------------------------------------------------------------


def group_of(autoscaling: "AutoScalingClient") -> Any:
    return autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=["group"])["AutoScalingGroups"][0]


def lifecycle(autoscaling: "AutoScalingClient") -> dict[str, str]:
    return {one["InstanceId"]: one["LifecycleState"] for one in group_of(autoscaling)["Instances"]}


def views(ids: Sequence[str], *phases: Phase) -> list[WorkerView]:
    return [WorkerView(worker_id, phase, "", 0.0) for worker_id, phase in zip(ids, phases, strict=True)]


def test_a_new_group_wants_its_capacity_and_launches_nothing_by_itself(
    cloud: Cloud, autoscaling: "AutoScalingClient"
) -> None:
    group = cloud.create_group("group", minimum=1, maximum=5, desired=3)
    assert group.wanted().count == 3
    autoscaling.set_desired_capacity(AutoScalingGroupName="group", DesiredCapacity=5)
    assert (group.wanted().count, lifecycle(autoscaling)) == (5, {})


def test_instances_are_shown_in_the_lifecycle_state_that_they_are_in(
    cloud: Cloud, autoscaling: "AutoScalingClient"
) -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html"""
    group = cloud.create_group("group", minimum=0, maximum=5, desired=3)
    ids = [group.admit().worker_id for _ in range(3)]
    assert lifecycle(autoscaling) == dict.fromkeys(ids, "Pending")
    group.show(views(ids, P, R, S))
    expected = dict(zip(ids, ["Pending", "InService", "Terminating"], strict=True))
    assert lifecycle(autoscaling) == expected
    autoscaling.set_desired_capacity(AutoScalingGroupName="group", DesiredCapacity=1)
    assert lifecycle(autoscaling) == expected
    group.show(views(ids[1:2], R))
    assert lifecycle(autoscaling) == {ids[1]: "InService"}


def test_instance_protection_is_kept_through_every_phase(cloud: Cloud, autoscaling: "AutoScalingClient") -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-instance-protection.html"""
    group = cloud.create_group("group", minimum=0, maximum=5, desired=2)
    ids = [group.admit().worker_id for _ in range(2)]
    group.show(views(ids, R, R))
    autoscaling.set_instance_protection(AutoScalingGroupName="group", InstanceIds=ids[:1], ProtectedFromScaleIn=True)
    group.show(views(ids, R, S))
    assert group.wanted().protected == {ids[0]}
    autoscaling.set_instance_protection(AutoScalingGroupName="group", InstanceIds=ids[:1], ProtectedFromScaleIn=False)
    assert group.wanted().protected == set()


@pytest.mark.parametrize(("decrement", "expected"), [(True, 1), (False, 2)])
def test_terminating_an_instance_dooms_it_and_may_lower_the_capacity(
    cloud: Cloud, autoscaling: "AutoScalingClient", decrement: bool, expected: int
) -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html"""
    group = cloud.create_group("group", minimum=0, maximum=5, desired=2)
    ids = [group.admit().worker_id for _ in range(2)]
    group.show(views(ids, R, R))
    autoscaling.terminate_instance_in_auto_scaling_group(InstanceId=ids[0], ShouldDecrementDesiredCapacity=decrement)
    assert group.wanted().count == expected
    assert group.wanted().doomed == {ids[0]}
    assert lifecycle(autoscaling) == dict.fromkeys(ids, "InService")
    group.show(views(ids[1:], R))
    assert group.wanted().doomed == set()


Call = Callable[["AutoScalingClient"], object]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda client: client.set_desired_capacity(AutoScalingGroupName="group", DesiredCapacity=6),
            "value 6 is above max value 5",
            id="above the maximum",
        ),
        pytest.param(
            lambda client: client.set_desired_capacity(AutoScalingGroupName="group", DesiredCapacity=1),
            "value 1 is below min value 2",
            id="below the minimum",
        ),
        pytest.param(
            lambda client: client.set_desired_capacity(AutoScalingGroupName="other", DesiredCapacity=3),
            "AutoScalingGroup name not found",
            id="a group that does not exist",
        ),
        pytest.param(
            lambda client: client.terminate_instance_in_auto_scaling_group(
                InstanceId="i-0", ShouldDecrementDesiredCapacity=True
            ),
            "i-0",
            id="an instance that does not exist",
        ),
        pytest.param(
            lambda client: client.describe_instance_refreshes(AutoScalingGroupName="other"),
            "AutoScalingGroup name not found",
            id="refreshes of a group that does not exist",
        ),
    ],
)
def test_auto_scaling_refuses_what_cannot_be(
    cloud: Cloud, autoscaling: "AutoScalingClient", call: Call, message: str
) -> None:
    """Code as in https://docs.aws.amazon.com/autoscaling/ec2/APIReference/CommonErrors.html; wording unverified."""
    group = cloud.create_group("group", minimum=2, maximum=5, desired=3)
    with pytest.raises(ClientError, match=message) as refusal:
        call(autoscaling)
    assert refusal.value.response["Error"]["Code"] == "ValidationError"
    assert group.wanted().count == 3


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [({"MaxSize": 2}, 2), ({"MinSize": 4}, 4), ({"MinSize": 1, "MaxSize": 9}, 3)],
)
def test_new_bounds_move_the_capacity_just_as_far_as_they_must(
    cloud: Cloud, autoscaling: "AutoScalingClient", bounds: Any, expected: int
) -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_UpdateAutoScalingGroup.html; many instances that
    terminate are there, which moto would count.
    """
    group = cloud.create_group("group", minimum=0, maximum=5, desired=3)
    ids = [group.admit().worker_id for _ in range(5)]
    group.show(views(ids, S, S, S, S, S))
    autoscaling.update_auto_scaling_group(AutoScalingGroupName="group", **bounds)
    assert group.wanted().count == expected


def test_no_instance_refresh_ever_runs(cloud: Cloud, autoscaling: "AutoScalingClient") -> None:
    cloud.create_group("group", minimum=0, maximum=5, desired=0)
    assert autoscaling.describe_instance_refreshes(AutoScalingGroupName="group")["InstanceRefreshes"] == []


# -- the server --------------------------------------------------------------------------------------------------------


def test_a_process_has_one_cloud_at_a_time(running_cloud: Cloud) -> None:
    with pytest.raises(TidegateError, match="has a sandbox cloud already"):
        Cloud().start()


def test_reset_forgets_everything(cloud: Cloud, ecs: "ECSClient", session: boto3.Session) -> None:
    cloud.create_service("cluster", "service", desired=1)
    table = session.client("dynamodb", endpoint_url=cloud.url)
    table.create_table(
        TableName="fleet",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )
    cloud.reset()
    assert ecs.list_clusters()["clusterArns"] == []
    assert table.list_tables()["TableNames"] == []
    cloud.create_service("cluster", "service", desired=4)
    assert counts(described(ecs)) == (4, 0, 0)
