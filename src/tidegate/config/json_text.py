"""JSON as settings are written in it: each name once, as TOML has it by itself."""

import json
from typing import Any

__all__ = ["NamedTwice", "parse_json"]


class NamedTwice(ValueError):
    """A name stands twice in one table: Python would keep the last of its values and forget the others."""


def parse_json(text: str) -> Any:
    """The value written. Raises json.JSONDecodeError, NamedTwice, or RecursionError where it is nested too deep."""
    return json.loads(text, object_pairs_hook=_table)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise NamedTwice(f"{name!r} stands twice in one table")
        table[name] = value
    return table
