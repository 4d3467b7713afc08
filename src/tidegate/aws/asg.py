"""The desired capacity of an EC2 Auto Scaling group."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from tidegate.aws.desired import must_write
from tidegate.aws.errors import calling, error_code
from tidegate.core.observation import Capacity
from tidegate.errors import Gone, Invalid

if TYPE_CHECKING:
    from types_boto3_autoscaling import AutoScalingClient
    from types_boto3_autoscaling.type_defs import AutoScalingGroupTypeDef

__all__ = ["AutoScalingGroup"]

_DESCRIBE: Final = "autoscaling:DescribeAutoScalingGroups"
_SET: Final = "autoscaling:SetDesiredCapacity"
_TERMINATE: Final = "autoscaling:TerminateInstanceInAutoScalingGroup"

_REPLACING: Final = frozenset({"Pending", "InProgress", "Cancelling", "RollbackInProgress"})
"""Not Baking: all instances are new by then, and a bake time can last two days."""

_ATTEMPTS: Final = 3
_BUSY_CODES: Final = frozenset({"ScalingActivityInProgress", "ResourceContention"})
"""botocore does not retry these (they are HTTP 400), though they pass within a second or so."""


class AutoScalingGroup:
    """Implements `ports.CapacityTarget`. `now` gives epoch seconds; `sleep` waits between tries at a busy group.

    IAM: autoscaling:DescribeAutoScalingGroups, autoscaling:DescribeInstanceRefreshes, autoscaling:SetDesiredCapacity,
    autoscaling:TerminateInstanceInAutoScalingGroup.
    """

    def __init__(
        self,
        client: "AutoScalingClient",
        group: str,
        now: Callable[[], float],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._group = group
        self._now = now
        self._sleep = sleep

    @property
    def name(self) -> str:
        """ "asg:name"."""
        return f"asg:{self._group}"

    def read(self) -> Capacity:
        """Raises Gone when the group does not exist or is being deleted; Denied, Throttled, Unreachable."""
        return replace(self._capacity(), deploying=self._is_refreshing())

    def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
        """As `ports.CapacityTarget.set_desired`: `leaving` instances are terminated, each with the count by one.

        Raises Invalid when the group's own MinSize or MaxSize forbids the count, and Throttled when the group is still
        busy with another change after three tries, 1.5 s in all.
        """
        tries = Retrying(
            retry=retry_if_exception(_is_busy),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(multiplier=0.5),
            sleep=self._sleep,
            reraise=True,
        )
        named = list(leaving[: max(0, seen.desired - desired)])
        return tries(self._try_to_set, desired, seen, named)

    def _try_to_set(self, desired: int, seen: Capacity, leaving: list[str]) -> bool:
        """Reads again at each try: whatever made the group busy may have been another's change of the count."""
        live = self._capacity()
        if not must_write(desired, seen, live):
            return False
        self._refuse_out_of_bounds(desired, live)
        if leaving:
            self._terminate(leaving)
            return True
        with calling(_SET, self.name):
            self._client.set_desired_capacity(
                AutoScalingGroupName=self._group, DesiredCapacity=desired, HonorCooldown=False
            )
        return True

    def _terminate(self, leaving: list[str]) -> None:
        """Setting the capacity would leave the choice to the group. This names the instance, whatever its protection.

        https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html
        """
        while leaving:
            with calling(_TERMINATE, self.name):
                self._client.terminate_instance_in_auto_scaling_group(
                    InstanceId=leaving[0], ShouldDecrementDesiredCapacity=True
                )
            leaving.pop(0)

    def _refuse_out_of_bounds(self, desired: int, live: Capacity) -> None:
        """AWS's own ValidationError would name neither the setting nor the way out."""
        low, high = live.min_workers, live.max_workers
        if high is not None and desired > high:
            fix = f"raise the group's MaxSize or lower the pool's `max_workers` to {high}"
            raise Invalid(_SET, self.name, f"{desired} workers are above the group's MaxSize of {high}", fix)
        if low is not None and desired < low:
            fix = f"lower the group's MinSize or raise the pool's `min_workers` to {low}"
            raise Invalid(_SET, self.name, f"{desired} workers are below the group's MinSize of {low}", fix)

    def _capacity(self) -> Capacity:
        with calling(_DESCRIBE, self.name):
            group = self._describe()
            states = [instance["LifecycleState"] for instance in group.get("Instances", [])]
            return Capacity(
                target=self.name,
                taken_at_s=self._now(),
                desired=group["DesiredCapacity"],
                running=states.count("InService"),
                pending=sum(state.startswith("Pending") for state in states),
                min_workers=group["MinSize"],
                max_workers=group["MaxSize"],
                removes_by_name=True,
            )

    def _describe(self) -> "AutoScalingGroupTypeDef":
        groups = self._client.describe_auto_scaling_groups(AutoScalingGroupNames=[self._group])
        if not groups["AutoScalingGroups"]:
            raise Gone(_DESCRIBE, self.name, "no group of this name", "check the group's name, Region and account")
        group = groups["AutoScalingGroups"][0]
        if group.get("Status"):  # only there while the group is being deleted
            raise Gone(_DESCRIBE, self.name, f"the group's status is {group['Status']}")
        return group

    def _is_refreshing(self) -> bool:
        """The newest refresh comes first; a group runs one at a time.

        https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeInstanceRefreshes.html
        """
        with calling("autoscaling:DescribeInstanceRefreshes", self.name):
            answer = self._client.describe_instance_refreshes(AutoScalingGroupName=self._group, MaxRecords=1)
            return any(refresh.get("Status") in _REPLACING for refresh in answer["InstanceRefreshes"])


def _is_busy(error: BaseException) -> bool:
    cause = error.__cause__
    return isinstance(cause, Exception) and error_code(cause) in _BUSY_CODES
