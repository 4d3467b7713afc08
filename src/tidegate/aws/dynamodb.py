"""The fleet table: pool states under a version, workers' heartbeats and directives, in one DynamoDB table."""

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tidegate.aws import fleet_items
from tidegate.aws.errors import calling, error_code
from tidegate.core.directive import Directive
from tidegate.core.model import PoolState
from tidegate.core.reports import WorkerReport
from tidegate.errors import StateConflict
from tidegate.ports import StoredState

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

__all__ = ["DynamoFleetTable", "create_table"]


class DynamoFleetTable:
    """Implements `ports.StateStore`, `FleetReader` and `DirectiveWriter` on one table (items: `fleet_items`).

    `new_token` gives a text that no other save ever had. IAM: dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query.
    """

    def __init__(
        self, client: "DynamoDBClient", table: str, new_token: Callable[[], str] = lambda: uuid.uuid4().hex
    ) -> None:
        self._client = client
        self._table = table
        self._new_token = new_token

    def load(self, pool: str) -> StoredState:
        """A consistent read. Raises StateUnreadable; Gone when there is no table; Denied, Throttled, Unreachable."""
        with calling("dynamodb:GetItem", self._resource):
            answer = self._client.get_item(TableName=self._table, Key=fleet_items.state_key(pool), ConsistentRead=True)
        item = answer.get("Item")
        return fleet_items.item_to_state(pool, item) if item else StoredState()

    def save(self, pool: str, state: PoolState, expected_version: int) -> int:
        """Write under the condition that the stored version is still `expected_version`; the new version.

        Raises StateConflict when it is not, and as `load`.
        """
        item = fleet_items.state_to_item(pool, state, expected_version + 1, self._new_token())
        with calling("dynamodb:PutItem", self._resource):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item=item,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **fleet_items.at_version(expected_version),
                )
            except ClientError as error:
                if error_code(error) != "ConditionalCheckFailedException":
                    raise
                # A call whose answer got lost was repeated by botocore and met its own first write.
                answer: dict[str, Any] = {**error.response}  # the stubs don't know of the item in it
                if not fleet_items.same_save(answer.get("Item"), item):
                    raise StateConflict(pool, expected_version) from error
        return expected_version + 1

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        """An eventually consistent read (half the price; a second old at most, where heartbeats are ten apart).

        Raises StateUnreadable when any report is damaged or of another schema: see `fleet_items` for why none is
        skipped. Otherwise as `load`.
        """
        with calling("dynamodb:Query", self._resource):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="#pk = :workers AND begins_with(#sk, :worker)",
                ExpressionAttributeNames={"#pk": fleet_items.PARTITION_KEY, "#sk": fleet_items.SORT_KEY},
                ExpressionAttributeValues={
                    ":workers": {"S": fleet_items.workers_key(pool)},
                    ":worker": {"S": fleet_items.WORKER_PREFIX},
                },
            )
            items = [item for page in pages for item in page["Items"]]
        live = (item for item in items if fleet_items.report_expiry_s(item) > now_s)
        return tuple(fleet_items.item_to_report(item) for item in live)

    def direct(self, pool: str, directive: Directive) -> None:
        """The newest directive replaces the one before. Raises as `load`, but for StateUnreadable."""
        with calling("dynamodb:PutItem", self._resource):
            self._client.put_item(TableName=self._table, Item=fleet_items.directive_to_item(pool, directive))

    @property
    def _resource(self) -> str:
        return f"table {self._table}"


def create_table(client: "DynamoDBClient", table: str) -> None:
    """Make the table (on demand, TTL on) and wait until it can be used; nothing is changed where it is there.

    For the sandbox and for trying things out: in an account, the Terraform module or the CDK construct makes it.
    """
    with calling("dynamodb:CreateTable", f"table {table}"):
        try:
            client.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[
                    {"AttributeName": fleet_items.PARTITION_KEY, "AttributeType": "S"},
                    {"AttributeName": fleet_items.SORT_KEY, "AttributeType": "S"},
                ],
                KeySchema=[
                    {"AttributeName": fleet_items.PARTITION_KEY, "KeyType": "HASH"},
                    {"AttributeName": fleet_items.SORT_KEY, "KeyType": "RANGE"},
                ],
            )
        except ClientError as error:
            if error_code(error) != "ResourceInUseException":
                raise
    with calling("dynamodb:DescribeTable", f"table {table}"):
        client.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 2, "MaxAttempts": 30})
    _turn_ttl_on(client, table)


def _turn_ttl_on(client: "DynamoDBClient", table: str) -> None:
    """Asks first: UpdateTimeToLive is refused where TTL is already on."""
    with calling("dynamodb:DescribeTimeToLive", f"table {table}"):
        status = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"].get("TimeToLiveStatus")
    if status in ("ENABLED", "ENABLING"):
        return
    with calling("dynamodb:UpdateTimeToLive", f"table {table}"):
        client.update_time_to_live(
            TableName=table,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": fleet_items.TTL_ATTRIBUTE},
        )
