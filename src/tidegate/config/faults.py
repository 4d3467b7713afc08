"""What pydantic found, in plain words: the setting, its value, what is wrong, what to write instead."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tidegate.config.findings import ABSENT, At, Finding
from tidegate.config.hints import unknown
from tidegate.config.shape import fields, spot

__all__ = ["findings_of"]

_PLAIN: Mapping[str, tuple[str, str]] = {
    "model_type": ("is not a table", "write a table"),
    "mapping_type": ("is not a table", "write a table"),
    "dict_type": ("is not a table", "write a table"),
    "tuple_type": ("is not a list", "write a list in [ ]"),
    "too_short": ("is empty", "write at least one"),
}


def findings_of(error: ValidationError) -> Iterator[Finding]:
    """One finding for each of pydantic's errors, at the place it names."""
    for details in error.errors(include_url=False):
        yield _finding(details)


def _finding(details: ErrorDetails) -> Finding:
    at: At = tuple(details["loc"])
    kind = details["type"]
    if kind == "setting":
        context: Mapping[str, Any] = details["ctx"]
        return Finding(at, details["input"], context["problem"], context["fix"])
    if kind == "missing":
        return Finding(at, ABSENT, "is missing", f"set it{_example(at)}")
    if kind == "extra_forbidden":
        return unknown(at)
    if kind == "literal_error":
        accepted = details["ctx"]["expected"].replace("'", '"')
        return Finding(at, details["input"], "is none of the words that this can be", f"write {accepted}")
    problem, fix = _PLAIN.get(kind, ("is not accepted", "write what docs/configuration.md says"))
    return Finding(at, details["input"], problem, fix + _example(at))


def _example(at: At) -> str:
    """ ", such as target_wait = "30s"", when the model has an example for what belongs there."""
    if len(at) == 2 and at[0] == "pools":
        return (
            f", such as [pools.{at[1]}]"
            if isinstance(at[1], str) and at[1].isidentifier()
            else ", such as [pools.orders]"
        )
    field = _field(at)
    if field is None or not field.examples:
        return ""
    return f", such as {at[-1]} = {_toml(field.examples[0])}"


def _field(at: At) -> FieldInfo | None:
    table = spot(at[:-1])
    return fields(table).get(str(at[-1])) if isinstance(table, type) else None


def _toml(value: object) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(inner) for inner in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
