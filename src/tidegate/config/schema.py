"""The JSON Schema of the settings file, for editors (draft 2020-12).

As TOML has it: without null (a setting is left out instead), and with defaults as people write them.
"""

from collections.abc import Iterator, Mapping
from inspect import getdoc
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from tidegate.config.models import Settings
from tidegate.config.setting import Setting, SettingsTable, settings_of
from tidegate.config.values import Kind, NotEmpty

__all__ = ["json_schema"]

Schema = dict[str, Any]

_EITHER = (("queue", "queues"), ("ecs", "asg"), ("target_wait", "finish_by"))


def json_schema() -> Schema:
    """What a settings file may hold, for editors that complete and check TOML by a schema (Taplo, Even Better TOML)."""
    tables = {table.__name__: _table(table) for table in _tables(Settings)}
    schema = tables.pop(Settings.__name__)
    tables["PoolSettings"]["allOf"] = [{"oneOf": [{"required": [name]} for name in names]} for names in _EITHER]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": dict(sorted(tables.items())),
        **schema,
        "not": {"required": ["table", "state_dir"]},
        "title": "tidegate settings",
        "description": "Settings of tidegate, the SQS-native autoscaler: common ones, then one table per pool.",
    }


def _tables(table: type[SettingsTable]) -> Iterator[type[SettingsTable]]:
    """The table itself and every table in it."""
    yield table
    for known in settings_of(table).values():
        yield from _tables_in(known.kind)


def _tables_in(kind: Any) -> Iterator[type[SettingsTable]]:
    if isinstance(kind, type) and issubclass(kind, SettingsTable):
        yield from _tables(kind)
    for inner in get_args(kind):
        yield from _tables_in(inner)


def _table(table: type[SettingsTable]) -> Schema:
    known = settings_of(table).values()
    required = [each.name for each in known if each.required]
    return {
        "additionalProperties": False,
        "description": getdoc(table),
        "properties": {each.name: _setting(each) for each in known},
        **({"required": required} if required else {}),
        "title": table.__name__,
        "type": "object",
    }


def _setting(known: Setting) -> Schema:
    schema = {**_kind(known.kind), "description": known.description}
    if known.examples:
        schema["examples"] = list(known.examples)
    default = None if known.required else _written(known)
    if default is not None:
        schema["default"] = default
    return dict(sorted(schema.items()))


def _kind(kind: Any) -> Schema:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if isinstance(inside[1], Kind):
            return inside[1].json_schema()
        least = "minItems" if get_origin(inside[0]) is tuple else "minProperties"
        return {**_kind(inside[0]), **({least: 1} if NotEmpty() in inside else {})}
    if origin in (Union, UnionType):
        return _kind(inside[0])
    if origin is Literal:
        return {"enum": list(inside), "type": "string"}
    if origin is tuple:
        return {"items": _kind(inside[0]), "type": "array"}
    if origin is Mapping:
        return {"additionalProperties": _kind(inside[1]), "type": "object"}
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _written(known: Setting) -> Any:
    """The default as JSON, as people write it; None where a setting is simply left out."""
    default, kind = known.default, known.kind
    if isinstance(default, SettingsTable):
        return {name: getattr(default, each.attribute) for name, each in settings_of(type(default)).items()}
    if isinstance(default, tuple):
        return list(default)
    notes = get_args(kind) if get_origin(kind) is Annotated else ()
    return next((note.written(default) for note in notes if isinstance(note, Kind)), default)
