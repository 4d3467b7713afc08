"""A worker's heartbeat into the fleet table and what comes back, on aiobotocore; `fleet_items` has the items' shape."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from tidegate.aws.aio import QUICK_CONFIG, open_client, session
from tidegate.aws.errors import calling
from tidegate.aws.fleet_items import directive_key, item_to_directive, report_to_item
from tidegate.core.arns import region_in
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

__all__ = ["DynamoHeartbeats"]


class DynamoHeartbeats:
    """Implements `ports.HeartbeatSink`; made by `connect`. IAM: dynamodb:PutItem, dynamodb:GetItem."""

    def __init__(self, table: str, client: "DynamoDBClient", stack: AsyncExitStack) -> None:
        self._table = table
        self._client = client
        self._stack = stack

    @classmethod
    async def connect(cls, table: str, *, region: str | None = None) -> Self:
        """`table` is a name or an ARN; the Region that an ARN names wins over `region`.

        Asks nothing of AWS yet. Raises Invalid when there is no Region or the endpoint is no URL.
        """
        async with AsyncExitStack() as stack:
            client = await open_client(stack, session(), "dynamodb", region_in(table) or region, QUICK_CONFIG)
            return cls(table, client, stack.pop_all())

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        """The worker's newest report replaces the one before."""
        item = report_to_item(pool, report, expires_at_s)
        with calling("dynamodb:PutItem", f"table {self._table}"):
            await self._client.put_item(TableName=self._table, Item=item)

    async def directive(self, pool: str) -> Directive:
        """An eventually consistent read (half the price), empty where none was written. Raises StateUnreadable."""
        with calling("dynamodb:GetItem", f"table {self._table}"):
            answer = await self._client.get_item(TableName=self._table, Key=directive_key(pool))
        return item_to_directive(pool, answer.get("Item"))

    async def close(self) -> None:
        """Closes the connection pool."""
        await self._stack.aclose()
