"""What a tick sees: the queues' counts and metrics, the platform's counts, the workers' reports."""

from dataclasses import dataclass

from tidegate.core.absence import Absence
from tidegate.core.reports import Fleet
from tidegate.core.stored.schema import SCHEMA

__all__ = ["Alarm", "Capacity", "Observation", "QueueObservation", "QuietGroups", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One signal: its value and the time it speaks of, or the reason why there is none."""

    value: float | None
    taken_at_s: float
    absence: Absence | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class QuietGroups:
    """What CloudWatch says about a fair queue: how many groups are noisy, and what the others have.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
    """

    noisy_groups: Reading
    visible: Reading
    in_flight: Reading
    age_s: Reading


@dataclass(frozen=True, slots=True)
class QueueObservation:
    """One queue as seen at a tick. Counts come from GetQueueAttributes, the rest from CloudWatch's last full minute."""

    queue: str
    visible: Reading
    in_flight: Reading
    delayed: Reading
    age_s: Reading
    sent_per_s: Reading
    deleted_per_s: Reading
    quiet: QuietGroups | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the platform says about the ECS service or Auto Scaling group. Counts are workers (tasks, instances)."""

    target: str
    taken_at_s: float
    desired: int
    running: int
    pending: int
    deploying: bool = False
    min_workers: int | None = None
    max_workers: int | None = None
    """The platform's own bounds where it has them (an Auto Scaling group's MinSize and MaxSize)."""
    outdated: int = 0
    """Running workers of an older revision than the one that is being deployed."""
    removes_by_name: bool = False
    """Whether it can be told which workers to remove; else it chooses among those that are not protected."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A CloudWatch alarm: "OK", "ALARM" or "INSUFFICIENT_DATA", or the reason why its state is not known."""

    name: str
    state: str | None
    taken_at_s: float
    absence: Absence | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that a decision looks at besides the pool's settings and its state."""

    now_s: float
    queues: tuple[QueueObservation, ...]
    capacity: Capacity
    fleet: Fleet
    alarms: tuple[Alarm, ...] = ()
    """Those of the pool's `hold_on_alarms`."""
    schema: int = SCHEMA
