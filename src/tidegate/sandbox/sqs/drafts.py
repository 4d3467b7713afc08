"""A message as a producer sends it: checked as SQS checks it, sized and digested.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any

from tidegate.sandbox.sqs.digest import attributes_size_bytes, md5_of_attributes, md5_of_text
from tidegate.sandbox.sqs.faults import Code, Refusal, invalid_value, missing
from tidegate.sandbox.sqs.model import Draft
from tidegate.sandbox.sqs.params import Params
from tidegate.sandbox.sqs.settings import QueueSettings

__all__ = ["draft_of"]

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TOKEN = re.compile(r"[A-Za-z0-9!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]{1,128}")
_ATTRIBUTE_NAME = re.compile(r"(?!(?i:aws\.|amazon\.)|\.)(?!.*\.\.)[A-Za-z0-9_.-]{1,256}(?<!\.)")
_ATTRIBUTE_TYPE = re.compile(r"(String|Number|Binary)(\..{1,249})?")
"""The label behind the point is the user's own: 256 characters in all, of those that a body may have.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html (unverified)"""
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_MOST_ATTRIBUTES = 10
_LONGEST_DELAY_S = 900


def draft_of(params: Params, settings: QueueSettings) -> Draft:
    """The message in `params`, for a queue with `settings`. Raises Refusal as SQS would."""
    body = _body(params)
    attributes = _attributes(params.mapping("MessageAttributes"))
    system = _system_attributes(params.mapping("MessageSystemAttributes"))
    size_bytes = len(body.encode()) + (attributes_size_bytes(attributes) if attributes else 0)
    if size_bytes > settings.max_message_bytes:
        text = f"Message must be shorter than {settings.max_message_bytes} bytes."
        raise Refusal(Code.INVALID_PARAMETER_VALUE, f"One or more parameters are invalid. Reason: {text}")
    group = _token(params, "MessageGroupId")
    return Draft(
        body=body,
        md5_of_body=md5_of_text(body),
        size_bytes=size_bytes,
        delay_s=_delay(params, settings),
        attributes=attributes,
        md5_of_attributes=md5_of_attributes(attributes) if attributes else None,
        trace_header=str(system["AWSTraceHeader"]["StringValue"]) if system else None,
        md5_of_system_attributes=md5_of_attributes(system) if system else None,
        group=group,
        deduplication_id=_deduplication_id(params, settings, body, group),
    )


def _body(params: Params) -> str:
    body = params.text("MessageBody")
    if not body:
        raise missing("MessageBody")
    plain = body.isascii() and body.isprintable()  # the common case, far quicker than the search
    if not plain and (forbidden := _FORBIDDEN.search(body)):
        text = f"Invalid binary character '#x{ord(forbidden[0]):X}' was found in the message body."
        raise Refusal(Code.INVALID_MESSAGE_CONTENTS, text)
    return body


def _delay(params: Params, settings: QueueSettings) -> int | None:
    delay_s = params.optional_number("DelaySeconds", 0, _LONGEST_DELAY_S)
    if settings.fifo and delay_s:
        raise _not_for_this_type(delay_s, "DelaySeconds")
    return None if settings.fifo else delay_s


def _deduplication_id(params: Params, settings: QueueSettings, body: str, group: str | None) -> str | None:
    """The explicit id, else the body's SHA-256 where the queue deduplicates by content; FIFO queues need one."""
    given = _token(params, "MessageDeduplicationId")
    if not settings.fifo:
        if given is not None:
            raise _not_for_this_type(given, "MessageDeduplicationId")
        return None
    if group is None:
        raise missing("MessageGroupId")
    if given is None and settings.content_based_deduplication:
        return hashlib.sha256(body.encode()).hexdigest()
    if given is None:
        text = "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"  # noqa: E501 - SQS's own sentence
        raise Refusal(Code.INVALID_PARAMETER_VALUE, text)
    return given


def _token(params: Params, name: str) -> str | None:
    value = params.optional_text(name)
    if value is not None and not _TOKEN.fullmatch(value):
        reason = f"{name} can only include alphanumeric and punctuation characters. 1 to 128 in length."
        raise invalid_value(value, name, reason)
    return value


def _not_for_this_type(value: object, name: str) -> Refusal:
    return invalid_value(value, name, "The request include parameter that is not valid for this queue type.")


def _system_attributes(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, attribute in attributes.items():
        if name != "AWSTraceHeader":
            raise Refusal(Code.INVALID_PARAMETER_VALUE, f"Message system attribute name '{name}' is invalid.")
        if _check_attribute(name, attribute) != "String":
            raise Refusal(
                Code.INVALID_PARAMETER_VALUE, f"The type of message system attribute '{name}' must be String."
            )
    return attributes


def _attributes(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(attributes) > _MOST_ATTRIBUTES:
        text = f"Number of message attributes [{len(attributes)}] exceeds the allowed maximum [{_MOST_ATTRIBUTES}]."
        raise Refusal(Code.INVALID_PARAMETER_VALUE, text)
    for name, attribute in attributes.items():
        if not _ATTRIBUTE_NAME.fullmatch(name):
            raise Refusal(Code.INVALID_PARAMETER_VALUE, f"The message attribute name '{name}' is invalid.")
        _check_attribute(name, attribute)
    return attributes


def _check_attribute(name: str, attribute: object) -> str:
    """Its data type."""
    if not isinstance(attribute, dict):
        raise Refusal(Code.SERIALIZATION, f"The message attribute '{name}' is not an object.")
    data_type = attribute.get("DataType")
    if not isinstance(data_type, str) or not _ATTRIBUTE_TYPE.fullmatch(data_type) or _FORBIDDEN.search(data_type):
        text = f"The type of message attribute '{name}' must be String, Number or Binary."
        raise Refusal(Code.INVALID_PARAMETER_VALUE, text)
    kind = "BinaryValue" if data_type.startswith("Binary") else "StringValue"
    if not _has_value(attribute.get(kind), binary=kind == "BinaryValue"):
        text = f"The message attribute '{name}' must contain a non-empty, valid {kind}."
        raise Refusal(Code.INVALID_PARAMETER_VALUE, text)
    if data_type.startswith("Number") and not _NUMBER.fullmatch(attribute[kind]):
        text = f"Can't cast the value of message (user) attribute '{name}' to a number."
        raise Refusal(Code.INVALID_PARAMETER_VALUE, text)
    return data_type


def _has_value(value: object, *, binary: bool) -> bool:
    if not isinstance(value, str) or not value:
        return False
    if not binary:
        return _FORBIDDEN.search(value) is None
    try:
        base64.b64decode(value, validate=True)
    except ValueError:  # not base64, or not even ASCII
        return False
    return True
