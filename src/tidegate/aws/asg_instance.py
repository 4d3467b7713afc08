"""An instance of an Auto Scaling group, about itself: scale-in protection, and the hook that holds it up at its end."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Final, Self

from tidegate.aws.aio import QUICK_CONFIG, open_client, session
from tidegate.aws.errors import calling

__all__ = ["AsgInstance"]

_PROTECT: Final = "autoscaling:SetInstanceProtection"
_KEEP: Final = "autoscaling:RecordLifecycleActionHeartbeat"
_COMPLETE: Final = "autoscaling:CompleteLifecycleAction"


class AsgInstance:
    """Implements `ports.ScaleInProtection` and `ports.TerminationHook`; made by `connect`.

    IAM: autoscaling:SetInstanceProtection, autoscaling:RecordLifecycleActionHeartbeat,
    autoscaling:CompleteLifecycleAction.
    """

    def __init__(self, group: str, instance_id: str, hook: str, client: Any, stack: AsyncExitStack) -> None:
        self._group = group
        self._instance_id = instance_id
        self._hook = hook
        self._client = client
        self._stack = stack
        self._protected: bool | None = None
        self._lock = asyncio.Lock()

    @classmethod
    async def connect(cls, group: str, instance_id: str, hook: str = "", *, region: str | None = None) -> Self:
        """Asks nothing of AWS yet. Raises Invalid when there is no Region or the endpoint is no URL."""
        async with AsyncExitStack() as stack:
            client = await open_client(stack, session(), "autoscaling", region, QUICK_CONFIG)
            return cls(group, instance_id, hook, client, stack.pop_all())

    async def set_protected(self, protected: bool, for_s: float) -> None:
        """Protection of an instance does not end by itself, so that it is asked for once and not renewed.

        https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-instance-protection.html
        """
        async with self._lock:
            if protected is self._protected:
                return
            with calling(_PROTECT, self._name):
                await self._client.set_instance_protection(
                    AutoScalingGroupName=self._group, InstanceIds=[self._instance_id], ProtectedFromScaleIn=protected
                )
            self._protected = protected

    async def keep(self) -> None:
        """The termination waits for another heartbeat timeout of the hook.

        https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_RecordLifecycleActionHeartbeat.html
        """
        with calling(_KEEP, self._name):
            await self._client.record_lifecycle_action_heartbeat(
                AutoScalingGroupName=self._group, LifecycleHookName=self._hook, InstanceId=self._instance_id
            )

    async def complete(self) -> None:
        """The termination goes on at once.

        https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CompleteLifecycleAction.html
        """
        with calling(_COMPLETE, self._name):
            await self._client.complete_lifecycle_action(
                AutoScalingGroupName=self._group,
                LifecycleHookName=self._hook,
                InstanceId=self._instance_id,
                LifecycleActionResult="CONTINUE",
            )

    async def close(self) -> None:
        """Closes the connection pool."""
        await self._stack.aclose()

    @property
    def _name(self) -> str:
        return f"instance {self._instance_id} of group {self._group}"
