"""Expected digests were recorded from AWS (LocalStack's tests/aws/services/sqs/test_sqs.snapshot.json)."""

import base64
from collections.abc import Mapping

import pytest

from tidegate.sandbox.sqs.digest import attributes_size_bytes, md5_of_attributes, md5_of_text

STARS = {
    "General": {"DataType": "String", "StringValue": "Kenobi"},
    "Hello": {"DataType": "String", "StringValue": "There"},
    "Help.Me": {"DataType": "String", "StringValue": "Me"},
}
TRACE = b"traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01"


@pytest.mark.parametrize(
    ("attributes", "md5"),
    [
        (STARS, "4c360f3fdafd970e05fae2f149d997f5"),
        ({name: STARS[name] for name in ("Hello", "General")}, "fca026605781cb4126a1e9044df24232"),
        ({"Hello": STARS["Hello"]}, "a311262e065454b75da111d535b8dacd"),
        ({name: STARS[name] for name in ("Help.Me", "Hello")}, "83fee93c1bcd8b9a5a923ffacdc636c7"),
        (
            {"attr1": {"DataType": "Binary", "BinaryValue": base64.b64encode(TRACE).decode()}},
            "8cbe4db156db8a94db8b801b7addb984",
        ),
    ],
)
def test_the_digest_of_attributes_is_the_one_that_aws_recorded(
    attributes: Mapping[str, Mapping[str, str]], md5: str
) -> None:
    assert md5_of_attributes(attributes) == md5


def test_the_digest_of_a_body_is_of_its_utf8_bytes() -> None:
    assert md5_of_text("test") == "098f6bcd4621d373cade4e832627b4f6"
    assert md5_of_text("grüße 😀") == "d259b3268581a88e579e6d4a21e382f2"


def test_names_types_and_values_count_towards_the_size_and_binary_by_its_own_length() -> None:
    binary = {"b": {"DataType": "Binary", "BinaryValue": base64.b64encode(b"12345").decode()}}
    assert attributes_size_bytes(binary) == len("b") + len("Binary") + 5
    assert attributes_size_bytes({"ü": {"DataType": "String", "StringValue": "ß"}}) == 2 + len("String") + 2
