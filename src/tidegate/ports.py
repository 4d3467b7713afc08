"""What the controller and the worker need from the outside, as Protocols.

The real adapters live in `aws` and `stores`, fakes in `testing`; both pass the same contract tests. Every method
may raise the CloudError tree of `tidegate.errors` and nothing else that AWS causes.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidegate.core.condition import Condition
from tidegate.core.directive import Directive
from tidegate.core.model import Decision, PoolState
from tidegate.core.observation import Alarm, Capacity, Reading
from tidegate.core.poison import MessageNote
from tidegate.core.reports import WorkerReport

__all__ = [
    "AlarmReader",
    "CapacityTarget",
    "Clock",
    "Datum",
    "DirectiveWriter",
    "EntryFailure",
    "EventSink",
    "FleetReader",
    "HeartbeatSink",
    "InstanceNotices",
    "InstanceWatch",
    "MessageNotes",
    "Metric",
    "MetricHistory",
    "MetricsReader",
    "MetricsWriter",
    "Publisher",
    "QueueCounts",
    "QueueReader",
    "Received",
    "ScaleInProtection",
    "StateStore",
    "StoredState",
    "TerminationHook",
    "VisibilityChange",
    "WorkQueue",
]


class Clock(Protocol):
    """Wall time (seconds since the epoch) and a wait that a stop event ends early."""

    def now(self) -> float: ...

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait for `seconds` or until `stop` is set; true when it was set."""
        ...


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """GetQueueAttributes' three counts, all approximate on AWS."""

    visible: int
    in_flight: int
    delayed: int


class QueueReader(Protocol):
    """Counts and settings of one queue; `queue` is a URL, an ARN or a name."""

    def counts(self, queue: str) -> QueueCounts:
        """Raises Gone when the queue does not exist, Denied, Throttled, Unreachable, Invalid."""
        ...

    def visibility_timeout_s(self, queue: str) -> int:
        """The lease that the queue gives by itself. Raises as `counts`."""
        ...


@dataclass(frozen=True, slots=True)
class Metric:
    """One CloudWatch series: an AWS/SQS metric of one queue, one statistic, one-minute period."""

    queue: str
    name: str
    statistic: str


class MetricsReader(Protocol):
    """CloudWatch, many series at once."""

    def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
        """Each metric's value in the last complete minute that has one, with the end of that minute as its time.

        A series without data gives a Reading with absence MISSING. Raises as every port does when the call fails.
        """
        ...


class MetricHistory(Protocol):
    """CloudWatch's past, for looking back over days."""

    def history(
        self, metrics: Sequence[Metric], begin_s: float, end_s: float, period_s: int
    ) -> Mapping[Metric, Mapping[float, float]]:
        """Each metric's values by the start of their period; periods without data are left out.

        `begin_s` and `end_s` lie on whole periods. Raises as every port does when any call fails: half a past is none.
        """
        ...


class AlarmReader(Protocol):
    """CloudWatch's alarms, many at once."""

    def states(self, names: Sequence[str], now_s: float) -> Mapping[str, Alarm]:
        """Each alarm's state as of now, or the reason why it is not known. Raises nothing that AWS causes."""
        ...


class CapacityTarget(Protocol):
    """The desired count of one ECS service or Auto Scaling group."""

    @property
    def name(self) -> str:
        """For people: "ecs:cluster/service" or "asg:name"."""
        ...

    def read(self) -> Capacity: ...

    def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
        """Read again, then write only when that changes something; true when it wrote.

        `leaving` are the platform's names of workers that hold nothing any more: a platform that can be told names
        (`Capacity.removes_by_name`) removes these; one that can't chooses among those that are not protected.

        Raises CapacityChanged when the live desired count is neither `seen.desired` nor `desired`.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoredState:
    """A pool's state and the version that a save must name; version 0 is "never saved"."""

    state: PoolState = field(default_factory=PoolState)
    version: int = 0


class StateStore(Protocol):
    """Pool state under a version: two writers never overwrite each other unseen."""

    def load(self, pool: str) -> StoredState:
        """Raises StateUnreadable when what is stored has another schema or is damaged."""
        ...

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """The new version. Raises StateConflict when the stored version is not `expected_version`."""
        ...


class FleetReader(Protocol):
    """The workers' heartbeats as the controller reads them."""

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        """The newest report of each worker that has not expired, in the order of their ids."""
        ...


class DirectiveWriter(Protocol):
    """Where the controller tells a pool's workers what to do."""

    def direct(self, pool: str, directive: Directive) -> None:
        """The newest directive replaces the one before."""
        ...


class HeartbeatSink(Protocol):
    """Where a worker's heartbeat goes, and what comes back."""

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None: ...

    async def directive(self, pool: str) -> Directive:
        """What the controller told the pool's workers last; an empty one when it has told nothing yet.

        Raises StateUnreadable when it has another schema or is damaged: a worker then goes by the last one it read.
        """
        ...

    async def close(self) -> None: ...


class ScaleInProtection(Protocol):
    """The platform's promise not to choose this very worker when it scales in or deploys."""

    async def set_protected(self, protected: bool, for_s: float) -> None:
        """For `for_s` seconds from now (rounded up to what the platform takes), or no longer.

        Raises Blocked while a deployment is in the way, Gone when nothing can protect this worker, and as every port.
        """
        ...


