"""A pool's own past, as CloudWatch has it: the traffic to try policies on, and what it says about times and waits."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidegate.config.trace import Bin
from tidegate.core.notation.durations import format_duration
from tidegate.errors import ConfigError, Fault
from tidegate.ports import Metric, MetricHistory, QueueReader

__all__ = ["DAYS_AT_MOST", "History", "ask_history", "bins_of", "little_s", "notes_of", "period_for"]

DAYS_AT_MOST = 62
"""CloudWatch keeps periods of 300 s for 63 days, and the first of them is already partly gone."""
MINUTES_DAYS = 14
"""Up to here single minutes are asked for: they are kept for 15 days."""
LATE_S = 180.0
"""Minutes younger than this may not be there yet."""

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class History:
    """All queues of a pool together, a value per period from `begin_s` on; None where CloudWatch has no data.

    `sent`, `deleted`: messages in the period. `in_flight`: mean of the period. `age_s`: oldest message, at most.
    """

    queues: tuple[str, ...]
    asked_at_s: float
    begin_s: float
    period_s: float
    sent: tuple[float | None, ...]
    deleted: tuple[float | None, ...]
    in_flight: tuple[float | None, ...]
    age_s: tuple[float | None, ...]

    @property
    def length_s(self) -> float:
        return len(self.sent) * self.period_s


def period_for(days: int) -> int:
    """Seconds: single minutes while CloudWatch has them, else five of them.

    >>> period_for(7), period_for(30)
    (60, 300)
    """
    return 60 if days <= MINUTES_DAYS else 300


def ask_history(source: MetricHistory, queues: Sequence[str], days: int, now_s: float) -> History:
    """The last `days` days up to the latest period that is surely complete. Raises as `MetricHistory.history`."""
    period_s = period_for(days)
    end_s = math.floor((now_s - LATE_S) / period_s) * float(period_s)
    begin_s = end_s - days * _DAY_S
    wanted = [Metric(queue, name, statistic) for queue in queues for name, statistic in _SERIES]
    found = source.history(wanted, begin_s, end_s, period_s)
    times_s = [begin_s + n * period_s for n in range(round((end_s - begin_s) / period_s))]
    sent, deleted, in_flight, age_s = (
        _joined([found[Metric(queue, *series)] for queue in queues], times_s, worst=series[1] == "Maximum")
        for series in _SERIES
    )
    return History(tuple(queues), now_s, begin_s, float(period_s), sent, deleted, in_flight, age_s)


_SERIES = (
    ("NumberOfMessagesSent", "Sum"),
    ("NumberOfMessagesDeleted", "Sum"),
    ("ApproximateNumberOfMessagesNotVisible", "Average"),
    ("ApproximateAgeOfOldestMessage", "Maximum"),
)


def _joined(
    series: Sequence[Mapping[float, float]], times_s: Sequence[float], *, worst: bool
) -> tuple[float | None, ...]:
    """The sum over the queues (or the worst of them) of those that have data at each time."""
    join = max if worst else sum
    there = [[one[at_s] for one in series if at_s in one] for at_s in times_s]
    return tuple(join(values) if values else None for values in there)


def bins_of(history: History, pool: str, counts: QueueReader) -> list[Bin]:
    """The arrivals; periods without data are periods without messages, for an inactive queue publishes nothing.

    Raises ConfigError when nothing was sent at all, having asked SQS whether the queues are there (Gone, Denied as
    `QueueReader.counts`): a past that is empty and a queue that is missing are not the same.
    """
    arrivals = [round(value or 0.0) for value in history.sent]
    if not any(arrivals):
        for queue in history.queues:
            counts.counts(queue)
        raise ConfigError([_nothing_sent(history, pool)])
    times_s = [n * history.period_s for n in range(len(arrivals))]
    return [Bin(at_s, at_s + history.period_s, count) for at_s, count in zip(times_s, arrivals, strict=True)]


def _nothing_sent(history: History, pool: str) -> Fault:
    names = " and ".join(history.queues)
    days = f"the last {format_duration(history.length_s)}"
    if any(value is not None for value in history.sent):
        problem = f"{names} is there, and CloudWatch says that nothing was sent to it in {days}"
    else:
        problem = f"{names} is there, and CloudWatch has no data of it for {days}: it was inactive all the time"
    return Fault("--pool", pool, problem, "look further back with --days, or give a trace with --trace FILE")


def little_s(history: History) -> float | None:
    """Mean time in flight: messages in flight ÷ deletions a second, over all periods that have both.

    An upper bound of the service time: messages that back off or wait in a worker are in flight, too.
    """
    both = [pair for pair in zip(history.in_flight, history.deleted, strict=True) if None not in pair]
    held = sum(in_flight or 0.0 for in_flight, _ in both) * history.period_s
    deleted = sum(count or 0.0 for _, count in both)
    return held / deleted if deleted and held else None


def notes_of(history: History, target_s: float) -> list[str]:
    """What is to be known about the data, and how late the pool really was."""
    said = []
    silent = sum(value is None for value in history.sent)
    if silent:
        share = format_duration(silent * history.period_s)
        said.append(f"{share} of {format_duration(history.length_s)} have no data: the queue was inactive, no messages")
    ages = [age for age in history.age_s if age is not None]
    if ages:
        over = sum(age > target_s for age in ages) / len(ages)
        said.append(
            f"as it was: the oldest message was older than {format_duration(target_s)} in {over:.2%} of the periods "
            f"with data, {format_duration(max(ages))} at most"
        )
    return said
