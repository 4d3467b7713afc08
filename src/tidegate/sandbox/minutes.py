"""AWS/SQS metrics, minute by minute, out of samples of the queues: pure, the time is an argument.

CloudWatch has one-minute data, stamped with the minute's start, some time after its end:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol

__all__ = ["DEFAULTS", "MINUTE_S", "Datum", "Minutes", "MinutesSettings", "QueueSample"]

MINUTE_S = 60.0


class QueueSample(Protocol):
    """One queue at one moment. The last four are totals since the queue was made."""

    @property
    def visible(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def delayed(self) -> int: ...
    @property
    def oldest_age_s(self) -> float | None: ...
    @property
    def sent(self) -> int: ...
    @property
    def received(self) -> int: ...
    @property
    def deleted(self) -> int: ...
    @property
    def empty_receives(self) -> int: ...


LEVELS: Mapping[str, Callable[[QueueSample], float]] = {
    "ApproximateNumberOfMessagesVisible": lambda sample: sample.visible,
    "ApproximateNumberOfMessagesNotVisible": lambda sample: sample.in_flight,
    "ApproximateNumberOfMessagesDelayed": lambda sample: sample.delayed,
}
"""Metrics of how much there is: statistics over the samples of the minute."""

TOTALS: Mapping[str, Callable[[QueueSample], int]] = {
    "NumberOfMessagesSent": lambda sample: sample.sent,
    "NumberOfMessagesReceived": lambda sample: sample.received,
    "NumberOfMessagesDeleted": lambda sample: sample.deleted,
    "NumberOfEmptyReceives": lambda sample: sample.empty_receives,
}
"""Metrics of how much happened: what the total grew by within the minute, as the Sum."""

AGE = "ApproximateAgeOfOldestMessage"


@dataclass(frozen=True, slots=True)
class Datum:
    """One metric of one queue over the minute that starts at `minute_s`, as a statistic set."""

    queue: str
    metric: str
    minute_s: float
    total: float
    minimum: float
    maximum: float
    samples: int

    def as_put_metric_data(self) -> dict[str, Any]:
        """https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html"""
        return {
            "MetricName": self.metric,
            "Dimensions": [{"Name": "QueueName", "Value": self.queue}],
            "Timestamp": datetime.fromtimestamp(self.minute_s, UTC).replace(tzinfo=None),
            "StatisticValues": {
                "Sum": self.total,
                "Minimum": self.minimum,
                "Maximum": self.maximum,
                "SampleCount": float(self.samples),
            },
        }


@dataclass(frozen=True, slots=True)
class MinutesSettings:
    """`lag_s`: from a minute's end until it is published; AWS's is not documented. `history`: quiet minutes published
    for the time before a queue was first seen. `empty_age_s`: the age of a queue without a message that counts; None
    publishes none ("reported if the queue contains at least one active message",
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html).
    """

    lag_s: float = 15.0
    history: int = 15
    empty_age_s: float | None = None


DEFAULTS: Final = MinutesSettings()


class Minutes:
    """Takes samples, closes each minute at its end, and gives its data out when the lag has passed."""

    def __init__(self, settings: MinutesSettings = DEFAULTS) -> None:
        self._settings = settings
        self._minute_s = 0.0
        self._samples: dict[str, list[QueueSample]] = {}
        self._before: dict[str, QueueSample] = {}
        self._waiting: list[Datum] = []

    def sample(self, now_s: float, queues: Mapping[str, QueueSample]) -> list[Datum]:
        """Take in the queues as they are at `now_s`; what is to be published by now, oldest minute first."""
        minute_s = now_s // MINUTE_S * MINUTE_S
        if minute_s != self._minute_s:
            self._close(queues)
            self._minute_s = minute_s
        for queue, sample in queues.items():
            if queue not in self._samples and queue not in self._before:
                self._waiting += self._history(queue)
            self._samples.setdefault(queue, []).append(sample)
        return self._due(now_s)

    def _close(self, queues: Mapping[str, QueueSample]) -> None:
        """The first sample of the next minute ends the counting, so that nothing between two samples is misplaced."""
        for queue, samples in self._samples.items():
            end = queues.get(queue, samples[-1])
            counted = _totals(queue, self._minute_s, end, self._before.get(queue))
            self._waiting += [*_levels(queue, self._minute_s, samples, self._settings.empty_age_s), *counted]
            self._before[queue] = end
        self._samples = {}

    def _history(self, queue: str) -> list[Datum]:
        """Zeros. SQS says that an active queue emits "non-negative values": zero where nothing is (same page)."""
        quiet = [_statistics(queue, name, 0.0, [0.0]) for name in (*LEVELS, *TOTALS)]
        if self._settings.empty_age_s is not None:
            quiet.append(_statistics(queue, AGE, 0.0, [self._settings.empty_age_s]))
        return [
            replace(datum, minute_s=self._minute_s - back * MINUTE_S)
            for back in range(self._settings.history, 0, -1)
            for datum in quiet
        ]

    def _due(self, now_s: float) -> list[Datum]:
        last_s = now_s - self._settings.lag_s - MINUTE_S
        due = [datum for datum in self._waiting if datum.minute_s <= last_s]
        self._waiting = [datum for datum in self._waiting if datum.minute_s > last_s]
        return sorted(due, key=lambda datum: datum.minute_s)


def _levels(queue: str, minute_s: float, samples: Sequence[QueueSample], empty_age_s: float | None) -> list[Datum]:
    data = [_statistics(queue, name, minute_s, [level(one) for one in samples]) for name, level in LEVELS.items()]
    ages = [empty_age_s if sample.oldest_age_s is None else sample.oldest_age_s for sample in samples]
    if known := [age for age in ages if age is not None]:
        data.append(_statistics(queue, AGE, minute_s, known))
    return data


def _totals(queue: str, minute_s: float, end: QueueSample, before: QueueSample | None) -> list[Datum]:
    grown = {name: _growth(total(end), total(before) if before else 0) for name, total in TOTALS.items()}
    return [_statistics(queue, name, minute_s, [count]) for name, count in grown.items()]


def _statistics(queue: str, name: str, minute_s: float, values: Sequence[float]) -> Datum:
    return Datum(queue, name, minute_s, float(sum(values)), float(min(values)), float(max(values)), len(values))


def _growth(now: int, before: int) -> float:
    """A total that fell belongs to a new queue of the same name, which counts from zero."""
    return float(now - before if now >= before else now)