class MessageNotes(Protocol):
    """What the fleet knows of messages that were handed out again: `core.poison` judges by it.

    A receive that is older than what is noted changes nothing: a worker that lost its lease may be late with its word.
    """

    async def note(self, pool: str, message_id: str) -> MessageNote:
        """As it stands now: a consistent read. Raises StateUnreadable when it is damaged."""
        ...

    async def begins_alone(self, pool: str, message_id: str, receive: int, worker_id: str, expires_at_s: float) -> None:
        """This receive is about to run alone in this worker."""
        ...

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        """This receive has ended in an orderly way; `spared`: by no fault of the message."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class InstanceNotices:
    """What the platform has in mind for the instance that a worker runs on. Times are seconds since the epoch."""

    stops_at_s: float | None = None
    """A spot interruption: the instance is stopped or terminated then."""
    rebalance_at_s: float | None = None
    """Since then an interruption has been likelier than usual."""
    terminating: bool = False
    """The Auto Scaling group is about to terminate it."""


class InstanceWatch(Protocol):
    """Where a worker learns that its instance is about to go."""

    async def instance_id(self) -> str:
        """What the platform calls the instance. Raises as `look`."""
        ...

    async def look(self) -> InstanceNotices:
        """Raises Gone where nobody can tell, Denied when it can't be asked, else Unreachable."""
        ...


class TerminationHook(Protocol):
    """What holds the termination of a worker's instance up until it says that it is done."""

    async def keep(self) -> None:
        """It needs more time."""
        ...

    async def complete(self) -> None:
        """It is done. Both raise Invalid when no termination is being held up, and as every port."""
        ...


class EventSink(Protocol):
    """Where the controller says what it did: one call per pool and tick, from several threads."""

    def decided(self, decision: Decision, wrote: bool) -> None: ...

    def changed_state(self, decision: Decision, was: Condition) -> None:
        """A pool's state is another than before, once for each change; after `decided`."""
        ...

    def failed(self, pool: str, error: Exception) -> None: ...

    def metrics_failed(self, troubles: Sequence[str]) -> None:
        """CloudWatch could not be read, or not all of it: once a pass (a minute), for all pools together.

        A warning: the pools go on with what was read before while that is fresh, and then without.
        """
        ...

    def not_published(self, error: Exception) -> None:
        """The metrics of decisions could not be written: alarms and dashboards miss them, the pools do not."""
        ...

    def overran(self, pool: str | None, missed: int) -> None:
        """A tick was left out because the one before still runs, the `missed`th in a row; None: of every pool."""
        ...


@dataclass(frozen=True, slots=True)
class Datum:
    """One metric of one pool over one minute that begins at `at_s`: what CloudWatch calls a statistic set."""

    pool: str
    name: str
    unit: str
    at_s: float
    count: int
    total: float
    least: float
    most: float


class MetricsWriter(Protocol):
    """CloudWatch's other side: metrics of ours."""

    def put(self, data: Sequence[Datum]) -> None:
        """Write all that can be written. Raises as every port does when some of it could not."""
        ...


class Publisher(Protocol):
    """Where the metrics of decisions go. `add` comes from several threads and never waits."""

    def add(self, decision: Decision, wrote: bool) -> None: ...

    def due(self, now_s: float) -> bool:
        """Whether there is something that `flush` would send."""
        ...

    def flush(self, before_s: float) -> None:
        """Send what was added of minutes that ended by `before_s`. Raises as every port does; that is lost then."""
        ...


@dataclass(frozen=True, slots=True)
class Received:
    """One message as SQS handed it out. `attributes` are the system attributes, by their SQS names."""

    message_id: str
    receipt_handle: str
    body: str
    attributes: Mapping[str, str]
    message_attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VisibilityChange:
    """Make one received message visible again `timeout_s` from the call (0: at once)."""

    receipt_handle: str
    timeout_s: int


@dataclass(frozen=True, slots=True)
class EntryFailure:
    """One entry of a batch that SQS refused though the call itself succeeded; `index` is its place in the request."""

    index: int
    code: str
    message: str
    sender_fault: bool


class WorkQueue(Protocol):
    """One queue as a worker uses it. Batches of any length: the adapter cuts them into calls of ten."""

    async def visibility_timeout_s(self) -> int:
        """The queue's own default (0 is one). Raises Gone when the queue does not exist."""
        ...

    async def backlog(self) -> int:
        """How many messages wait, approximately."""
        ...

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        """Up to `limit` (1 to 10) messages, waiting up to `wait_s` (0 to 20) for the first.

        Each is leased for `visibility_s` (1 to 43,200), whatever the queue's own default has become meanwhile.
        """
        ...

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]: ...

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]: ...

    async def dead_letter(self, received: Received, reason: str) -> None:
        """Puts a copy of a message in hand into the dead-letter queue, its attributes kept and the reason added.

        The message itself is left as it is: whoever calls this deletes it then. Raises Gone when there is no
        dead-letter queue to put it into.
        """
        ...

    async def close(self) -> None: ...
