"""What the sandbox's agent needs of ECS or Auto Scaling, and what it shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

__all__ = ["Identity", "Phase", "Platform", "Wanted", "WorkerView"]


class Phase(StrEnum):
    """Where the agent has a worker: waiting out its start-up delay, its process up, or told to stop."""

    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a worker is to AWS. `worker_id` is the task id or the instance id; no task ARN in an Auto Scaling group."""

    worker_id: str
    instance_id: str
    task_arn: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker as the agent has it. `since_s` is when it entered its phase, `pid` None while pending."""

    worker_id: str
    phase: Phase
    revision: str
    since_s: float
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the platform asks for: `count` workers of `revision`.

    `protected` are spared by scale-in and deployments; `doomed` must end whatever their protection says.
    """

    count: int
    revision: str
    protected: frozenset[str] = frozenset()
    doomed: frozenset[str] = frozenset()


class Platform(Protocol):
    """An ECS service or an Auto Scaling group of the sandbox. Safe to call from any thread."""

    @property
    def name(self) -> str:
        """As the capacity adapters name it: "ecs:cluster/service" or "asg:name"."""
        ...

    def wanted(self) -> Wanted: ...

    def admit(self) -> Identity:
        """The identity of one more worker, pending from now on."""
        ...

    def show(self, workers: Sequence[WorkerView]) -> None:
        """Make the platform's own API tell of exactly these workers."""
        ...
