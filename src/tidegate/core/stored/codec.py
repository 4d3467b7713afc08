"""The stored shapes as JSON and back. A damaged or differently versioned text is refused, never guessed at."""

import json
from dataclasses import fields
from typing import Any, TypeVar

from tidegate.core.stored.readers import Unfit, reader
from tidegate.core.stored.schema import SCHEMA
from tidegate.errors import StateUnreadable

__all__ = ["from_json", "to_json"]

T = TypeVar("T")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _members(value: Any) -> dict[str, object]:
    """A dataclass as JSON's encoder takes it, one level of it: the encoder asks again for what is inside."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def to_json(value: object) -> str:
    """One line of JSON for any value that is stored.

    Raises ValueError for NaN and infinities (JSON has none, and what is written must be readable again), TypeError for
    what is neither of JSON nor a dataclass.
    """
    return json.dumps(value, default=_members, allow_nan=False, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """The value that `to_json` wrote.

    Raises StateUnreadable when the text is not JSON, does not fit `kind`, or carries another schema version.
    """
    try:
        data: Any = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # RecursionError: nested by the thousand, as no value of ours is
        raise StateUnreadable(kind.__name__, f"not JSON ({error})") from error
    version = data.get("schema") if isinstance(data, dict) and hasattr(kind, "schema") else SCHEMA
    if version != SCHEMA:
        raise StateUnreadable(kind.__name__, f"schema {version}, this tidegate reads schema {SCHEMA}")
    try:
        value: T = reader(kind)(data)
    except Unfit as unfit:
        where = ".".join(unfit.at) or kind.__name__
        raise StateUnreadable(kind.__name__, f"{where}: {unfit.problem}") from unfit
    return value
