"""The worker's heartbeat in the fleet table, as the controller's own adapter reads it back."""

from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer

from tests.aws.moto_cloud import REGION, use_test_account
from tests.contract.fleet import report
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import DynamoFleetTable, create_table
from tidegate.aws.heartbeats import DynamoHeartbeats
from tidegate.errors import Gone

pytestmark = pytest.mark.integration


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    use_test_account(monkeypatch)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    yield AwsClients(REGION)
    server.stop()


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
