"""TIDEGATE_… variables laid over the file's settings, remembering which value came from which variable.

TIDEGATE_TICK is `tick`; TIDEGATE_POOLS__ORDERS__MAX_WORKERS is `max_workers` of the pool "orders" (a pool's - and . are
written _, capitals don't matter). Lists and tables are JSON. An empty variable counts as not set.
"""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from tidegate.config.findings import HIDDEN, At, Finding
from tidegate.config.hints import meant
from tidegate.config.json_text import parse_json
from tidegate.config.setting import settings_of
from tidegate.config.shape import example_of, is_too_deep, spot

__all__ = ["PREFIX", "Overlaid", "overlay", "plain_name"]

PREFIX = "TIDEGATE_"
_NOT_OURS = ("TIDEGATE_WORKER_", "TIDEGATE_DEMO_")
_NOT_SETTINGS = ("TIDEGATE_CONFIG", "TIDEGATE_CONFIG_REVISION")
"""Where the settings are, and what whoever deploys them changes with them so that they are read anew."""
_NO_JSON: Final = object()
"""Instead of a value that could not be read."""


@dataclass
class Overlaid:
    """The file's tree with the variables' values in it."""

    tree: dict[str, Any]
    origins: dict[At, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


class _Nowhere(Exception):
    """The variable names no setting."""

    def __init__(self, problem: str, fix: str) -> None:
        self.problem, self.fix = problem, fix


def plain_name(pool: str) -> str:
    """A pool's name as a variable spells it, in small letters: "Order-Intake" → "order_intake"."""
    return re.sub(r"[^a-z0-9]", "_", pool.lower())


def overlay(tree: Mapping[str, Any], environ: Mapping[str, str]) -> Overlaid:
    """The tree with every TIDEGATE_… variable applied; those that fit nothing become findings."""
    result = Overlaid(deepcopy(dict(tree)))
    pools = tree.get("pools")
    names = tuple(pools) if isinstance(pools, Mapping) else ()
    for variable, text in sorted(environ.items()):
        if _is_ours(variable) and text.strip():
            _apply(result, names, variable, text)
    return result


def _is_ours(variable: str) -> bool:
    name = variable.upper()
    return name.startswith(PREFIX) and not name.startswith(_NOT_OURS) and name not in _NOT_SETTINGS


def _apply(result: Overlaid, pools: tuple[str, ...], variable: str, text: str) -> None:
    try:
        at = _place(variable, pools)
    except _Nowhere as nowhere:  # the value may be anything, a secret too: never shown
        result.findings.append(Finding((variable,), HIDDEN, nowhere.problem, nowhere.fix))
        return
    twin = result.origins.setdefault(at, variable)
    if twin != variable:
        problem = f"is set together with {twin}, which is the same setting"
        result.findings.append(Finding((variable,), HIDDEN, problem, "unset one of the two"))
        return
    try:
        value = parse_json(text) if _is_json(at) else text
    except (ValueError, RecursionError):
        value = _NO_JSON
    if value is _NO_JSON or is_too_deep(value):
        problem = "is not JSON" if value is _NO_JSON else "has tables or lists in each other by the dozen"
        fix = f"write JSON here, each name once, such as {json.dumps(example_of(at))}"
        result.findings.append(Finding(at, HIDDEN, problem, fix))
    else:
        _put(result.tree, at, value)


def _place(variable: str, pools: tuple[str, ...]) -> At:
    """The setting that the variable is for. Raises _Nowhere."""
    at: At = ()
    for part in variable[len(PREFIX) :].lower().split("__"):
        here = spot(at)
        if at == ("pools",):
            at = (*at, _pool(part, pools))
        elif isinstance(here, type) and part in settings_of(here):
            at = (*at, part)
        else:
            raise _unknown(part, at)
    if at[0] == "pools" and len(at) < 3:
        raise _Nowhere(
            "names no setting",
            f"set a pool's settings one by one, such as {_spelled((*at[:1], 'orders', 'max_workers'))}",
        )
    return at


def _pool(part: str, pools: tuple[str, ...]) -> str:
    for name in pools:
        if plain_name(name) == part:
            return name
    fix = f"use the name of a pool in the file ({', '.join(pools) or 'it has none'}), or unset the variable"
    raise _Nowhere(f"is for a pool that the file does not have ({part})", fix)


def _unknown(part: str, at: At) -> _Nowhere:
    if spot(at) is None or isinstance(spot(at), tuple):
        return _Nowhere("names no setting", f"set {_spelled(at)} as a whole")
    likely = meant(part, at)
    fix = f"did you mean {_spelled(likely)}?" if likely else "unset it"
    return _Nowhere("is not a known setting", fix)


def _spelled(at: At) -> str:
    return PREFIX + "__".join(plain_name(str(part)).upper() for part in at)


def _put(tree: dict[str, Any], at: At, value: object) -> None:
    """Put the value there, making tables on the way. Where the file has no table for it, that is its own fault."""
    table: Any = tree
    for part in at[:-1]:
        table = table.setdefault(part, {}) if isinstance(table, dict) else None
    if isinstance(table, dict):
        table[at[-1]] = value


def _is_json(at: At) -> bool:
    return spot(at) is not None or isinstance(example_of(at), list | dict)
