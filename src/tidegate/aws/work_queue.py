"""One SQS queue as a worker uses it, on aiobotocore.

Polls and everything else have a client, hence a connection pool, each: a worker whose polls wait for 20 s must not find
that no connection is left to keep a lease or to delete.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from tidegate.aws.aio import QUICK_CONFIG, open_client, poll_config, session
from tidegate.aws.errors import calling
from tidegate.aws.queues import queue_address, url_request
from tidegate.core.queues import QueueAddress
from tidegate.errors import CloudError
from tidegate.ports import EntryFailure, Received, VisibilityChange

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient
    from types_aiobotocore_sqs.type_defs import MessageTypeDef

__all__ = ["SqsWorkQueue"]

T = TypeVar("T")

_BATCH: Final = 10
"""Ten entries a call: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessageBatch.html"""


class SqsWorkQueue:
    """Implements `ports.WorkQueue`; made by `connect`.

    IAM: sqs:ReceiveMessage, sqs:DeleteMessage, sqs:ChangeMessageVisibility, sqs:GetQueueAttributes (unless a
    visibility timeout is given), sqs:GetQueueUrl (unless the queue is given by URL).
    """

    def __init__(
        self,
        queue: str,
        url: str,
        polls: "SQSClient",
        rest: "SQSClient",
        visibility_s: int | None,
        stack: AsyncExitStack,
    ) -> None:
        self._queue = queue
        self._url = url
        self._polls = polls
        self._rest = rest
        self._visibility: dict[str, Any] = {} if visibility_s is None else {"VisibilityTimeout": visibility_s}
        self._stack = stack

    @classmethod
    async def connect(
        cls, queue: str, *, region: str | None = None, poll_wait_s: int = 20, visibility_s: int | None = None
    ) -> Self:
        """`queue` is a URL, an ARN or a name; the Region that it names wins over `region`.

        `visibility_s` makes each receive ask for that lease instead of the queue's own. `poll_wait_s` is the longest
        wait that will be asked for. Raises Gone when the queue does not exist, Denied, Throttled, Unreachable, Invalid.
        """
        address = queue_address(queue)
        async with AsyncExitStack() as stack:
            aws = session()
            where = address.region or region
            polls = await open_client(stack, aws, "sqs", where, poll_config(poll_wait_s))
            rest = await open_client(stack, aws, "sqs", where, QUICK_CONFIG)
            return cls(queue, await _url(rest, queue, address), polls, rest, visibility_s, stack.pop_all())

    async def visibility_timeout_s(self) -> int:
        """The lease that a receive gives: the one asked for, or the queue's own. Raises Gone, Denied and the like."""
        if self._visibility:
            return int(self._visibility["VisibilityTimeout"])
        with calling("sqs:GetQueueAttributes", self._queue):
            answer = await self._rest.get_queue_attributes(QueueUrl=self._url, AttributeNames=["VisibilityTimeout"])
        return int(answer["Attributes"]["VisibilityTimeout"])

    async def receive(self, limit: int, wait_s: int) -> list[Received]:
        """Up to `limit` (1 to 10) messages, waiting up to `wait_s` (0 to 20) for the first."""
        with calling("sqs:ReceiveMessage", self._queue):
            answer = await self._polls.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=limit,
                WaitTimeSeconds=wait_s,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
                **self._visibility,
            )
        return [_received(message) for message in answer.get("Messages", [])]

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
        """The entries that failed. Raises when every call failed; a failed call among others fails its entries."""

        async def call(entries: list[tuple[str, str]]) -> Any:
            with calling("sqs:DeleteMessageBatch", self._queue):
                return await self._rest.delete_message_batch(
                    QueueUrl=self._url, Entries=[{"Id": id_, "ReceiptHandle": handle} for id_, handle in entries]
                )

        return await _in_tens(receipt_handles, call)

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]:
        """The entries that failed. Raises when every call failed; a failed call among others fails its entries."""

        async def call(entries: list[tuple[str, VisibilityChange]]) -> Any:
            with calling("sqs:ChangeMessageVisibilityBatch", self._queue):
                return await self._rest.change_message_visibility_batch(
                    QueueUrl=self._url,
                    Entries=[
                        {"Id": id_, "ReceiptHandle": change.receipt_handle, "VisibilityTimeout": change.timeout_s}
                        for id_, change in entries
                    ],
                )

        return await _in_tens(changes, call)

    async def close(self) -> None:
        """Closes both connection pools."""
        await self._stack.aclose()


async def _url(client: "SQSClient", queue: str, address: QueueAddress) -> str:
    if address.url is not None:
        return address.url
    with calling("sqs:GetQueueUrl", queue):
        return (await client.get_queue_url(**url_request(address)))["QueueUrl"]


def _received(message: "MessageTypeDef") -> Received:
    return Received(
        message_id=message["MessageId"],
        receipt_handle=message["ReceiptHandle"],
        body=message.get("Body", ""),
        attributes={str(name): value for name, value in message.get("Attributes", {}).items()},
        message_attributes={name: dict(value) for name, value in message.get("MessageAttributes", {}).items()},
    )


async def _in_tens(
    entries: Sequence[T], call: Callable[[list[tuple[str, T]]], Awaitable[dict[str, Any]]]
) -> list[EntryFailure]:
    """One call per ten entries, all at once. An entry's id is its index: two copies of a message share a MessageId.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibilityBatch.html
    (BatchEntryIdsNotDistinct; results are per entry even when the call answers 200)
    """
    numbered = [(str(index), entry) for index, entry in enumerate(entries)]
    chunks = [numbered[start : start + _BATCH] for start in range(0, len(numbered), _BATCH)]
    answers = await asyncio.gather(*(_answer(call, chunk) for chunk in chunks))
    errors = [answer for answer in answers if isinstance(answer, CloudError)]
    if errors and len(errors) == len(chunks):
        raise errors[0]
    return [failure for chunk, answer in zip(chunks, answers, strict=True) for failure in _failures(chunk, answer)]


async def _answer(
    call: Callable[[list[tuple[str, T]]], Awaitable[dict[str, Any]]], chunk: list[tuple[str, T]]
) -> dict[str, Any] | CloudError:
    try:
        return await call(chunk)
    except CloudError as error:
        return error


def _failures(chunk: list[tuple[str, T]], answer: dict[str, Any] | CloudError) -> list[EntryFailure]:
    if isinstance(answer, CloudError):
        return [EntryFailure(int(id_), type(answer).__name__, str(answer), False) for id_, _ in chunk]
    return [
        EntryFailure(int(failed["Id"]), failed["Code"], failed.get("Message", ""), failed["SenderFault"])
        for failed in answer.get("Failed", [])
    ]
