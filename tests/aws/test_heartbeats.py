"""The worker's heartbeat in the fleet table, as the controller's own adapter reads it back."""

from collections.abc import Iterator

import pytest

from tests.aws.moto_cloud import REGION, moto_over_http
from tests.contract.fleet import report
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import DynamoFleetTable, create_table
from tidegate.aws.heartbeats import DynamoHeartbeats
from tidegate.errors import Gone

pytestmark = pytest.mark.integration


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    with moto_over_http(monkeypatch) as made:
        yield made


async def test_a_heartbeat_is_what_the_controller_reads_until_it_expires(clients: AwsClients) -> None:
    create_table(clients.dynamodb(), "fleet")
    sink = await DynamoHeartbeats.connect("fleet")
    await sink.put("orders", report("w1", busy=1), expires_at_s=1_000.0)
    await sink.put("orders", report("w1", busy=3), expires_at_s=1_000.0)
    await sink.close()
    table = DynamoFleetTable(clients.dynamodb(), "fleet")
    assert table.workers("orders", now_s=999.0) == (report("w1", busy=3),)
    assert table.workers("orders", now_s=1_000.0) == ()
    assert table.workers("others", now_s=999.0) == ()


async def test_a_table_given_by_arn_is_written_to_in_its_own_region(clients: AwsClients) -> None:
    """TableName takes an ARN: docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html"""
    there = clients.dynamodb("us-east-2")
    create_table(there, "fleet")
    sink = await DynamoHeartbeats.connect("arn:aws:dynamodb:us-east-2:123456789012:table/fleet", region=REGION)
    await sink.put("orders", report("w1"), expires_at_s=1_000.0)
    await sink.close()
    assert DynamoFleetTable(there, "fleet").workers("orders", now_s=999.0) == (report("w1"),)


async def test_a_table_that_does_not_exist_is_gone(clients: AwsClients) -> None:
    sink = await DynamoHeartbeats.connect("nowhere")
    with pytest.raises(Gone, match="dynamodb:PutItem on table nowhere"):
        await sink.put("orders", report("w1"), expires_at_s=1_000.0)
    await sink.close()
