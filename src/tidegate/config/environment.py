"""TIDEGATE_… variables laid over the file's settings, remembering which value came from which variable.

TIDEGATE_TICK is `tick`; TIDEGATE_POOLS__ORDERS__MAX_WORKERS is `max_workers` of the pool "orders" (a pool's - and . are
written _, capitals don't matter). Lists and tables are JSON. An empty variable counts as not set.
"""

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tidegate.config.findings import HIDDEN, At, Finding
from tidegate.config.hints import unknown
from tidegate.config.shape import fields, spot

__all__ = ["PREFIX", "Overlaid", "overlay", "plain_name"]

PREFIX = "TIDEGATE_"
_OTHERS = ("TIDEGATE_WORKER_", "TIDEGATE_DEMO_")
_NOT_SETTINGS = ("TIDEGATE_CONFIG",)


@dataclass
class Overlaid:
    """The file's tree with the variables' values in it."""

    tree: dict[str, Any]
    origins: dict[At, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def plain_name(pool: str) -> str:
    """A pool's name as a variable spells it, in small letters: "Order-Intake" → "order_intake"."""
    return re.sub(r"[^a-z0-9]", "_", pool.lower())


def overlay(tree: Mapping[str, Any], environ: Mapping[str, str]) -> Overlaid:
    """The tree with every TIDEGATE_… variable applied; those that fit nothing become findings."""
    result = Overlaid(deepcopy(dict(tree)))
    for variable, text in sorted(environ.items()):
        if _is_ours(variable) and text.strip():
            _apply(result, variable, text)
    return result


def _is_ours(variable: str) -> bool:
    name = variable.upper()
    return name.startswith(PREFIX) and not name.startswith(_OTHERS) and name not in _NOT_SETTINGS


def _apply(result: Overlaid, variable: str, text: str) -> None:
    at, finding = _place(result.tree, variable)
    result.origins[at] = variable
    if finding is None and (finding := _put(result.tree, at, text)) is None:
        return
    result.findings.append(finding)


def _place(tree: Mapping[str, Any], variable: str) -> tuple[At, Finding | None]:
    """Where the variable's value belongs, or why it belongs nowhere (then under the variable's own name)."""
    parts = variable[len(PREFIX) :].lower().split("__")
    at: At = ()
    for part in parts:
        if at == ("pools",):
            pool = next(_pools_called(tree, part), None)
            if pool is None:
                return (variable,), _unknown_pool(tree, variable, part)
            at = (*at, pool)
            continue
        here = spot(at)
        if isinstance(here, tuple):
            fix = f"set {variable.rsplit('__', 1 + len(parts) - 1 - len(at))[0]} to the whole list, as JSON"
            return (variable,), Finding((variable,), HIDDEN, "names a part of a list", fix)
        if not isinstance(here, type) or part not in fields(here):
            return (variable,), unknown((variable,), part, at)
        at = (*at, part)
    if len(at) < 3 and at[0] == "pools":
        fix = f"set a pool's settings one by one, such as {PREFIX}POOLS__ORDERS__MAX_WORKERS=20"
        return (variable,), Finding((variable,), HIDDEN, "names no setting", fix)
    return at, None


def _put(tree: dict[str, Any], at: At, text: str) -> Finding | None:
    """Put the value there, making the tables on the way; a finding when the text is not the JSON that is needed."""
    value: Any = text
    if _wants_json(at):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return Finding(at, HIDDEN, "is not JSON", f"write JSON here, such as {_json_example(at)}")
    table: Any = tree
    for part in at[:-1]:
        if not isinstance(table, dict):
            return None  # the file has no table there, which is a fault of its own
        table = table.setdefault(part, {})
    if isinstance(table, dict):
        table[at[-1]] = value
    return None


def _wants_json(at: At) -> bool:
    return spot(at) is not None or at[-1] == "queues"


def _json_example(at: At) -> str:
    if at[-1] == "queues":
        return '["orders", "returns"]'
    here = spot(at)
    model, many = (here[0], True) if isinstance(here, tuple) else (here, False)
    table = {} if model is None else {name: info.examples[0] for name, info in fields(model).items() if info.examples}
    return json.dumps([table] if many else table)


def _pools_called(tree: Mapping[str, Any], part: str) -> Iterator[str]:
    pools = tree.get("pools")
    return (name for name in (pools if isinstance(pools, Mapping) else ()) if plain_name(name) == part)


def _unknown_pool(tree: Mapping[str, Any], variable: str, part: str) -> Finding:
    pools = tree.get("pools")
    names = ", ".join(sorted(pools)) if isinstance(pools, Mapping) and pools else "none"
    fix = f"use the name of a pool in the file ({names}), or unset the variable"
    return Finding((variable,), HIDDEN, f"names no pool of the file: there is none called {part!r}", fix)
