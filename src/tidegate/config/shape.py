"""Which settings there are at a place of the tree, read off the tables, and how deep a tree of values may be."""

from collections.abc import Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from tidegate.config.findings import At
from tidegate.config.models import Settings
from tidegate.config.setting import SettingsTable, settings_of

__all__ = ["Spot", "example_of", "is_too_deep", "spot"]

_DEEPEST = 50
"""Levels in a tree of values, many more than any setting has: beyond a few hundred Python refuses to copy it."""

Spot = type[SettingsTable] | tuple[type[SettingsTable]] | None
"""What is at a place: a table of settings, (that,) for a list or table of such tables, None for a plain value."""


def spot(at: At) -> Spot:
    """What the tables have at this place; None also where they have nothing."""
    here: Spot = Settings
    for part in at:
        if isinstance(here, tuple):
            here = here[0]
        elif here is None or part not in (known := settings_of(here)):
            return None
        else:
            here = _kind(known[str(part)].kind)
    return here


def example_of(at: At) -> Any:
    """The example that the tables have for this setting, or one made of the examples in it; "" where there is none."""
    table, here = spot(at[:-1]), spot(at)
    known = settings_of(table).get(str(at[-1])) if isinstance(table, type) else None
    if known is not None and known.examples:
        return known.examples[0]
    if isinstance(here, tuple):
        return [_made(here[0])]
    return "" if here is None else _made(here)


def _made(table: type[SettingsTable]) -> dict[str, Any]:
    """A table of examples: of the settings that must be there, else of all."""
    known = settings_of(table)
    needed = {name: each for name, each in known.items() if each.required} or known
    return {name: (each.examples or (each.default,))[0] for name, each in needed.items()}


def is_too_deep(tree: object) -> bool:
    """Whether tables and lists lie in each other by the dozen."""
    level = [tree]
    for _ in range(_DEEPEST):
        level = [inner for each in level if isinstance(each, Mapping | list) for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(container: Mapping[Any, Any] | list[Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, Mapping) else container


def _kind(annotation: Any) -> Spot:
    """The table that an annotation names, in a tuple when it is inside a container."""
    if isinstance(annotation, type) and issubclass(annotation, SettingsTable):
        return annotation
    inner = next((kind for kind in _kinds_inside(annotation) if kind), None)
    if inner is None or get_origin(annotation) in (Annotated, Union, UnionType) or isinstance(inner, tuple):
        return inner
    return (inner,)


def _kinds_inside(annotation: Any) -> Iterator[Spot]:
    if get_origin(annotation) in (Annotated, Union, UnionType, tuple, Mapping):
        yield from (_kind(argument) for argument in get_args(annotation))
