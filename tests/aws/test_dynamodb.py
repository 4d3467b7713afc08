"""The fleet table where it differs from the other stores: conditions, pages, TTL, permissions."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from tests.contract.fleet import report
from tidegate.aws import fleet_items
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import DynamoFleetTable, create_table
from tidegate.core.model import PoolState
from tidegate.errors import Denied, Gone, StateConflict, StateUnreadable


@pytest.fixture
def table(clients: AwsClients) -> DynamoFleetTable:
    create_table(clients.dynamodb(), "fleet")
    return DynamoFleetTable(clients.dynamodb(), "fleet")


class LosesTheAnswer:
    """A client whose PutItem goes through, but whose answer gets lost, so that botocore sends it again."""

    def __init__(self, client: Any, between: Callable[[], object]) -> None:
        self._client = client
        self._between = between

    def put_item(self, **request: Any) -> Any:
        self._client.put_item(**request)
        self._between()
        return self._client.put_item(**request)


def test_a_repeated_save_that_meets_its_own_first_write_is_no_conflict(
    clients: AwsClients, table: DynamoFleetTable
) -> None:
    """What a conditional check found is in the error:
    docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
    """
    lossy: Any = LosesTheAnswer(clients.dynamodb(), lambda: None)
    assert DynamoFleetTable(lossy, "fleet").save("mail", PoolState(desired=3), 0) == 1
    assert table.load("mail").version == 1


def test_a_repeated_save_that_meets_anothers_write_of_the_same_state_is_a_conflict(
    clients: AwsClients, table: DynamoFleetTable
) -> None:
    lossy: Any = LosesTheAnswer(clients.dynamodb(), lambda: table.save("mail", PoolState(desired=3), 1))
    with pytest.raises(StateConflict):
        DynamoFleetTable(lossy, "fleet").save("mail", PoolState(desired=3), 0)


def test_a_fleet_of_more_than_one_page_is_read_whole(clients: AwsClients, table: DynamoFleetTable) -> None:
    """A page holds 1 MB: docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html"""
    client, pages = clients.dynamodb(), []
    for i in range(12):
        wide = report(f"i-{i:02}", reason="x" * 200_000)
        client.put_item(TableName="fleet", Item=fleet_items.report_to_item("mail", wide, 1000.0))
    client.meta.events.register("before-call.dynamodb.Query", lambda **_: pages.append(1))
    assert [one.worker_id for one in table.workers("mail", 0.0)] == [f"i-{i:02}" for i in range(12)]
    assert len(pages) > 1


def test_a_damaged_report_is_named(clients: AwsClients, table: DynamoFleetTable) -> None:
    bad = {**fleet_items.report_to_item("mail", report("i-7"), 1000.0), "report": {"S": "{"}}
    clients.dynamodb().put_item(TableName="fleet", Item=bad)
    with pytest.raises(StateUnreadable, match="report of worker i-7 in pool mail"):
        table.workers("mail", 0.0)


def test_an_expired_report_can_be_as_damaged_as_it_likes(clients: AwsClients, table: DynamoFleetTable) -> None:
    bad = {**fleet_items.report_to_item("mail", report("i-7"), 1000.0), "report": {"S": "{"}}
    clients.dynamodb().put_item(TableName="fleet", Item=bad)
    assert table.workers("mail", 1000.0) == ()


def test_create_table_turns_on_demand_and_ttl_on(clients: AwsClients, table: DynamoFleetTable) -> None:
    client = clients.dynamodb()
    described = client.describe_table(TableName="fleet")["Table"]
    ttl = client.describe_time_to_live(TableName="fleet")["TimeToLiveDescription"]
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert (ttl["TimeToLiveStatus"], ttl["AttributeName"]) == ("ENABLED", "expires_at")


def test_create_table_leaves_a_table_that_is_there_alone(clients: AwsClients, table: DynamoFleetTable) -> None:
    table.save("mail", PoolState(desired=3), 0)
    create_table(clients.dynamodb(), "fleet")
    assert table.load("mail").state.desired == 3


@pytest.mark.parametrize(
    "call",
    [
        lambda table: table.load("mail"),
        lambda table: table.save("mail", PoolState(), 0),
        lambda table: table.workers("mail", 0.0),
    ],
)
def test_a_missing_table_is_gone_and_named(clients: AwsClients, call: Callable[[DynamoFleetTable], object]) -> None:
    with pytest.raises(Gone, match="on table nowhere found nothing"):
        call(DynamoFleetTable(clients.dynamodb(), "nowhere"))


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("GetItem", lambda table: table.load("mail")),
        ("PutItem", lambda table: table.save("mail", PoolState(), 0)),
        ("Query", lambda table: table.workers("mail", 0.0)),
    ],
)
def test_a_denial_names_the_action(
    clients: AwsClients, operation: str, call: Callable[[DynamoFleetTable], object]
) -> None:
    client = clients.dynamodb()
    method = {"GetItem": "get_item", "PutItem": "put_item", "Query": "query"}[operation]
    with Stubber(client) as stub:
        stub.add_client_error(method, "AccessDeniedException", "no", 400)
        with pytest.raises(Denied, match=f"allow dynamodb:{operation} on table fleet") as caught:
            call(DynamoFleetTable(client, "fleet"))
    assert isinstance(caught.value.__cause__, ClientError)


def test_state_is_read_consistently(clients: AwsClients, table: DynamoFleetTable) -> None:
    """An eventually consistent read could return an older version, and every save after it would conflict:
    docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
    """
    client = clients.dynamodb()
    with Stubber(client) as stub:
        request = {"TableName": "fleet", "Key": fleet_items.state_key("mail"), "ConsistentRead": True}
        stub.add_response("get_item", {}, request)
        assert DynamoFleetTable(client, "fleet").load("mail").version == 0
