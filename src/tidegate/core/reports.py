"""What a worker tells of itself: its heartbeat, and what it did since the last one. Seconds, unless named otherwise."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tidegate.core.absence import Absence
from tidegate.core.stored.schema import SCHEMA

__all__ = [
    "CLASSES_AT_MOST",
    "OTHER_CLASS",
    "UNCLASSED",
    "WAIT_BOUNDS_S",
    "ClassFigures",
    "DependencyFigures",
    "Fleet",
    "WorkFigures",
    "WorkerReport",
    "WorkerState",
    "counted_as",
]

CLASSES_AT_MOST = 8
"""Job classes that are counted by name in one worker. A heartbeat is one DynamoDB item, billed by the kilobyte."""

OTHER_CLASS = "other"
"""What the classes beyond `CLASSES_AT_MOST` are counted as, together."""

WAIT_BOUNDS_S: tuple[float, ...] = (
    0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1800, 3600, 7200, 21600,
)  # fmt: skip
"""Upper edges of the histogram of waits (sent → started); one more bucket holds everything above the last."""


class WorkerState(StrEnum):
    """Where a worker is on its way: it takes work only while `RUNNING`."""

    RUNNING = "running"
    RETIRING = "retiring"
    DRAINING = "draining"
    RELEASED = "released"
    STOPPED = "stopped"


UNCLASSED = ""
"""What messages that carry no class are counted as, where others carry one."""


def counted_as(job_class: str, known: Collection[str]) -> str:
    """The name that a class or a dependency is counted under: its own while there is room, so that reports stay small.

    `known` are those that the worker has counted so far.

    >>> counted_as("thumbnail", known={}), counted_as("thumbnail", known=dict.fromkeys("abcdefgh"))
    ('thumbnail', 'other')
    """
    return job_class if job_class in known or len(known) < CLASSES_AT_MOST else OTHER_CLASS


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """What a worker did for one class of messages; each field means what it means in `WorkFigures`."""

    starts: int = 0
    completions: int = 0
    failures: int = 0
    service_time_sum_s: float = 0.0
    service_time_square_sum_s2: float = 0.0
    waits: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DependencyFigures:
    """A worker's calls of one thing that handlers depend on. Errors, timeouts and 429s (`throttled`) are disjoint."""

    calls: int = 0
    errors: int = 0
    timeouts: int = 0
    throttled: int = 0
    time_sum_s: float = 0.0

    @property
    def bad(self) -> int:
        """Calls that the dependency did not answer as it should.

        >>> DependencyFigures(calls=10, errors=1, timeouts=2, throttled=3).bad
        6
        """
        return self.errors + self.timeouts + self.throttled


@dataclass(frozen=True, slots=True)
class WorkFigures:
    """What a worker did over a span of time. Times are sums over `completions + failures` handler runs."""

    span_s: float
    starts: int = 0
    completions: int = 0
    failures: int = 0
    redeliveries: int = 0
    leases_lost: int = 0
    uncertain_deletes: int = 0
    retries_held: int = 0
    """Messages that come back later than their backoff because of the fleet's retry budget."""
    service_time_sum_s: float = 0.0
    service_time_square_sum_s2: float = 0.0
    waits: tuple[int, ...] = ()
    """Starts of first receives per bucket of `WAIT_BOUNDS_S` (+ 1 overflow bucket); empty when there was none."""
    classes: Mapping[str, ClassFigures] = field(default_factory=dict)
    """The same by job class, for messages that carry one: `CLASSES_AT_MOST` and `OTHER_CLASS` (see `counted_as`)."""
    dependencies: Mapping[str, DependencyFigures] = field(default_factory=dict)
    """Calls by the name that `message.dependency` gave; names are bounded as those of classes are."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """A worker's heartbeat: `recent` covers the span since its previous heartbeat, `total` since it started."""

    worker_id: str
    state: WorkerState
    reason: str
    reported_at_s: float
    started_at_s: float
    first_receive_at_s: float | None
    slots: int
    busy: int
    recent: WorkFigures
    total: WorkFigures
    heartbeat_s: float = 10.0
    """How often this worker reports: silence of three of these is news."""
    protected: bool = False
    """Whether the platform spares it when it scales in or deploys."""
    host: str = ""
    """What the platform calls it: the id of the EC2 instance, the ARN of the task; empty when that is not known."""
    buffered: int = 0
    """Messages that it has received and not yet started: in flight on SQS, and waiting all the same."""
    peak_rss_bytes: int = 0
    """The most memory that its process has ever had; 0: not known."""
    job_rss_bytes: int | None = None
    """What each job at a time has added to that at most; None before the first, and where jobs run in processes."""
    permitted: int | None = None
    """Of its slots, those that the fleet's limit lets it use now; None: there is no such limit."""
    fleet_slots: int | None = None
    """That limit: handlers at a time of all the pool's workers together, as this worker's settings have it."""
    answered_at_s: float | None = None
    """When a receive call of its was last answered, with messages or without; None: not told."""
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Fleet:
    """All workers that reported lately. `absence` says why there are none to see (no table, denied, …)."""

    taken_at_s: float
    workers: tuple[WorkerReport, ...] = ()
    absence: Absence | None = None
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Whether the reports could not be read. Where no worker uses the SDK there are none to read: no failure."""
        return self.absence is not None and self.absence is not Absence.MISSING
