"""A request's parameters, read with their types and ranges; what is missing or out of range is refused as SQS does."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tidegate.sandbox.sqs.faults import Code, Refusal, invalid_value, missing

__all__ = ["MAX_BATCH_ENTRIES", "Params", "each_entry"]

MAX_BATCH_ENTRIES = 10
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""
_ENTRY_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Params:
    """One JSON object of a request: its body, or an entry of its batch.

    A value of another type than its parameter's is a SerializationException, as SQS says of a text for an integer
    (https://github.com/async-aws/aws/issues/1667; other pairs are unverified). What is null is as good as left out.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def of_json(cls, body: bytes) -> "Params":
        """Raises SerializationException when the body is not a JSON object."""
        try:
            values = json.loads(body or b"{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:  # RecursionError: nested by the thousand
            raise Refusal(Code.SERIALIZATION, "The request body is not JSON.") from error
        if not isinstance(values, dict):
            raise Refusal(Code.SERIALIZATION, "The request body is not a JSON object.")
        return cls(values)

    def text(self, name: str) -> str:
        value = self.optional_text(name)
        if value is None:
            raise missing(name)
        return value

    def optional_text(self, name: str) -> str | None:
        value = self._values.get(name)
        if value is None or isinstance(value, str):
            return value
        raise _wrong_type(name, "a text")

    def number(self, name: str, least: int, most: int) -> int:
        value = self.optional_number(name, least, most)
        if value is None:
            raise missing(name)
        return value

    def optional_number(self, name: str, least: int, most: int) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong_type(name, "a whole number")
        if not least <= value <= most:
            raise invalid_value(value, name, f"Must be between {least} and {most}, if provided.")
        return value

    def names(self, name: str) -> list[str]:
        values = self._list(name)
        if not all(isinstance(value, str) for value in values):
            raise _wrong_type(name, "a list of texts")
        return values

    def mapping(self, name: str) -> dict[str, Any]:
        value = self._values.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _wrong_type(name, "an object")
        return value

    def texts(self, name: str) -> dict[str, str]:
        """Names and texts: attributes of a queue, tags."""
        values = self.mapping(name)
        if not all(isinstance(value, str) for value in values.values()):
            raise _wrong_type(name, "an object of texts")
        return values

    def entries(self, shape: str) -> list["Params"]:
        """The entries of a batch, all of them named, at most ten. `shape` is SQS's word for one, for the error."""
        values = self._list("Entries")
        if not values:
            text = f"There should be at least one {shape} in the request."
            raise Refusal(Code.EMPTY_BATCH_REQUEST, text)
        if len(values) > MAX_BATCH_ENTRIES:
            text = f"Maximum number of entries per request are {MAX_BATCH_ENTRIES}. You have sent {len(values)}."
            raise Refusal(Code.TOO_MANY_ENTRIES, text)
        entries = [_entry(value) for value in values]
        _check_ids([entry.text("Id") for entry in entries])
        return entries

    def _list(self, name: str) -> list[Any]:
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise _wrong_type(name, "a list")
        return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _wrong_type(name: str, kind: str) -> Refusal:
    return Refusal(Code.SERIALIZATION, f"{name} is not {kind}.")


def _entry(value: object) -> Params:
    if not isinstance(value, dict):
        raise _wrong_type("An entry", "an object")
    return Params(value)


def _check_ids(ids: list[str]) -> None:
    for place, entry_id in enumerate(ids):
        if not _ENTRY_ID.fullmatch(entry_id):
            text = "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long."  # noqa: E501 - SQS's own sentence
            raise Refusal(Code.INVALID_BATCH_ENTRY_ID, text)
        if entry_id in ids[:place]:
            raise Refusal(Code.BATCH_ENTRY_IDS_NOT_DISTINCT, f"Id {entry_id} repeated.")


def each_entry(entries: list[Params], act: Callable[[Params], Mapping[str, Any]]) -> dict[str, Any]:
    """Do `act` for every entry; one that is refused fails alone, and the call itself succeeds."""
    done: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for entry in entries:
        try:
            done.append({"Id": entry.text("Id"), **act(entry)})
        except Refusal as refusal:
            failed.append(
                {"Id": entry.text("Id"), "SenderFault": True, "Code": refusal.code.query, "Message": str(refusal)}
            )
    answer: dict[str, Any] = {}
    if done:
        answer["Successful"] = done
    if failed:
        answer["Failed"] = failed
    return answer
