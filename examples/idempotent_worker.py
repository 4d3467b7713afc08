"""A handler whose effect happens once, however often its message is delivered: aws-lambda-powertools' idempotency.

The table has the partition key `id` and the TTL attribute `expiration`. A second delivery of a message that was done is
answered from the table; one of a message that is being done elsewhere fails, and comes back after a backoff.
"""

import os
from typing import Any, cast

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)

from tidegate import Message, Worker


class Longest:
    """A charge takes a minute at most: one that its worker died of in the middle may be done anew after that."""

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


done = DynamoDBPersistenceLayer(table_name=os.environ.get("IDEMPOTENCY_TABLE", "idempotency"))
config = IdempotencyConfig(
    event_key_jmespath="payment_id",  # the business's own key: it outlives copies that a producer sent twice
    raise_on_no_idempotency_key=True,
    expires_after_seconds=14 * 86_400,  # as long as SQS may keep a message
)

config.register_lambda_context(cast(Any, Longest()))  # outside Lambda nobody else tells it


@idempotent_function(data_keyword_argument="payment", persistence_store=done, config=config)
def charge(payment: dict[str, object]) -> str:
    """The effect. What it returns is kept, and given to whoever comes again."""
    print("charged", payment["payment_id"], flush=True)
    return f"receipt of {payment['payment_id']}"


def handle(message: Message) -> None:
    charge(payment=message.json())


if __name__ == "__main__":
    Worker("payments", handle, slots=4).run()
