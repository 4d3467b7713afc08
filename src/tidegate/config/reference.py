"""The table of all settings in docs/configuration.md, made from the models so that it can't say anything else.

Run `python -m tidegate.config.reference docs/configuration.md` to renew the page.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidegate.config.schema import json_schema
from tidegate.core.notation.durations import format_duration

__all__ = ["BEGIN", "END", "reference", "renewed"]

BEGIN = "<!-- made by python -m tidegate.config.reference: edit the models instead -->"
END = "<!-- end of the made part -->"

_PARTS = (
    ("For all pools", "Settings", ""),
    ("Each pool: `[pools.NAME]`", "PoolSettings", ""),
    ("Capacity on ECS: `ecs = { … }`", "EcsService", "ecs."),
    ("Ramp: `ramp = { … }`", "Ramp", "ramp."),
    ("Database: `database = { … }`", "DatabaseSettings", "database."),
    ("API: `api = { … }`", "ApiSettings", "api."),
    ("One worker: `worker = { … }`", "WorkerBox", "worker."),
    ("Schedule: `[[pools.NAME.schedule]]`", "Window", ""),
)


def reference() -> str:
    """Markdown: every setting with its unit or kind, default and effect."""
    return "\n\n".join(_part(*part) for part in _PARTS)


def renewed(page: str) -> str:
    """The page with the part between the marks made anew."""
    before, rest = page.split(BEGIN, 1)
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{rest.split(END, 1)[1]}"


def _part(title: str, model: str, prefix: str) -> str:
    schema = json_schema()
    table = schema if model == "Settings" else schema["$defs"][model]
    lines = [f"### {title}", "", "| setting | unit or kind | default | effect |", "| --- | --- | --- | --- |"]
    lines += _rows(table, prefix)
    return "\n".join(lines)


def _rows(table: dict[str, Any], prefix: str) -> Iterator[str]:
    for name, setting in table["properties"].items():
        cells = (f"`{prefix}{name}`", _kind(setting), _default(name, setting, table), setting["description"])
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _kind(setting: dict[str, Any]) -> str:
    """In words: "duration, 100ms to 1h", "whole number, 1 to 100000"."""
    if "oneOf" in setting:
        first, number = setting["oneOf"]
        if "const" in first:
            return f'"{first["const"]}", or a share above 0 up to {number["maximum"]}'
        return f"duration, {format_duration(number['minimum'])} to {format_duration(number['maximum'])}"
    kind = setting.get("type")
    if kind in {"integer", "number"}:
        word = "whole number" if kind == "integer" else "number"
        return f"{word}, {setting['minimum']} to {setting['maximum']}"
    return {"string": "text", "array": "list", "boolean": "true or false"}.get(str(kind), "table")


def _default(name: str, setting: dict[str, Any], table: dict[str, Any]) -> str:
    if name in table.get("required", ()):
        return "must be set"
    default = setting.get("default")
    if default in (None, [], {}):
        return "none"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, dict):
        return "`{ " + ", ".join(f"{key} = {value:g}" for key, value in default.items()) + " }`"
    return f"`{default:g}`" if isinstance(default, int | float) else f'`"{default}"`'


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text()))
