"""What a worker tells OpenTelemetry, read by OpenTelemetry's own SDK; and a worker without it."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData

from tests.worker.conftest import PLAN, until
from tidegate.testing import FakeWorkQueue, RecordedHeartbeats
from tidegate.worker.handlers.run_handler import LoopRunner
from tidegate.worker.message import Message
from tidegate.worker.service import WorkerService
from tidegate.worker.telemetry.otel import otel_watches


@dataclass
class Seen:
    reader: InMemoryMetricReader

    def points(self, name: str) -> dict[tuple[tuple[str, str], ...], tuple[int, float]]:
        """(count, sum) of a metric by its attributes, without those that all have."""
        data = self.reader.get_metrics_data()
        assert isinstance(data, MetricsData)
        found = {}
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            if metric.name == name:
                for point in metric.data.data_points:
                    attributes = dict(point.attributes or {})
                    assert attributes.pop("messaging.system") == "aws_sqs"
                    assert attributes.pop("tidegate.pool") == "orders"
                    key = tuple(sorted((name, str(value)) for name, value in attributes.items()))
                    count = getattr(point, "count", getattr(point, "value", 0))
                    found[key] = (count, round(getattr(point, "sum", 0.0), 3))
        return found


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)
    yield Seen(reader)
    provider.shutdown()


@pytest.mark.looptime
async def test_runs_their_times_failures_and_waits_are_counted(seen: Seen) -> None:
    loop = asyncio.get_running_loop()
    queue = FakeWorkQueue()

    async def handler(message: Message) -> None:
        await asyncio.sleep(2)
        if message.body == "bad" and message.receive_count == 1:
            raise ValueError

    service = WorkerService(
        PLAN,
        [queue],
        RecordedHeartbeats(),
        LoopRunner(handler, loop),
        clock=loop.time,
        wall=loop.time,
        random=lambda: 0.5,
        watches=otel_watches("orders"),
    )
    serving = asyncio.create_task(service.serve())
    for body in ("good", "bad", "good"):
        queue.send(body)
    await until(lambda: len(queue.deleted) == 3)
    service.stop("test")
    await serving
    assert seen.points("messaging.client.consumed.messages") == {(): (4, 0.0)}
    assert seen.points("messaging.process.duration") == {(): (3, 6.0), (("error.type", "handler"),): (1, 2.0)}
    assert seen.points("tidegate.message.wait")[()][0] == 3


def test_without_opentelemetry_a_worker_works_and_tells_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert otel_watches("orders") == []
