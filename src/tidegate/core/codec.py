"""The stored shapes as JSON and back. A damaged or differently versioned text is refused, never guessed at."""

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from tidegate.core.schema import SCHEMA
from tidegate.errors import StateUnreadable

__all__ = ["from_json", "to_json"]

T = TypeVar("T")


_adapters: dict[type, TypeAdapter[Any]] = {}


def _adapter(kind: type) -> TypeAdapter[Any]:
    """Built once per kind: building one costs milliseconds, using it microseconds."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _fields(kind: type) -> frozenset[str]:
    return frozenset(getattr(kind, "__dataclass_fields__", ()))


def to_json(value: object) -> str:
    """One line of JSON for any value that is stored.

    Raises ValueError for NaN and infinities: JSON has none, and what is written must be readable again.
    """
    return json.dumps(_adapter(type(value)).dump_python(value, mode="json"), allow_nan=False, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """The value that `to_json` wrote.

    Raises StateUnreadable when the text is not JSON, does not fit `kind`, or carries another schema version.
    """
    try:
        data: Any = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # RecursionError: nested by the thousand, as no value of ours is
        raise StateUnreadable(kind.__name__, f"not JSON ({error})") from error
    version = data.get("schema") if isinstance(data, dict) and "schema" in _fields(kind) else SCHEMA
    if version != SCHEMA:
        raise StateUnreadable(kind.__name__, f"schema {version}, this tidegate reads schema {SCHEMA}")
    try:
        value: T = _adapter(kind).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or kind.__name__
        raise StateUnreadable(kind.__name__, f"{where}: {first['msg']}") from error
    return value
