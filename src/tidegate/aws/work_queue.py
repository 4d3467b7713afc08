"""One SQS queue as a worker uses it, on aiobotocore.

Polls and everything else have a client, hence a connection pool, each: a worker whose polls wait for 20 s must not find
that no connection is left to keep a lease or to delete.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Self, TypeVar

from tidegate.aws.aio import QUICK_CONFIG, open_client, poll_config, session
from tidegate.aws.dead_letters import DeadLetters
from tidegate.aws.errors import calling
from tidegate.aws.queues import queue_address, url_request
from tidegate.aws.short_way import shorten
from tidegate.core.notation.queues import QueueAddress
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.errors import CloudError
from tidegate.ports import EntryFailure, Received, VisibilityChange

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient
    from types_aiobotocore_sqs.type_defs import (
        ChangeMessageVisibilityBatchRequestEntryTypeDef,
        ChangeMessageVisibilityBatchResultTypeDef,
        DeleteMessageBatchRequestEntryTypeDef,
        DeleteMessageBatchResultTypeDef,
        MessageTypeDef,
    )

__all__ = ["SqsWorkQueue"]

T = TypeVar("T")
_Failure = tuple[str, str, bool]
_Verdicts = dict[str, _Failure | None]

_UNANSWERED: Final[_Failure] = ("NoResult", "the answer says nothing of this entry", False)
_NUMBERS: Final = frozenset({"ApproximateReceiveCount", "SentTimestamp"})
"""Attributes that the worker reckons with."""

_BATCH: Final = 10
"""Ten entries a call: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessageBatch.html"""


class SqsWorkQueue:
    """Implements `ports.WorkQueue`; made by `connect`.

    IAM: sqs:ReceiveMessage, sqs:DeleteMessage, sqs:ChangeMessageVisibility, sqs:GetQueueAttributes (for
    `visibility_timeout_s`), sqs:GetQueueUrl (unless the queue is given by URL); for `dead_letter` see `DeadLetters`.

    A queue given by name or ARN is looked up once, by whichever call comes first. Each method raises Gone when the
    queue does not exist, Denied, Throttled, Unreachable, Invalid.
    """

    def __init__(
        self,
        queue: str,
        address: QueueAddress,
        polls: "SQSClient",
        rest: "SQSClient",
        stack: AsyncExitStack,
        dead_letter_queue: str | None,
    ) -> None:
        self._queue = queue
        self._address = address
        self._known_url = address.url
        self._polls = polls
        self._rest = rest
        self._stack = stack
        self._dead_letters = DeadLetters(rest, queue, self._url, dead_letter_queue)

    @classmethod
    async def connect(
        cls,
        queue: str,
        *,
        region: str | None = None,
        poll_wait_s: int = 20,
        dead_letter_queue: str | None = None,
        wall: Callable[[], float] = time.time,
    ) -> Self:
        """`queue` is a URL, an ARN or a name; the Region that it names wins over `region`.

        `poll_wait_s` is the longest wait that will be asked for; `dead_letter_queue` stands in for the one of the
        queue's redrive policy. Asks nothing of AWS yet. Raises Invalid when there is
        no Region or the endpoint is no URL.
        """
        address = queue_address(queue)
        async with AsyncExitStack() as stack:
            aws = session()
            where = address.region or region
            polls = await open_client(stack, aws, "sqs", where, poll_config(poll_wait_s))
            rest = await open_client(stack, aws, "sqs", where, QUICK_CONFIG)
            shorten(polls, aws, ["ReceiveMessage"], again=False, wall=wall)
            shorten(rest, aws, ["DeleteMessageBatch", "ChangeMessageVisibilityBatch"], again=True, wall=wall)
            return cls(queue, address, polls, rest, stack.pop_all(), dead_letter_queue)

    async def visibility_timeout_s(self) -> int:
        """The queue's own default."""
        url = await self._url()
        with calling("sqs:GetQueueAttributes", self._queue):
            answer = await self._rest.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
            return _timeout_s(answer["Attributes"]["VisibilityTimeout"])

    async def max_receives(self) -> int | None:
        """The redrive policy's maxReceiveCount: a message that is received more often is moved unseen.

        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
        """
        url = await self._url()
        with calling("sqs:GetQueueAttributes", self._queue):
            answer = await self._rest.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
            policy = answer.get("Attributes", {}).get("RedrivePolicy")
            return None if policy is None else int(json.loads(policy)["maxReceiveCount"])

    async def backlog(self) -> int:
        """ApproximateNumberOfMessages."""
        url = await self._url()
        with calling("sqs:GetQueueAttributes", self._queue):
            answer = await self._rest.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
            return int(answer["Attributes"]["ApproximateNumberOfMessages"])

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        """Up to `limit` (1 to 10) messages, waiting up to `wait_s` (0 to 20) for the first, leased for `visibility_s`.

        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
        """
        url = await self._url()
        with calling("sqs:ReceiveMessage", self._queue):
            answer = await self._polls.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=limit,
                WaitTimeSeconds=wait_s,
                VisibilityTimeout=visibility_s,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
            return [_received(message) for message in answer.get("Messages", [])]

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
        """The entries that failed. Raises when every call failed; a failed call among others fails its entries."""

        url = await self._url()

        async def call(entries: list[tuple[str, str]]) -> _Verdicts:
            batch: list[DeleteMessageBatchRequestEntryTypeDef] = [
                {"Id": id_, "ReceiptHandle": handle} for id_, handle in entries
            ]
            with calling("sqs:DeleteMessageBatch", self._queue):
                return _verdicts(await self._rest.delete_message_batch(QueueUrl=url, Entries=batch))

        return await _in_tens(receipt_handles, call)

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]:
        """The entries that failed. Raises when every call failed; a failed call among others fails its entries."""

        url = await self._url()

        async def call(entries: list[tuple[str, VisibilityChange]]) -> _Verdicts:
            batch: list[ChangeMessageVisibilityBatchRequestEntryTypeDef] = [
                {"Id": id_, "ReceiptHandle": change.receipt_handle, "VisibilityTimeout": change.timeout_s}
                for id_, change in entries
            ]
            with calling("sqs:ChangeMessageVisibilityBatch", self._queue):
                return _verdicts(await self._rest.change_message_visibility_batch(QueueUrl=url, Entries=batch))

        return await _in_tens(changes, call)

    async def dead_letter(self, received: Received, reason: str) -> None:
        """A copy of the message into the dead-letter queue. Raises Gone when there is none."""
        await self._dead_letters.put(received, reason)

    async def close(self) -> None:
        """Closes both connection pools."""
        await self._stack.aclose()

    async def _url(self) -> str:
        if self._known_url is None:
            request = url_request(self._address)
            with calling("sqs:GetQueueUrl", self._queue):
                self._known_url = (await self._rest.get_queue_url(**request))["QueueUrl"]
        return self._known_url


