"""Look at one pool: its queues' counts, CloudWatch's last minute, its workers, its capacity."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from tidegate.core.absence import Absence, absence_of
from tidegate.core.model import Pool
from tidegate.core.observation import Alarm, Observation, QueueObservation, QuietGroups, Reading
from tidegate.core.reports import Fleet
from tidegate.errors import TidegateError
from tidegate.ports import CapacityTarget, Clock, DirectiveWriter, FleetReader, Metric, QueueCounts, QueueReader

__all__ = ["PoolSources", "age_metric", "deleted_metric", "observe", "queue_metrics", "quiet_metrics", "sent_metric"]

_MINUTE_S = 60.0

_Counts = tuple[Reading, Reading, Reading]
"""Visible, in flight, delayed."""


@dataclass(frozen=True, slots=True)
class PoolSources:
    """Where one pool is looked at and acted on. `fleet` None: no store of heartbeats, and nobody to tell anything.

    `lease_heartbeat_s` is how often workers without the SDK extend their leases, if it is to be checked. `fair`: the
    queues' quiet groups are told from noisy ones.
    """

    name: str
    queues: tuple[str, ...]
    settings_at: Callable[[float], Pool]
    counts: QueueReader
    capacity: CapacityTarget
    fleet: FleetReader | None = None
    lease_heartbeat_s: float | None = None
    fair: bool = False
    directives: DirectiveWriter | None = None
    alarms: Callable[[], tuple[Alarm, ...]] = tuple
    """What is known of the alarms that hold the pool."""


def age_metric(queue: str) -> Metric:
    """Seconds; the oldest message of the minute is the one that matters, hence the maximum."""
    return Metric(queue, "ApproximateAgeOfOldestMessage", "Maximum")


def sent_metric(queue: str) -> Metric:
    """Messages in the minute."""
    return Metric(queue, "NumberOfMessagesSent", "Sum")


def deleted_metric(queue: str) -> Metric:
    """Messages in the minute."""
    return Metric(queue, "NumberOfMessagesDeleted", "Sum")


def quiet_metrics(queue: str) -> tuple[Metric, Metric, Metric, Metric]:
    """Of a fair queue: noisy groups, and of the quiet ones what is visible, what is in flight, and the oldest age.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    return (
        Metric(queue, "ApproximateNumberOfNoisyGroups", "Maximum"),
        Metric(queue, "ApproximateNumberOfMessagesVisibleInQuietGroups", "Average"),
        Metric(queue, "ApproximateNumberOfMessagesNotVisibleInQuietGroups", "Average"),
        Metric(queue, "ApproximateAgeOfOldestMessageInQuietGroups", "Maximum"),
    )


def queue_metrics(queue: str, *, fair: bool = False) -> tuple[Metric, ...]:
    """All that an observation wants from CloudWatch about one queue."""
    return (age_metric(queue), sent_metric(queue), deleted_metric(queue), *(quiet_metrics(queue) if fair else ()))


def observe(sources: PoolSources, readings: Mapping[Metric, Reading], clock: Clock) -> Observation:
    """Look at everything; what can't be read is there with the reason why.

    Raises what `CapacityTarget.read` raises: without the desired count nothing can be decided, so that is read first,
    and a tick ends there if nothing answers. A silent endpoint takes almost five seconds to give up on: after one
    queue without an answer, the pool's other queues are not asked. `now_s` is taken last, so that no reading is
    younger than the observation that holds it.
    """
    capacity = sources.capacity.read()
    queues = tuple(
        _observe_queue(queue, counts, readings, at_s, fair=sources.fair)
        for queue, counts, at_s in _count_queues(sources, clock)
    )
    fleet = _observe_fleet(sources, clock)
    return Observation(now_s=clock.now(), queues=queues, capacity=capacity, fleet=fleet, alarms=sources.alarms())


def _observe_queue(
    queue: str, counts: _Counts, readings: Mapping[Metric, Reading], at_s: float, *, fair: bool
) -> QueueObservation:
    unread = Reading(None, at_s, Absence.MISSING, "CloudWatch not asked yet")
    visible, in_flight, delayed = counts
    return QueueObservation(
        queue=queue,
        visible=visible,
        in_flight=in_flight,
        delayed=delayed,
        age_s=readings.get(age_metric(queue), unread),
        sent_per_s=_per_second(readings.get(sent_metric(queue), unread)),
        deleted_per_s=_per_second(readings.get(deleted_metric(queue), unread)),
        quiet=QuietGroups(*(readings.get(metric, unread) for metric in quiet_metrics(queue))) if fair else None,
    )


def _count_queues(sources: PoolSources, clock: Clock) -> Iterator[tuple[str, _Counts, float]]:
    """Each queue with its counts and when they were asked for."""
    silent: str | None = None
    for queue in sources.queues:
        at_s = clock.now()
        if silent is None:
            counts = _counts(sources.counts, queue, at_s)
            silent = queue if counts[0].absence is Absence.UNREACHABLE else None
        else:
            counts = _absent(Reading(None, at_s, Absence.UNREACHABLE, f"not asked: {silent} got no answer"))
        yield queue, counts, at_s


def _counts(reader: QueueReader, queue: str, at_s: float) -> _Counts:
    try:
        counts: QueueCounts = reader.counts(queue)
    except TidegateError as error:
        return _absent(Reading(None, at_s, absence_of(error), str(error)))
    return Reading(counts.visible, at_s), Reading(counts.in_flight, at_s), Reading(counts.delayed, at_s)


def _absent(reading: Reading) -> _Counts:
    """They come from one call, so they are absent together."""
    return reading, reading, reading


def _per_second(minute_sum: Reading) -> Reading:
    return minute_sum if minute_sum.value is None else replace(minute_sum, value=minute_sum.value / _MINUTE_S)


def _observe_fleet(sources: PoolSources, clock: Clock) -> Fleet:
    at_s = clock.now()
    if sources.fleet is None:
        return Fleet(at_s, absence=Absence.MISSING, detail="no table or state_dir: workers can't report")
    try:
        return Fleet(at_s, sources.fleet.workers(sources.name, at_s))
    except TidegateError as error:
        return Fleet(at_s, absence=absence_of(error), detail=str(error))
