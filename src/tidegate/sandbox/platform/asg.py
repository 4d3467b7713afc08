"""moto's Auto Scaling with groups that the agent fills.

moto launches and deletes instances at once, counts only InService ones, and knows no Terminating ones. Here a group
only remembers what is wanted; its instances are the agent's workers, in the lifecycle state that they are in:
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html
There are no EC2 instances behind them: DescribeInstances shows none, and standby, attach, detach are moto's own.
"""

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

from moto.autoscaling import urls
from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import (
    AutoScalingBackend,
    FakeAutoScalingGroup,
    InstanceState,
    TerminateInstanceActivity,
)
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult

from tidegate.sandbox.platform import Identity, Phase, Wanted, WorkerView

__all__ = ["AutoScalingGroup", "TruthfulAutoScaling"]

LIFECYCLE = {Phase.PENDING: "Pending", Phase.RUNNING: "InService", Phase.STOPPING: "Terminating"}


class TruthfulGroup(FakeAutoScalingGroup):
    """A group that holds the agent's workers and starts or ends none by itself."""

    doomed: frozenset[str]

    def active_instances(self) -> list[InstanceState]:
        return [state for state in self.instance_states if state.lifecycle_state in ("Pending", "InService")]

    def set_desired_capacity(self, new_capacity: int | None) -> None:
        """Remember the capacity within the bounds; the wording of the refusals follows AWS's, unverified."""
        wanted = (self.min_size if new_capacity is None else new_capacity) or 0
        if self.max_size is not None and wanted > self.max_size:
            raise ValidationError(_out_of_bounds(wanted, "above max", self.max_size))
        if self.min_size is not None and wanted < self.min_size:
            raise ValidationError(_out_of_bounds(wanted, "below min", self.min_size))
        self.desired_capacity = wanted

    def update(self, *args: Any, **kwargs: Any) -> None:
        """New bounds move the capacity to the nearer one; moto would take the number of instances for it."""
        before = self.desired_capacity or 0
        super().update(*args, **kwargs)
        if kwargs.get("desired_capacity") is None:
            floor = max(before, self.min_size or 0)
            self.desired_capacity = floor if self.max_size is None else min(floor, self.max_size)

    def replace_autoscaling_group_instances(self, count_needed: int, propagated_tags: dict[str, str]) -> None:
        """Nothing: the agent sees what is missing and starts it."""

    def add(self, instance_id: str) -> None:
        instance = SimpleNamespace(
            id=instance_id,
            instance_type=self.instance_type,
            placement=SimpleNamespace(zone=self.availability_zones[0]),
            autoscaling_group=self,
        )
        state = InstanceState(
            cast("Any", instance),
            lifecycle_state=LIFECYCLE[Phase.PENDING],
            protected_from_scale_in=self.new_instances_protected_from_scale_in,
        )
        self.instance_states = [*self.instance_states, state]


def _out_of_bounds(wanted: int, side: str, bound: int) -> str:
    return f"New SetDesiredCapacity value {wanted} is {side} value {bound} for the AutoScalingGroup."


