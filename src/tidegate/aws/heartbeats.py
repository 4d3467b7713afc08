"""A worker's heartbeat into the fleet table and what comes back, on aiobotocore; `fleet_items` has the items' shape."""

from tidegate.aws.aio_table import AioTable
from tidegate.aws.errors import calling
from tidegate.aws.fleet_items import directive_key, item_to_directive, report_to_item
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport

__all__ = ["DynamoHeartbeats"]


class DynamoHeartbeats(AioTable):
    """Implements `ports.HeartbeatSink`; made by `connect`. IAM: dynamodb:PutItem, dynamodb:GetItem."""

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
