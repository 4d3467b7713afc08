"""A pool's permits in the fleet table, on aiobotocore; the item's shape is that of `fleet_items`."""

from botocore.exceptions import ClientError

from tidegate.aws import fleet_items
from tidegate.aws.aio_table import AioTable
from tidegate.aws.errors import calling, error_code
from tidegate.core.workers.permits import Permits
from tidegate.ports import StoredPermits

__all__ = ["DynamoPermits"]


class DynamoPermits(AioTable):
    """Implements `ports.PermitStore`; made by `connect`. IAM: dynamodb:GetItem, dynamodb:PutItem."""

    async def permits(self, pool: str) -> StoredPermits:
        """A consistent read: somebody may have written them a moment ago. Raises StateUnreadable."""
        with calling("dynamodb:GetItem", f"table {self._table}"):
            answer = await self._client.get_item(
                TableName=self._table, Key=fleet_items.permits_key(pool), ConsistentRead=True
            )
        return fleet_items.item_to_permits(pool, answer.get("Item"))

    async def replace(self, pool: str, permits: Permits, expected_version: int, expires_at_s: float) -> bool:
        """A conditional write."""
        item = fleet_items.permits_to_item(pool, permits, expected_version + 1, expires_at_s)
        with calling("dynamodb:PutItem", f"table {self._table}"):
            try:
                await self._client.put_item(
                    TableName=self._table, Item=item, **fleet_items.at_version(expected_version)
                )
            except ClientError as error:
                if error_code(error) != "ConditionalCheckFailedException":
                    raise
                return False
        return True
