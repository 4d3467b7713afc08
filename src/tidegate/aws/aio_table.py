"""The fleet table as a worker reaches it: one table, one aiobotocore client."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from tidegate.aws.aio import QUICK_CONFIG, open_client, session
from tidegate.core.notation.arns import region_in

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient

__all__ = ["AioTable"]


class AioTable:
    """Made by `connect`; `close` ends its connections."""

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

    async def close(self) -> None:
        """Closes the connection pool."""
        await self._stack.aclose()
