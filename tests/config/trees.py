"""Settings as TOML holds them, and what `assemble` says about them."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from tidegate.config import assemble
from tidegate.errors import ConfigError, Fault

Tree = dict[str, Any]

GONE = object()
"""Given to `changed`: takes the setting out."""

WINDOW = {"name": "office", "start": "0 8 * * MON-FRI", "end": "0 20 * * MON-FRI"}

PLAIN: Tree = {
    "tick": "10s",
    "table": "tidegate",
    "pools": {
        "orders": {
            "queue": "orders",
            "target_wait": "60s",
            "ecs": {"cluster": "prod", "service": "orders"},
            "min_workers": 1,
            "max_workers": 50,
            "slots_per_worker": 4,
        }
    },
}
"""Without a fault or a warning."""


def changed(changes: Mapping[str, Any], base: Tree = PLAIN) -> Tree:
    """The base with each dotted setting set, or taken out; a bare name is one of the pool "orders"."""
    tree = deepcopy(base)
    for path, value in changes.items():
        parts = path.split(".") if "." in path else ["pools", "orders", path]
        parts = [part for part in parts if part]
        table = tree
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        if value is GONE:
            del table[parts[-1]]
        else:
            table[parts[-1]] = deepcopy(value)
    return tree


def two(second: Mapping[str, Any], first: Mapping[str, Any] | None = None, region: str | None = None) -> Tree:
    """PLAIN with a second pool "returns" on a queue and service of its own, but for the changes."""
    own = {"queue": "returns", "ecs": {"cluster": "prod", "service": "returns"}, "target_wait": 60, "max_workers": 5}
    tree = changed(first or {})
    tree["pools"]["returns"] = {key: value for key, value in {**own, **second}.items() if value is not GONE}
    if region:
        tree["region"] = region
    return tree


def faults(tree: Tree, environ: Mapping[str, str] | None = None) -> tuple[Fault, ...]:
    """The faults of a tree that must not load."""
    with pytest.raises(ConfigError) as caught:
        assemble(tree, environ or {})
    return caught.value.faults


def warnings(tree: Tree) -> tuple[Fault, ...]:
    """The warnings of a tree that must load."""
    return assemble(tree, {}).warnings
