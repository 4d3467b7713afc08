"""The operations on messages: send, receive, delete, change visibility; one or a batch.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html
"""

from tidegate.sandbox.sqs.call import Action, Answer, Call
from tidegate.sandbox.sqs.drafts import draft_of
from tidegate.sandbox.sqs.faults import Code, Refusal
from tidegate.sandbox.sqs.model import Draft, Message
from tidegate.sandbox.sqs.params import Params, each_entry
from tidegate.sandbox.sqs.polls import Ask
from tidegate.sandbox.sqs.queue import LONGEST_LEASE_S, Queue
from tidegate.sandbox.sqs.receiving import as_json
from tidegate.sandbox.sqs.settings import MAX_MESSAGE_BYTES

__all__ = ["MESSAGE_ACTIONS", "receive_message"]

_MOST_RECEIVED = 10
_LONGEST_WAIT_S = 20


async def receive_message(call: Call) -> Answer:
    """The only operation that waits. Without messages the answer has no `Messages` at all, as SQS's."""
    queue, params = call.queue(), call.params
    limit = params.optional_number("MaxNumberOfMessages", 1, _MOST_RECEIVED) or 1
    wait_s = params.optional_number("WaitTimeSeconds", 0, _LONGEST_WAIT_S)
    wait_s = queue.settings.receive_wait_s if wait_s is None else wait_s
    visibility_s = params.optional_number("VisibilityTimeout", 0, LONGEST_LEASE_S)
    _refuse_when_full(call, queue, wait_s)

    def take() -> list[Message]:
        chosen_s = queue.settings.visibility_timeout_s if visibility_s is None else visibility_s
        return call.service.take(queue, limit, chosen_s)

    messages = await call.polls.receive(queue, Ask(take, call.hung_up, wait_s))
    if not messages:
        queue.totals.empty_receives += 1
        return {}
    system_names = params.names("MessageSystemAttributeNames") + params.names("AttributeNames")
    names = params.names("MessageAttributeNames")
    return {"Messages": [as_json(message, queue.handle(message), system_names, names) for message in messages]}


def _refuse_when_full(call: Call, queue: Queue, wait_s: int) -> None:
    """Only a short poll of a standard queue is told; a long poll and a FIFO queue just give nothing.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""
    queue.advance(call.service.now())
    if queue.full and not wait_s and not queue.settings.fifo:
        raise Refusal(Code.OVER_LIMIT, "Too many messages in flight.")


def _send_message(call: Call) -> Answer:
    queue = call.queue()
    answer = _send(call, queue, draft_of(call.params, queue.settings))
    call.service.touched(queue)
    return answer


def _send_message_batch(call: Call) -> Answer:
    queue = call.queue()
    entries = call.params.entries("SendMessageBatchRequestEntry")
    drafts: dict[str, Draft] = {}

    def check(entry: Params) -> Answer:
        drafts[entry.text("Id")] = draft_of(entry, queue.settings)
        return {}

    def send(entry: Params) -> Answer:
        return _send(call, queue, drafts[entry.text("Id")])

    refused = each_entry(entries, check).get("Failed", [])
    size_bytes = sum(draft.size_bytes for draft in drafts.values())
    if size_bytes > MAX_MESSAGE_BYTES:
        text = f"Batch requests cannot be longer than {MAX_MESSAGE_BYTES} bytes. You have sent {size_bytes} bytes."
        raise Refusal(Code.BATCH_REQUEST_TOO_LONG, text)
    answer = each_entry([entry for entry in entries if entry.text("Id") in drafts], send)
    call.service.touched(queue)
    return {**answer, "Failed": refused} if refused else answer


def _send(call: Call, queue: Queue, draft: Draft) -> Answer:
    sent = queue.send(draft, call.service.now())
    answer = {"MessageId": sent.message_id, "MD5OfMessageBody": draft.md5_of_body}
    if draft.md5_of_attributes:
        answer["MD5OfMessageAttributes"] = draft.md5_of_attributes
    if draft.md5_of_system_attributes:
        answer["MD5OfMessageSystemAttributes"] = draft.md5_of_system_attributes
    if sent.sequence:
        answer["SequenceNumber"] = sent.sequence
    return answer


def _delete_message(call: Call) -> Answer:
    queue = call.queue()
    queue.delete(call.params.text("ReceiptHandle"), call.service.now())
    call.service.touched(queue)
    return {}


def _delete_message_batch(call: Call) -> Answer:
    queue, now_s = call.queue(), call.service.now()

    def delete(entry: Params) -> Answer:
        queue.delete(entry.text("ReceiptHandle"), now_s)
        return {}

    answer = each_entry(call.params.entries("DeleteMessageBatchRequestEntry"), delete)
    call.service.touched(queue)
    return answer


def _change_message_visibility(call: Call) -> Answer:
    queue = call.queue()
    _change(call, queue, call.params, call.params.number("VisibilityTimeout", 0, LONGEST_LEASE_S))
    call.service.touched(queue)
    return {}


def _change_message_visibility_batch(call: Call) -> Answer:
    queue = call.queue()

    def change(entry: Params) -> Answer:
        # Optional in a batch entry only; left out it means 0. Unverified.
        _change(call, queue, entry, entry.optional_number("VisibilityTimeout", 0, LONGEST_LEASE_S) or 0)
        return {}

    answer = each_entry(call.params.entries("ChangeMessageVisibilityBatchRequestEntry"), change)
    call.service.touched(queue)
    return answer


def _change(call: Call, queue: Queue, params: Params, timeout_s: int) -> None:
    queue.change_visibility(params.text("ReceiptHandle"), timeout_s, call.service.now())


MESSAGE_ACTIONS: dict[str, Action] = {
    "ChangeMessageVisibility": _change_message_visibility,
    "ChangeMessageVisibilityBatch": _change_message_visibility_batch,
    "DeleteMessage": _delete_message,
    "DeleteMessageBatch": _delete_message_batch,
    "SendMessage": _send_message,
    "SendMessageBatch": _send_message_batch,
}
