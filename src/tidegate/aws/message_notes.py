"""Notes of messages in the fleet table, on aiobotocore; the items' shape is that of `fleet_items`."""

from typing import Any

from botocore.exceptions import ClientError

from tidegate.aws import fleet_items
from tidegate.aws.aio_table import AioTable
from tidegate.aws.errors import calling, error_code
from tidegate.core.workers.poison import MessageNote

__all__ = ["DynamoMessageNotes"]


class DynamoMessageNotes(AioTable):
    """Implements `ports.MessageNotes`; made by `connect`. IAM: dynamodb:GetItem, dynamodb:UpdateItem."""

    async def note(self, pool: str, message_id: str) -> MessageNote:
        """A consistent read: the note may have been written a moment ago. Raises StateUnreadable."""
        key = fleet_items.note_key(pool, message_id)
        with calling("dynamodb:GetItem", f"table {self._table}"):
            answer = await self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return fleet_items.item_to_note(pool, message_id, answer.get("Item"))

    async def begins_alone(self, pool: str, message_id: str, receive: int, worker_id: str, expires_at_s: float) -> None:
        """Changes nothing when a newer receive is noted."""
        await self._update(pool, message_id, fleet_items.note_begins_alone(receive, worker_id, expires_at_s))

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        """Changes nothing when a newer receive is noted."""
        await self._update(pool, message_id, fleet_items.note_ended(receive, expires_at_s, spared=spared))

    async def _update(self, pool: str, message_id: str, change: dict[str, Any]) -> None:
        key = fleet_items.note_key(pool, message_id)
        with calling("dynamodb:UpdateItem", f"table {self._table}"):
            try:
                await self._client.update_item(TableName=self._table, Key=key, **change)
            except ClientError as error:
                if error_code(error) != "ConditionalCheckFailedException":
                    raise