class TruthfulResponse(AutoScalingResponse):
    """moto's API, and the calls that it lacks."""

    def describe_instance_refreshes(self) -> ActionResult:
        """None ever runs here: a group's workers are not replaced by revisions."""
        name = self._get_param("AutoScalingGroupName")
        if name not in self.autoscaling_backend.autoscaling_groups:
            raise ValidationError(f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")
        return ActionResult({"InstanceRefreshes": []})

    def record_lifecycle_action_heartbeat(self) -> ActionResult:
        return self._lifecycle_action("kept")

    def complete_lifecycle_action(self) -> ActionResult:
        return self._lifecycle_action("completed")

    def _lifecycle_action(self, what: str) -> ActionResult:
        names = (self._get_param(name) for name in ("AutoScalingGroupName", "LifecycleHookName", "InstanceId"))
        cast("TruthfulAutoScaling", self.autoscaling_backend).lifecycle_action(what, *names)
        return ActionResult({})


class TruthfulAutoScaling(AutoScalingBackend):
    """moto's Auto Scaling backend: groups are `TruthfulGroup`s, and each change is one step under a lock."""

    def __init__(self, region_name: str, account_id: str) -> None:
        self.lock = threading.RLock()
        self.lifecycle_actions: list[tuple[str, str]] = []
        """(what, instance) of each that was kept or completed; the agent waits for none of them."""
        super().__init__(region_name, account_id)

    @property
    def _url_module(self) -> Any:
        # moto looks for the table of URLs beside the class's own module.
        return SimpleNamespace(url_bases=urls.url_bases, url_paths={"{0}/$": TruthfulResponse.dispatch})

    def create_auto_scaling_group(self, name: str, *args: Any, **kwargs: Any) -> FakeAutoScalingGroup:
        with self.lock:
            # Created empty, or moto would launch instances of its own before the class is set.
            desired = kwargs.get("desired_capacity")
            group = super().create_auto_scaling_group(name, *args, **(kwargs | {"desired_capacity": 0}))
            group.__class__ = TruthfulGroup  # type: ignore[type-abstract]  # moto's models leave CloudFormation parts out
            group.doomed = frozenset()  # type: ignore[attr-defined]  # the class was just set
            group.set_desired_capacity(None if desired is None else int(desired))
            return group

    def update_auto_scaling_group(self, name: str, *args: Any, **kwargs: Any) -> FakeAutoScalingGroup:
        with self.lock:
            return super().update_auto_scaling_group(name, *args, **kwargs)

    def set_desired_capacity(self, group_name: str, desired_capacity: int | None) -> None:
        with self.lock:
            if group_name not in self.autoscaling_groups:
                raise ValidationError("AutoScalingGroup name not found - null")
            super().set_desired_capacity(group_name, desired_capacity)

    def set_instance_protection(
        self, group_name: str, instance_ids: list[str], protected_from_scale_in: bool | None
    ) -> None:
        with self.lock:
            super().set_instance_protection(group_name, instance_ids, protected_from_scale_in)

    def lifecycle_action(self, what: str, group_name: str, hook: str, instance_id: str) -> None:
        """Only of an instance that is being terminated. The wording of the refusals follows AWS's, unverified."""
        with self.lock:
            self.describe_lifecycle_hooks(group_name, [hook])
            if instance_id not in cast("TruthfulGroup", self.autoscaling_groups[group_name]).doomed:
                raise ValidationError(f"No active Lifecycle Action found with instance ID {instance_id}")
            self.lifecycle_actions.append((what, instance_id))

    def terminate_instance(self, instance_id: str, should_decrement: bool) -> TerminateInstanceActivity:
        """Protection does not stop this:
        https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-instance-protection.html
        """
        with self.lock:
            for state in self.describe_auto_scaling_instances([instance_id]):
                group = cast("TruthfulGroup", state.auto_scaling_group)
                before = group.desired_capacity or 0
                if should_decrement:
                    group.set_desired_capacity(before - 1)
                group.doomed |= {instance_id}
                return TerminateInstanceActivity(state.instance, before)
            raise ValidationError(f"Instance Id not found - No managed instance found for instance ID: {instance_id}")


class AutoScalingGroup:
    """One group of `TruthfulAutoScaling` as a `Platform`. Its workers are never replaced by a deployment."""

    def __init__(self, backend: TruthfulAutoScaling, group: str) -> None:
        self._backend, self._group = backend, group

    @property
    def name(self) -> str:
        return f"asg:{self._group}"

    def wanted(self) -> Wanted:
        with self._backend.lock:
            group = self._find()
            protected = frozenset(state.instance_id for state in group.instance_states if state.protected_from_scale_in)
            return Wanted(group.desired_capacity or 0, revision="", protected=protected, doomed=group.doomed)

    def admit(self) -> Identity:
        instance_id = f"i-{uuid4().hex[:17]}"
        with self._backend.lock:
            self._find().add(instance_id)
        return Identity(worker_id=instance_id, instance_id=instance_id)

    def show(self, workers: Sequence[WorkerView]) -> None:
        lifecycle = {worker.worker_id: LIFECYCLE[worker.phase] for worker in workers}
        with self._backend.lock:
            group = self._find()
            for state in group.instance_states:
                state.lifecycle_state = lifecycle.get(state.instance_id, state.lifecycle_state)
            # A new list: an answer being rendered keeps the old one.
            group.instance_states = [state for state in group.instance_states if state.instance_id in lifecycle]
            group.doomed &= lifecycle.keys()

    def _find(self) -> TruthfulGroup:
        return cast("TruthfulGroup", self._backend.autoscaling_groups[self._group])
