"""A worker's figures for OpenTelemetry, where it is installed (`pip install 'tidegate[otel]'`).

Nothing is set up here: without a program's own MeterProvider the API does nothing. Names by the conventions of
https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/, with one of our own for the wait.
"""

from typing import TYPE_CHECKING, Final

from tidegate.worker.telemetry.counts import WorkWatch

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

__all__ = ["otel_watches"]

_SYSTEM: Final = "aws_sqs"


def otel_watches(pool: str) -> list[WorkWatch]:
    """One, or none where OpenTelemetry is not installed."""
    try:
        from opentelemetry import metrics
    except ModuleNotFoundError:
        return []
    return [_OtelWatch(metrics.get_meter("tidegate"), pool)]


class _OtelWatch:
    """Implements `telemetry.WorkWatch`. Its instruments are safe between threads and cost microseconds."""

    def __init__(self, meter: "Meter", pool: str) -> None:
        self._attributes = {"messaging.system": _SYSTEM, "tidegate.pool": pool}
        self._consumed = meter.create_counter(
            "messaging.client.consumed.messages", unit="{message}", description="Messages handed to handlers"
        )
        self._duration = meter.create_histogram(
            "messaging.process.duration", unit="s", description="How long handlers ran"
        )
        self._wait = meter.create_histogram(
            "tidegate.message.wait", unit="s", description="From when a message was sent to when its handler started"
        )

    def started(self, wait_s: float | None) -> None:
        self._consumed.add(1, self._attributes)
        if wait_s is not None:
            self._wait.record(max(0.0, wait_s), self._attributes)

    def ended(self, service_time_s: float, *, completed: bool) -> None:
        failed = {} if completed else {"error.type": "handler"}
        self._duration.record(service_time_s, {**self._attributes, **failed})
