"""Two-speed sensing: CloudWatch is asked once a minute for all pools together, and remembered between."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidegate.controller.alarms import MinuteAlarms
from tidegate.core.absence import Absence, absence_of
from tidegate.core.observation import Reading
from tidegate.errors import TidegateError
from tidegate.ports import Metric, MetricsReader

__all__ = ["MinuteMetrics"]

_MINUTE_S = 60.0


class MinuteMetrics:
    """The latest readings of every series.

    CloudWatch has one new value a minute and bills each series of each request, so asking more often costs and brings
    nothing. After a failure the next try is also a minute later, and the readings had before stay with the time that
    they speak of: whether they are still fresh is for the core to judge. That holds for each series by itself, whether
    the whole call failed, one Region of several, or a single series. `alarms` are asked for at the same pass.
    """

    def __init__(self, reader: MetricsReader, metrics: Sequence[Metric], alarms: MinuteAlarms | None = None) -> None:
        self._reader = reader
        self._alarms = alarms
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

    def refresh(self, now_s: float) -> tuple[str, ...]:
        """One pass if one is due and none is under way; what went wrong in it, each trouble once."""
        if not self.due(now_s) or not self._asking.acquire(blocking=False):
            return ()
        try:
            self._asked_in_minute = now_s // _MINUTE_S
            found = self._latest(now_s)
            troubles = self._alarms.refresh(now_s) if self._alarms else ()
            self._readings = {**self._readings, **{metric: self._kept(metric, found[metric]) for metric in found}}
        finally:
            self._asking.release()
        failed = [reading.detail for reading in found.values() if _failed(reading)]
        return tuple(dict.fromkeys([*failed, *troubles]))

    def _latest(self, now_s: float) -> Mapping[Metric, Reading]:
        try:
            return self._reader.latest(self.wanted, now_s)
        except TidegateError as error:
            return dict.fromkeys(self.wanted, Reading(None, now_s, absence_of(error), str(error)))

    def _kept(self, metric: Metric, found: Reading) -> Reading:
        known = self._readings.get(metric)
        return replace(known, detail=found.detail) if _failed(found) and known and known.value is not None else found


def _failed(reading: Reading) -> bool:
    """Whether asking failed, as opposed to there being no data."""
    return reading.absence not in (None, Absence.MISSING, Absence.UNSEEN)