def _timeout_s(text: str) -> int:
    timeout_s = int(text)
    if not 0 <= timeout_s <= LONGEST_LEASE_S:
        raise ValueError("no visibility timeout of SQS's")
    return timeout_s


def _received(message: "MessageTypeDef") -> Received:
    """Raises ValueError or KeyError where the message is not as SQS makes them."""
    attributes = {str(name): value for name, value in message.get("Attributes", {}).items()}
    for name in _NUMBERS & attributes.keys():
        int(attributes[name])
    message_id, receipt_handle, body = message["MessageId"], message["ReceiptHandle"], message.get("Body", "")
    if {type(message_id), type(receipt_handle), type(body)} != {str}:
        raise ValueError("not the texts that SQS gives")
    return Received(
        message_id=message_id,
        receipt_handle=receipt_handle,
        body=body,
        attributes=attributes,
        message_attributes={name: dict(value) for name, value in message.get("MessageAttributes", {}).items()},
    )


async def _in_tens(
    entries: Sequence[T], call: Callable[[list[tuple[str, T]]], Awaitable[_Verdicts]]
) -> list[EntryFailure]:
    """One call per ten entries, all at once. An entry's id is its index: two copies of a message share a MessageId.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibilityBatch.html
    (BatchEntryIdsNotDistinct; results are per entry even when the call answers 200)
    """
    numbered = [(str(index), entry) for index, entry in enumerate(entries)]
    chunks = [numbered[start : start + _BATCH] for start in range(0, len(numbered), _BATCH)]
    if len(chunks) == 1:  # nearly always: a task more, and that for each call, is a tenth of what it costs
        return _failures(numbered, await call(numbered))
    answers = await asyncio.gather(*(_answer(call, chunk) for chunk in chunks))
    errors = [answer for answer in answers if isinstance(answer, CloudError)]
    if errors and len(errors) == len(chunks):
        raise errors[0]
    return [failure for chunk, answer in zip(chunks, answers, strict=True) for failure in _failures(chunk, answer)]


async def _answer(
    call: Callable[[list[tuple[str, T]]], Awaitable[_Verdicts]], chunk: list[tuple[str, T]]
) -> _Verdicts | CloudError:
    try:
        return await call(chunk)
    except CloudError as error:
        return error


def _verdicts(answer: "DeleteMessageBatchResultTypeDef | ChangeMessageVisibilityBatchResultTypeDef") -> _Verdicts:
    """What the answer says of each entry's id: None, it succeeded, or how it failed."""
    return {done["Id"]: None for done in answer.get("Successful", [])} | {
        failed["Id"]: (failed["Code"], failed.get("Message", ""), failed.get("SenderFault", False))
        for failed in answer.get("Failed", [])
    }


def _failures(chunk: list[tuple[str, T]], verdicts: _Verdicts | CloudError) -> list[EntryFailure]:
    """An entry of which the answer says nothing has failed too: nobody has said that it succeeded."""
    if isinstance(verdicts, CloudError):
        return [EntryFailure(int(id_), type(verdicts).__name__, str(verdicts), False) for id_, _ in chunk]
    found = [(int(id_), verdicts.get(id_, _UNANSWERED)) for id_, _ in chunk]
    return [EntryFailure(index, *failure) for index, failure in found if failure is not None]
