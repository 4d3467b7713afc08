"""The documented way to idempotent handlers, run: the example's own handler, its table at moto, messages sent twice."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import boto3
import pytest

from tests.aws.moto_cloud import moto_clients
from tidegate import Worker
from tidegate.testing import FakeWorkQueue

EXAMPLE = Path(__file__).parents[2] / "examples" / "idempotent_worker.py"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    with moto_clients(monkeypatch):
        boto3.client("dynamodb").create_table(
            TableName="idempotency",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )
        spec = importlib.util.spec_from_file_location("idempotent_worker", EXAMPLE)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.integration
@pytest.mark.looptime
async def test_a_message_that_is_delivered_again_or_sent_twice_is_charged_once(
    example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = FakeWorkQueue()
    async with Worker("payments", example.handle).in_test(queue):
        first = queue.send(json.dumps({"payment_id": "p1"}))
        await queue.all_deleted()
        queue.send(json.dumps({"payment_id": "p1"}))  # its producer was not sure, and sent it again
        queue.send(json.dumps({"payment_id": "p2"}))
        await queue.all_deleted()
    assert len(queue.deleted) == 3
    assert queue.deleted[0] == first
    assert capsys.readouterr().out.splitlines() == ["charged p1", "charged p2"]


@pytest.mark.integration
@pytest.mark.looptime
async def test_a_message_without_a_key_is_not_charged_and_comes_back(
    example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = FakeWorkQueue()
    async with Worker("payments", example.handle).in_test(queue):
        queue.send(json.dumps({"amount": 5}))
        await queue.received(2)
    assert queue.deleted == []
    assert "charged" not in capsys.readouterr().out
