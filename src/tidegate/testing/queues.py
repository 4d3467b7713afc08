"""Fakes of what the controller reads about queues: counts and CloudWatch's minutes."""

from collections.abc import Mapping, Sequence

from tidegate.core.absence import Absence
from tidegate.core.observation import Reading
from tidegate.errors import Gone, TidegateError
from tidegate.ports import Metric, QueueCounts

__all__ = ["FakeMetricsReader", "FakeQueueReader"]


class FakeQueueReader:
    """Implements `ports.QueueReader`. A queue that was never given counts is `Gone`, as on AWS.

    Put a TidegateError in place of the counts to have the call raise it.
    """

    def __init__(self, queues: Mapping[str, QueueCounts | TidegateError] | None = None) -> None:
        self.queues: dict[str, QueueCounts | TidegateError] = dict(queues or {})
        self.visibility_timeouts_s: dict[str, int] = {}
        """Of queues whose timeout is not SQS's default of 30 s."""
        self.asked: list[str] = []
        """The queue of every call of `counts`, oldest first."""

    def counts(self, queue: str) -> QueueCounts:
        """What `queues` holds for it."""
        self.asked.append(queue)
        return self._look_up(queue)

    def visibility_timeout_s(self, queue: str) -> int:
        """What `visibility_timeouts_s` holds for it, of a queue that is there."""
        self._look_up(queue)
        return self.visibility_timeouts_s.get(queue, 30)

    def _look_up(self, queue: str) -> QueueCounts:
        answer = self.queues.get(queue)
        if answer is None:
            raise Gone("sqs:GetQueueAttributes", queue, "QueueDoesNotExist")
        if isinstance(answer, TidegateError):
            raise answer
        return answer


class FakeMetricsReader:
    """Implements `ports.MetricsReader`. A metric without a reading is MISSING, as on AWS; `error` makes calls fail."""

    def __init__(self, readings: Mapping[Metric, Reading] | None = None) -> None:
        self.readings: dict[Metric, Reading] = dict(readings or {})
        self.error: TidegateError | None = None
        self.asked: list[tuple[tuple[Metric, ...], float]] = []
        """(metrics, now_s) of every call, oldest first."""

    def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
        """What `readings` holds for each."""
        self.asked.append((tuple(metrics), now_s))
        if self.error is not None:
            raise self.error
        missing = Reading(None, now_s, Absence.MISSING, "no data")
        return {metric: self.readings.get(metric, missing) for metric in metrics}
