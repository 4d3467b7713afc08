"""The operations on queues: create, find, describe, set, purge, delete, tag.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html
"""

from tidegate.sandbox.sqs.call import Action, Answer, Call
from tidegate.sandbox.sqs.faults import Code, Refusal
from tidegate.sandbox.sqs.settings import KNOWN_ATTRIBUTES

__all__ = ["QUEUE_ACTIONS"]

_MOST_LISTED = 1_000


def _create_queue(call: Call) -> Answer:
    name = call.params.text("QueueName")
    attributes = {key: str(value) for key, value in call.params.mapping("Attributes").items()}
    call.service.create(name, attributes, call.params.mapping("tags"))
    return {"QueueUrl": call.url(name)}


def _delete_queue(call: Call) -> Answer:
    call.polls.dismiss(call.service.delete(call.queue_name()))
    return {}


def _get_queue_url(call: Call) -> Answer:
    name = call.params.text("QueueName")
    call.service.entry(name)
    return {"QueueUrl": call.url(name)}


def _list_queues(call: Call) -> Answer:
    prefix = call.params.optional_text("QueueNamePrefix") or ""
    return _page(call, [name for name in call.service.names() if name.startswith(prefix)], "QueueUrls")


def _list_dead_letter_source_queues(call: Call) -> Answer:
    # The lower-case key is AWS's own: the model names this list "queueUrls".
    return {"queueUrls": [], **_page(call, call.service.sources_of(call.queue()), "queueUrls")}


def _page(call: Call, names: list[str], key: str) -> Answer:
    """A page of URLs; the token is the last name of the page before. Without MaxResults: the first thousand."""
    most = call.params.optional_number("MaxResults", 1, _MOST_LISTED)
    token = call.params.optional_text("NextToken") or ""
    rest = [name for name in names if name > token]
    page = rest[: most or _MOST_LISTED]
    answer: Answer = {key: [call.url(name) for name in page]} if page else {}
    if most and len(rest) > most:
        answer["NextToken"] = page[-1]
    return answer


def _get_queue_attributes(call: Call) -> Answer:
    names = call.params.names("AttributeNames")
    known = call.service.attributes(call.queue_name())
    for name in names:
        if name != "All" and name not in KNOWN_ATTRIBUTES:
            raise Refusal(Code.INVALID_ATTRIBUTE_NAME, f"Unknown Attribute {name}.")
    chosen = {name: value for name, value in known.items() if "All" in names or name in names}
    return {"Attributes": chosen} if chosen else {}


def _set_queue_attributes(call: Call) -> Answer:
    attributes = {key: str(value) for key, value in call.params.mapping("Attributes").items()}
    call.service.configure(call.queue_name(), attributes)
    return {}


def _purge_queue(call: Call) -> Answer:
    call.queue().purge(call.service.now())
    return {}


def _tag_queue(call: Call) -> Answer:
    call.service.entry(call.queue_name()).tags.update(call.params.mapping("Tags"))
    return {}


def _untag_queue(call: Call) -> Answer:
    tags = call.service.entry(call.queue_name()).tags
    for key in call.params.names("TagKeys"):
        tags.pop(key, None)
    return {}


def _list_queue_tags(call: Call) -> Answer:
    tags = call.service.entry(call.queue_name()).tags
    return {"Tags": dict(tags)} if tags else {}


QUEUE_ACTIONS: dict[str, Action] = {
    "CreateQueue": _create_queue,
    "DeleteQueue": _delete_queue,
    "GetQueueAttributes": _get_queue_attributes,
    "GetQueueUrl": _get_queue_url,
    "ListDeadLetterSourceQueues": _list_dead_letter_source_queues,
    "ListQueueTags": _list_queue_tags,
    "ListQueues": _list_queues,
    "PurgeQueue": _purge_queue,
    "SetQueueAttributes": _set_queue_attributes,
    "TagQueue": _tag_queue,
    "UntagQueue": _untag_queue,
}
