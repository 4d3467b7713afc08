"""Two-speed sensing: CloudWatch is asked once a minute for all pools together, and remembered between."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidegate.core.absence import absence_of
from tidegate.core.model import Reading
from tidegate.errors import TidegateError
from tidegate.ports import Metric, MetricsReader

__all__ = ["MinuteMetrics"]

_MINUTE_S = 60.0


class MinuteMetrics:
    """The latest readings of every series.

    CloudWatch has one new value a minute and bills each series of each request, so asking more often costs and brings
    nothing. After a failure the next try is also a minute later, and the readings had before stay with the time that
    they speak of: whether they are still fresh is for the core to judge.
    """

    def __init__(self, reader: MetricsReader, metrics: Sequence[Metric]) -> None:
        self._reader = reader
        self.wanted = tuple(dict.fromkeys(metrics))
        """Every series that is asked for, each once."""
        self._readings: dict[Metric, Reading] = {}
        self._asked_in_minute: float | None = None
        self._asking = threading.Lock()

    def due(self, now_s: float) -> bool:
        """True when a minute boundary has passed since the last pass began (a clock set back counts as one)."""
        return bool(self.wanted) and self._asked_in_minute != now_s // _MINUTE_S

    def asked(self) -> bool:
        """True once a pass has come to its end, well or badly."""
        return bool(self._readings) or not self.wanted

    def readings(self) -> Mapping[Metric, Reading]:
        """What is known now. The mapping is never changed afterwards: a pass puts a new one in its place."""
        return self._readings

    def refresh(self, now_s: float) -> TidegateError | None:
        """One pass if one is due and none is under way; the error that it ended with, if any."""
        if not self.due(now_s) or not self._asking.acquire(blocking=False):
            return None
        try:
            self._asked_in_minute = now_s // _MINUTE_S
            self._readings = {**self._readings, **self._reader.latest(self.wanted, now_s)}
        except TidegateError as error:
            self._readings = {metric: self._failed(metric, error, now_s) for metric in self.wanted}
            return error
        finally:
            self._asking.release()
        return None

    def _failed(self, metric: Metric, error: TidegateError, now_s: float) -> Reading:
        known = self._readings.get(metric)
        if known is not None and known.value is not None:
            return replace(known, detail=str(error))
        return Reading(None, now_s, absence_of(error), str(error))
