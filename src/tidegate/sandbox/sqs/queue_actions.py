"""The operations on queues: create, find, describe, set, purge, delete, tag.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html
"""

import base64

from tidegate.sandbox.sqs.call import Action, Answer, Call
from tidegate.sandbox.sqs.faults import Code, Refusal, invalid_value
from tidegate.sandbox.sqs.settings import KNOWN_ATTRIBUTES

__all__ = ["QUEUE_ACTIONS"]

_MOST_LISTED = 1_000


def _create_queue(call: Call) -> Answer:
    name = call.params.text("QueueName")
    call.service.create(name, call.params.texts("Attributes"), call.params.texts("tags"))
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
    names = [name for name in call.service.names() if name.startswith(prefix)]
    return _page(call, names, "QueueUrls", f"ListQueues:{prefix}")


def _list_dead_letter_source_queues(call: Call) -> Answer:
    # The lower-case key is AWS's own: the model names this list "queueUrls".
    queue = call.queue()
    names = call.service.sources_of(queue)
    return {"queueUrls": [], **_page(call, names, "queueUrls", f"ListDeadLetterSourceQueues:{queue.name}")}


def _page(call: Call, names: list[str], key: str, which: str) -> Answer:
    """A page of URLs. Without MaxResults: the first thousand. `which` list it is, for its tokens."""
    most = call.params.optional_number("MaxResults", 1, _MOST_LISTED)
    token = call.params.optional_text("NextToken")
    last = "" if token is None else _last_in(token, which)
    rest = [name for name in names if name > last]
    page = rest[: most or _MOST_LISTED]
    answer: Answer = {key: [call.url(name) for name in page]} if page else {}
    if most and len(rest) > most:
        answer["NextToken"] = _token(page[-1], which)
    return answer


def _token(last: str, which: str) -> str:
    """The name that the page ended with; good for the same list only, and nothing that is made up by chance."""
    return base64.b64encode(f"{which}:{last}".encode()).decode()


def _last_in(token: str, which: str) -> str:
    last = _decoded(token).rpartition(":")[2]
    if not last or token != _token(last, which):
        raise invalid_value(token, "NextToken", "It was not given out for this list.")
    return last


def _decoded(token: str) -> str:
    try:
        return base64.b64decode(token, validate=True).decode()
    except ValueError:
        return ""


def _get_queue_attributes(call: Call) -> Answer:
    names = call.params.names("AttributeNames")
    known = call.service.attributes(call.queue_name())
    for name in names:
        if name != "All" and name not in KNOWN_ATTRIBUTES:
            raise Refusal(Code.INVALID_ATTRIBUTE_NAME, f"Unknown Attribute {name}.")
    chosen = {name: value for name, value in known.items() if "All" in names or name in names}
    return {"Attributes": chosen} if chosen else {}


def _set_queue_attributes(call: Call) -> Answer:
    call.service.configure(call.queue_name(), call.params.texts("Attributes"))
    return {}


def _purge_queue(call: Call) -> Answer:
    call.queue().purge(call.service.now())
    return {}


def _tag_queue(call: Call) -> Answer:
    call.service.entry(call.queue_name()).tags.update(call.params.texts("Tags"))
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
