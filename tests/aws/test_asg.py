"""An Auto Scaling group's desired capacity. What moto can't show is answered by a stub with AWS's own shapes."""

from typing import Any

import pytest
from botocore.stub import Stubber

from tests.aws.moto_cloud import make_group
from tidegate.aws.asg import AutoScalingGroup
from tidegate.aws.clients import AwsClients
from tidegate.core.observation import Capacity
from tidegate.errors import CapacityChanged, CloudError, Gone, Invalid, Throttled


def group(states: list[str], desired: int = 4, **more: Any) -> dict[str, Any]:
    instances = [
        {
            "InstanceId": f"i-{i}",
            "AvailabilityZone": "eu-west-1a",
            "LifecycleState": state,
            "HealthStatus": "Healthy",
            "ProtectedFromScaleIn": False,
        }
        for i, state in enumerate(states)
    ]
    return {
        "AutoScalingGroupName": "workers",
        "MinSize": 1,
        "MaxSize": 10,
        "DesiredCapacity": desired,
        "DefaultCooldown": 300,
        "AvailabilityZones": ["eu-west-1a"],
        "HealthCheckType": "EC2",
        "CreatedTime": 0,
        "Instances": instances,
        **more,
    }


class Scripted:
    """A group whose answers are scripted, and the seconds slept between tries."""

    def __init__(self, clients: AwsClients) -> None:
        self.slept_s: list[float] = []
        self.stub = Stubber(clients.autoscaling())
        self.target = AutoScalingGroup(clients.autoscaling(), "workers", lambda: 99.0, self.slept_s.append)
        self.stub.activate()

    def describe(self, *groups: dict[str, Any]) -> None:
        self.stub.add_response("describe_auto_scaling_groups", {"AutoScalingGroups": [*groups]})

    def refreshes(self, *statuses: str) -> None:
        self.stub.add_response(
            "describe_instance_refreshes",
            {"InstanceRefreshes": [{"Status": status} for status in statuses]},
            {"AutoScalingGroupName": "workers", "MaxRecords": 1},
        )

    def refuse(self, code: str) -> None:
        self.stub.add_client_error("set_desired_capacity", code, "busy", 400)

    def accept(self, desired: int) -> None:
        self.stub.add_response(
            "set_desired_capacity",
            {},
            {"AutoScalingGroupName": "workers", "DesiredCapacity": desired, "HonorCooldown": False},
        )


@pytest.fixture
def scripted(clients: AwsClients) -> Scripted:
    return Scripted(clients)


SEEN = Capacity("asg:workers", 99.0, desired=4, running=4, pending=0)


def test_in_service_runs_pending_is_on_its_way_and_the_rest_is_neither(scripted: Scripted) -> None:
    """docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html"""
    states = ["InService", "InService", "Pending", "Pending:Wait", "Pending:Proceed"]
    scripted.describe(group([*states, "Terminating", "Terminating:Wait", "Standby", "Detaching", "Warmed:Stopped"]))
    scripted.refreshes()
    assert scripted.target.read() == Capacity(
        "asg:workers",
        99.0,
        desired=4,
        running=2,
        pending=3,
        deploying=False,
        min_workers=1,
        max_workers=10,
        removes_by_name=True,
    )


def test_workers_that_hold_nothing_are_removed_by_name_and_the_count_falls_with_each(scripted: Scripted) -> None:
    """docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html"""
    scripted.describe(group(["InService"] * 4))
    for name in ("i-3", "i-1"):
        parameters = {"InstanceId": name, "ShouldDecrementDesiredCapacity": True}
        scripted.stub.add_response("terminate_instance_in_auto_scaling_group", {}, parameters)
    assert scripted.target.set_desired(2, SEEN, ["i-3", "i-1"])
    scripted.stub.assert_no_pending_responses()


