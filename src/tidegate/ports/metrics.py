"""CloudWatch: metrics and alarms read, metrics of ours written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tidegate.core.decision import Decision
from tidegate.core.observation import Alarm, Reading

__all__ = ["AlarmReader", "Datum", "Metric", "MetricHistory", "MetricsReader", "MetricsWriter", "Publisher"]


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
