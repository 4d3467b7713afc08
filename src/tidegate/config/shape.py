"""Which settings there are at a place of the tree, read off the models."""

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tidegate.config.findings import At
from tidegate.config.models import Settings

__all__ = ["Spot", "fields", "spot"]

Spot = type[BaseModel] | tuple[type[BaseModel]] | None
"""What is at a place: a table of settings, (that,) for a list or table of such tables, None for a plain value."""


def fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The model's settings by the names that the file has for them."""
    return {info.alias or name: info for name, info in model.model_fields.items()}


def spot(at: At) -> Spot:
    """What the models have at this place; None also where they have nothing."""
    here: Spot = Settings
    for part in at:
        if isinstance(here, tuple):
            here = here[0]
        elif here is None or part not in (known := fields(here)):
            return None
        else:
            here = _kind(known[str(part)].annotation)
    return here


def _kind(annotation: Any) -> Spot:
    """The model that an annotation names, in a tuple when it is inside a container."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = next((kind for kind in _kinds_inside(annotation) if kind), None)
    if inner is None or get_origin(annotation) in (Union, UnionType) or isinstance(inner, tuple):
        return inner
    return (inner,)


def _kinds_inside(annotation: Any) -> Iterator[Spot]:
    origin = get_origin(annotation)
    if origin in (Union, UnionType, tuple, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        yield from (_kind(argument) for argument in get_args(annotation))
