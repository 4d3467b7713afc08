"""What the agent tells about its workers."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AgentEvent", "EventKind", "Usage"]


class EventKind(StrEnum):
    """The steps of a worker's life, and the notices that it was sent."""

    STARTING = "starting"
    RUNNING = "running"
    CANCELLED = "cancelled"
    STOPPING = "stopping"
    STOPPED = "stopped"
    BACKING_OFF = "backing_off"
    SPOT_NOTICE = "spot_notice"
    REBALANCE_NOTICE = "rebalance_notice"


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One thing that happened to one worker, at wall time `at_s`.

    `exit_code` is the process's, negative for the signal that ended it. `killed_by` says who sent a SIGKILL: "test"
    (`Agent.kill`) or "stop_timeout"; None otherwise. `reason` is why it stops or stopped.
    """

    at_s: float
    kind: EventKind
    worker_id: str
    pid: int | None = None
    reason: str = ""
    exit_code: int | None = None
    killed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Worker-seconds so far. `billed_s` counts from the moment a worker was asked for (Fargate bills from the image
    pull: https://aws.amazon.com/fargate/pricing/, unverified), `running_s` only while its process was up."""

    billed_s: float = 0.0
    running_s: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.billed_s + other.billed_s, self.running_s + other.running_s)
