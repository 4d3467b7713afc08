"""What a worker is to do, all settled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.core.workers.auto_slots import AutoSlots
from tidegate.worker.fleet.limits import FleetLimits
from tidegate.worker.fleet.retry_budget import RetryLimit
from tidegate.worker.jobs.sorting import UNSORTED, Sorting
from tidegate.worker.leases.book import LeaseLimits
from tidegate.worker.leases.lane import QueuePlan

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker is to do, all settled: seconds, counts, names."""

    worker_id: str
    pool: str
    slots: int
    poll_wait_s: int
    visibility_timeout_s: int | None
    """None: the queue's own."""
    grace_s: float
    heartbeat_s: float
    retry_base_s: float
    retry_cap_s: float
    queues: tuple[QueuePlan, ...] = (QueuePlan("the queue"),)
    leases: LeaseLimits = field(default_factory=LeaseLimits)
    limits: FleetLimits = field(default_factory=FleetLimits)
    retries: RetryLimit | None = None
    """The fleet's budget for retries; None: none."""
    sorting: Sorting = UNSORTED
    prefetch: int | None = None
    """Messages that may wait in hand for a slot; None: as few as hide a poll's way there and back."""
    start_delay_s: float = 0.0
    """The first poll is sent after a random share of this."""
    health_port: int | None = None
    health_file: Path | None = None
    stuck_after_s: float | None = None
    """Nothing may end for so long while messages wait; None: by how long handlers take."""
    leaves_when_stuck: bool = False
    """A worker that is stuck leaves, for another process to take its place."""
    auto: AutoSlots | None = None
    """The slots follow the work from `slots` on; None: they stay as many."""
    max_receives: int | None = None
    """A message that was handed out more often, by its own fault, goes to the dead-letter queue before it runs."""
    host: str = ""
    """What the platform calls this worker, if it is known."""
    lapses: bool = False
    """Nobody retires it: it lets its protection lapse from time to time."""

    def told(self, leases_s: Sequence[int]) -> str:
        """For the log of its start; `leases_s` are the queues'."""
        leases = ", ".join(f"{lease_s} s" for lease_s in dict.fromkeys(leases_s))
        slots = self.slots if self.auto is None else f"{self.auto.least} to {self.auto.most}"
        return f"slots {slots}, lease {leases}, poll {self.poll_wait_s} s, grace {self.grace_s:g} s"
