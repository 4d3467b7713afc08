"""An instance about itself, against the sandbox's Auto Scaling."""

from collections.abc import AsyncIterator
from typing import cast

import boto3
import pytest
from moto.autoscaling.models import autoscaling_backends
from moto.core.models import DEFAULT_ACCOUNT_ID

from tests.aws.moto_cloud import REGION, use_test_account
from tidegate.aws.asg_instance import AsgInstance
from tidegate.errors import Invalid
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.platform.asg import AutoScalingGroup, TruthfulAutoScaling

pytestmark = pytest.mark.integration


class Group:
    """A group of one instance, with a hook on its termination."""

    def __init__(self, cloud: Cloud) -> None:
        self.platform: AutoScalingGroup = cloud.create_group("workers", 0, 3, 1)
        self.instance_id = self.platform.admit().instance_id
        self.client = boto3.client("autoscaling")
        self.client.put_lifecycle_hook(
            AutoScalingGroupName="workers",
            LifecycleHookName="drain",
            LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
        )

    def terminate(self) -> None:
        self.client.terminate_instance_in_auto_scaling_group(
            InstanceId=self.instance_id, ShouldDecrementDesiredCapacity=True
        )

    @property
    def actions(self) -> list[str]:
        backend = cast("TruthfulAutoScaling", autoscaling_backends[DEFAULT_ACCOUNT_ID][REGION])
        return [what for what, instance_id in backend.lifecycle_actions if instance_id == self.instance_id]


@pytest.fixture
async def group(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Group]:
    with Cloud(REGION) as cloud:
        use_test_account(monkeypatch)
        monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.url)
        yield Group(cloud)


@pytest.fixture
async def instance(group: Group) -> AsyncIterator[AsgInstance]:
    made = await AsgInstance.connect("workers", group.instance_id, "drain")
    yield made
    await made.close()


async def test_an_instance_is_protected_until_it_says_otherwise(group: Group, instance: AsgInstance) -> None:
    await instance.set_protected(True, 600.0)
    assert group.platform.wanted().protected == {group.instance_id}
    await instance.set_protected(False, 0.0)
    assert group.platform.wanted().protected == frozenset()


async def test_its_termination_is_held_up_and_goes_on_when_it_says_so(group: Group, instance: AsgInstance) -> None:
    group.terminate()
    await instance.keep()
    await instance.complete()
    assert group.actions == ["kept", "completed"]


async def test_without_a_termination_there_is_nothing_to_hold_up(instance: AsgInstance) -> None:
    with pytest.raises(Invalid, match="No active Lifecycle Action"):
        await instance.keep()