def test_no_more_instances_are_named_than_the_count_falls(scripted: Scripted) -> None:
    scripted.describe(group(["InService"] * 4))
    parameters = {"InstanceId": "i-3", "ShouldDecrementDesiredCapacity": True}
    scripted.stub.add_response("terminate_instance_in_auto_scaling_group", {}, parameters)
    assert scripted.target.set_desired(3, SEEN, ["i-3", "i-1"])
    scripted.stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("status", "deploying"),
    [
        ("Pending", True),
        ("InProgress", True),
        ("Cancelling", True),
        ("RollbackInProgress", True),
        ("Baking", False),
        ("Successful", False),
        ("Failed", False),
        ("Cancelled", False),
        ("RollbackSuccessful", False),
    ],
)
def test_an_instance_refresh_counts_as_a_deployment_while_it_replaces_instances(
    scripted: Scripted, status: str, deploying: bool
) -> None:
    """docs.aws.amazon.com/autoscaling/ec2/APIReference/API_InstanceRefresh.html"""
    scripted.describe(group(["InService"]))
    scripted.refreshes(status)
    assert scripted.target.read().deploying is deploying


def test_a_group_that_does_not_exist_is_gone(clients: AwsClients) -> None:
    with pytest.raises(Gone, match="on asg:nothing found nothing: no group of this name"):
        AutoScalingGroup(clients.autoscaling(), "nothing", lambda: 0.0).read()


def test_a_group_that_is_being_deleted_is_gone(scripted: Scripted) -> None:
    """docs.aws.amazon.com/autoscaling/ec2/APIReference/API_AutoScalingGroup.html: Status, while it is deleted"""
    scripted.describe(group([], Status="Delete in progress"))
    with pytest.raises(Gone, match="Delete in progress"):
        scripted.target.read()


@pytest.mark.parametrize(
    ("desired", "words"),
    [
        (
            11,
            "11 workers are above the group's MaxSize of 10; raise the group's MaxSize or lower",
        ),
        (
            0,
            "0 workers are below the group's MinSize of 1; lower the group's MinSize or raise",
        ),
    ],
)
def test_a_count_outside_of_the_groups_own_bounds_is_refused_before_the_call(
    scripted: Scripted, desired: int, words: str
) -> None:
    scripted.describe(group(["InService"] * 4))
    with pytest.raises(Invalid, match=words):
        scripted.target.set_desired(desired, SEEN)  # the stub has no answer for a write: calling it would fail


def test_the_bounds_themselves_are_allowed(clients: AwsClients) -> None:
    target = make_group(clients, desired=2, low=1, high=4)
    assert target.set_desired(4, target.read())
    assert target.set_desired(1, target.read())
    assert target.read().desired == 1


@pytest.mark.parametrize("code", ["ScalingActivityInProgress", "ResourceContention"])
def test_a_busy_group_is_tried_again_after_a_moment(scripted: Scripted, code: str) -> None:
    """docs.aws.amazon.com/autoscaling/ec2/APIReference/API_SetDesiredCapacity.html: its errors"""
    scripted.describe(group(["InService"] * 4))
    scripted.refuse(code)
    scripted.describe(group(["InService"] * 4))
    scripted.accept(6)
    assert scripted.target.set_desired(6, SEEN) is True
    assert scripted.slept_s == [0.5]
    scripted.stub.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["ScalingActivityInProgress", "ResourceContention"])
def test_a_group_that_stays_busy_is_left_to_the_next_tick(scripted: Scripted, code: str) -> None:
    for _ in range(3):
        scripted.describe(group(["InService"] * 4))
        scripted.refuse(code)
    with pytest.raises(Throttled, match="the next tick tries again"):
        scripted.target.set_desired(6, SEEN)
    assert scripted.slept_s == [0.5, 1.0]
    scripted.stub.assert_no_pending_responses()


def test_a_change_that_made_the_group_busy_is_not_overwritten(scripted: Scripted) -> None:
    scripted.describe(group(["InService"] * 4))
    scripted.refuse("ScalingActivityInProgress")
    scripted.describe(group(["InService"] * 4, desired=8))
    with pytest.raises(CapacityChanged, match="went from 4 to 8"):
        scripted.target.set_desired(6, SEEN)


@pytest.mark.parametrize(("code", "kind"), [("AccessDenied", CloudError), ("ValidationError", Invalid)])
def test_any_other_refusal_is_not_tried_again(scripted: Scripted, code: str, kind: type[CloudError]) -> None:
    scripted.describe(group(["InService"] * 4))
    scripted.refuse(code)
    with pytest.raises(kind):
        scripted.target.set_desired(6, SEEN)
    assert scripted.slept_s == []
