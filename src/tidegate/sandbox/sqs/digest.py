"""The MD5 digests that SDKs check.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

__all__ = ["attributes_size_bytes", "md5_of_attributes", "md5_of_text"]

_STRING, _BINARY = b"\x01", b"\x02"


def md5_of_text(text: str) -> str:
    """Hex MD5 of the UTF-8 bytes."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def md5_of_attributes(attributes: Mapping[str, Mapping[str, Any]]) -> str:
    """Hex MD5 over the attributes sorted by name: length-prefixed name, type, kind byte, length-prefixed value."""
    digest = hashlib.md5(usedforsecurity=False)
    for name in sorted(attributes):
        attribute = attributes[name]
        data_type = str(attribute["DataType"])
        for part in (name.encode(), data_type.encode()):
            digest.update(len(part).to_bytes(4, "big") + part)
        digest.update(_BINARY if data_type.startswith("Binary") else _STRING)
        value = _value(attribute)
        digest.update(len(value).to_bytes(4, "big") + value)
    return digest.hexdigest()


def attributes_size_bytes(attributes: Mapping[str, Mapping[str, Any]]) -> int:
    """What the attributes add to the size of their message: names, types and values."""
    return sum(
        len(name.encode()) + len(str(attribute["DataType"]).encode()) + len(_value(attribute))
        for name, attribute in attributes.items()
    )


def _value(attribute: Mapping[str, Any]) -> bytes:
    if str(attribute["DataType"]).startswith("Binary"):
        return base64.b64decode(attribute["BinaryValue"])
    return str(attribute["StringValue"]).encode()
