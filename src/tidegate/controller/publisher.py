"""The metrics of decisions, summed up minute by minute and written once a minute for all pools together.

CloudWatch bills each call, so one call a minute instead of one per tick and pool; a statistic set keeps sum, least and
most, so alarms see the same as if every value had been sent.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_StatisticSet.html
"""

import threading
from dataclasses import replace

from tidegate.core.decision import Decision
from tidegate.core.explain.published import UNITS, published
from tidegate.ports import Datum, MetricsWriter

__all__ = ["MinutePublisher"]

_MINUTE_S = 60.0


class MinutePublisher:
    """Implements `ports.Publisher`. What can't be written is lost: sent twice, a sum would be wrong."""

    def __init__(self, writer: MetricsWriter) -> None:
        self._writer = writer
        self._sums: dict[tuple[str, str, float], Datum] = {}
        self._adding = threading.Lock()

    def add(self, decision: Decision, wrote: bool) -> None:
        """Add one tick's values to the minute that it was made in."""
        minute_s = decision.at_s // _MINUTE_S * _MINUTE_S
        with self._adding:
            for name, value in published(decision, wrote).items():
                key = (decision.pool, name, minute_s)
                one = Datum(decision.pool, name, UNITS[name], minute_s, 1, value, value, value)
                self._sums[key] = _sum(self._sums[key], one) if key in self._sums else one

    def due(self, now_s: float) -> bool:
        """True when a minute with values has ended."""
        with self._adding:
            return any(minute_s + _MINUTE_S <= now_s for _, _, minute_s in self._sums)

    def flush(self, before_s: float) -> None:
        """Write the minutes that ended by `before_s` (infinity: the one under way too). Raises as the writer does."""
        with self._adding:
            ended = [key for key in self._sums if key[2] + _MINUTE_S <= before_s]
            data = [self._sums.pop(key) for key in ended]
        if data:
            self._writer.put(data)


def _sum(one: Datum, other: Datum) -> Datum:
    return replace(
        one,
        count=one.count + other.count,
        total=one.total + other.total,
        least=min(one.least, other.least),
        most=max(one.most, other.most),
    )
