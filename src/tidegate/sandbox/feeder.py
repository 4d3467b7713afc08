"""Publishes the sandbox queues' AWS/SQS metrics as CloudWatch would have them: each minute, late, on the minute."""

from collections.abc import Callable, Mapping
from typing import Any

from tidegate.ports import Clock
from tidegate.sandbox.minutes import DEFAULTS, Minutes, MinutesSettings, QueueSample
from tidegate.sandbox.ticker import Ticker

__all__ = ["Feeder"]

SAMPLE_S = 1.0

Publish = Callable[[str, list[Mapping[str, Any]]], None]
"""(namespace, metric data as in PutMetricData), such as `Cloud.put_metric_data`."""


class Feeder:
    """Samples every second in a thread of its own. `snapshot` gives the queues by name, such as `SqsServer.snapshot`.

    A queue's history is published with its first sample, so that a fresh demo has minutes to look back on.
    """

    def __init__(
        self,
        snapshot: Callable[[], Mapping[str, QueueSample]],
        publish: Publish,
        clock: Clock,
        settings: MinutesSettings = DEFAULTS,
    ) -> None:
        self._snapshot, self._publish, self._clock = snapshot, publish, clock
        self._minutes = Minutes(settings)
        self._ticker = Ticker("metric feeder", self.step, self._until_next_sample_s, clock)

    def start(self) -> None:
        """The history is there when this returns."""
        self.step()
        self._ticker.start()

    def stop(self) -> None:
        """Raises what ended the thread before its time, if anything did."""
        self._ticker.stop()

    def step(self) -> None:
        """One sample of all queues, and what is due is published."""
        due = self._minutes.sample(self._clock.now(), self._snapshot())
        if due:
            self._publish("AWS/SQS", [datum.as_put_metric_data() for datum in due])

    def _until_next_sample_s(self) -> float:
        # On the whole second, so that the first sample of a minute is taken at its start.
        return SAMPLE_S - self._clock.now() % SAMPLE_S
