"""moto's DynamoDB, one write at a time, as conditional writes are in AWS.

moto looks at the condition, then writes, and serves each request in a thread of its own: of five writers that expect
the same version, two win now and then. In AWS "individual write operations such as UpdateItem are atomic and always
operate on the most recent version of the item, regardless of concurrency":
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/BestPractices_ImplementingVersionControl.html
"""

import threading
from typing import Any

from moto.dynamodb import urls
from moto.dynamodb.models import DynamoDBBackend

__all__ = ["SerialDynamoDB"]


class SerialDynamoDB(DynamoDBBackend):
    """One lock for all tables: a sandbox has few writers."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._writing = threading.RLock()

    @property
    def _url_module(self) -> Any:
        return urls  # moto looks for it next to this class's own module

    # `Any`: moto's signatures are long and change with its versions; nothing is looked at here.
    def put_item(self, *args: Any, **kwargs: Any) -> Any:
        with self._writing:
            return super().put_item(*args, **kwargs)

    def update_item(self, *args: Any, **kwargs: Any) -> Any:
        with self._writing:
            return super().update_item(*args, **kwargs)

    def delete_item(self, *args: Any, **kwargs: Any) -> Any:
        with self._writing:
            return super().delete_item(*args, **kwargs)

    def transact_write_items(self, *args: Any, **kwargs: Any) -> Any:
        with self._writing:
            return super().transact_write_items(*args, **kwargs)
