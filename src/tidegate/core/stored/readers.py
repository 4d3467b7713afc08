"""Readers of stored values: what JSON holds becomes the type that an annotation names, or is refused with its place.

Made of the annotations of our own frozen dataclasses, and for what occurs in them: numbers, texts, enums, literals,
optional values, tuples (named ones too), mappings by name, and dataclasses of these.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

__all__ = ["Read", "Unfit", "reader"]

Read = Callable[[Any], Any]
"""From a value of `json.loads` to one of the type. Raises Unfit."""


class Unfit(Exception):
    """A stored value that is not of its type. `at` is where, from the outside in."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at: tuple[str, ...] = ()

    def within(self, part: object) -> "Unfit":
        """The same, seen from one level further out."""
        self.at = (str(part), *self.at)
        return self


def reader(kind: Any) -> Read:
    """What reads a value of `kind`, made once. Raises TypeError for an annotation that nothing stored has."""
    if kind not in _readers:
        _readers[kind] = _made(kind)
    return _readers[kind]


def _made(kind: Any) -> Read:
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(inside)
    if origin is Literal:
        return _word_of(inside)
    if origin is tuple:
        return _many(inside[0]) if inside[1:] == (...,) else _row(inside)
    if origin is Mapping:
        return _by_name(inside[1])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(kind)
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        return _record(kind)
    if isinstance(kind, type) and hasattr(kind, "_fields"):
        return _named_row(kind)
    raise TypeError(f"nothing stored is a {kind!r}")


def _unfit(value: object, wanted: str) -> Unfit:
    return Unfit(f"a {type(value).__name__}, not {wanted}")


def _number(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is not int:
        raise _unfit(value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise Unfit("a number beyond all measure") from None


def _exactly(kind: type, wanted: str) -> Read:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _unfit(value, wanted)
        return value

    return read


_PLAIN: Mapping[type, Read] = {
    float: _number,
    int: _exactly(int, "a whole number"),
    str: _exactly(str, "a text"),
    bool: _exactly(bool, "true or false"),
    NoneType: _exactly(NoneType, "null"),
}
_readers: dict[Any, Read] = dict(_PLAIN)


def _one_of(kinds: tuple[Any, ...]) -> Read:
    """A value that is one of the kinds as it stands stays as it is: 1 is no 1.0 where both may be."""
    plain = frozenset(kind for kind in kinds if kind in _PLAIN)
    reads = [reader(kind) for kind in kinds if kind is not NoneType]

    def read(value: Any) -> Any:
        if type(value) in plain:
            return value
        for attempt in reads[:-1]:
            try:
                return attempt(value)
            except Unfit:
                continue
        return reads[-1](value)

    return read


def _word_of(words: tuple[Any, ...]) -> Read:
    def read(value: Any) -> Any:
        if value not in words:
            raise Unfit(f"none of {', '.join(map(repr, words))}")
        return value

    return read


def _member(kind: type[Enum]) -> Read:
    def read(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise Unfit(f"none of {', '.join(repr(member.value) for member in kind)}") from None

    return read


def _many(kind: Any) -> Read:
    inner = reader(kind)

    def read(value: Any) -> Any:
        if type(value) is not list:
            raise _unfit(value, "a list")
        return tuple([_within(place, inner, each) for place, each in enumerate(value)])

    return read


def _row(kinds: tuple[Any, ...]) -> Read:
    """Columns beyond those that are known are those of a newer version, and left out."""
    columns = [reader(kind) for kind in kinds]

    def read(value: Any) -> Any:
        if type(value) is not list or len(value) < len(columns):
            raise _unfit(value, f"a list of {len(columns)}")
        return tuple([_within(place, inner, value[place]) for place, inner in enumerate(columns)])

    return read


def _named_row(kind: type[Any]) -> Read:
    """A NamedTuple, which is stored as the list that it is; older versions may have stored an object of its fields.

    Columns that an older version did not have are at the end, and have a default.
    """
    types = get_type_hints(kind)
    inner, defaults = _row(tuple(types.values())), kind._field_defaults
    lately = tuple(defaults.values())

    def read(value: Any) -> Any:
        if type(value) is dict:
            value = [value.get(name, defaults.get(name)) for name in types]
        elif type(value) is list and 0 < len(types) - len(value) <= len(lately):
            value = [*value, *lately[len(value) - len(types) :]]
        return kind(*inner(value))

    return read


def _by_name(kind: Any) -> Read:
    inner = reader(kind)

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _unfit(value, "an object")
        return {name: _within(name, inner, each) for name, each in value.items()}

    return read


def _record(kind: type[Any]) -> Read:
    """Fields that are not known are those of a newer version, and left out; those that are missing have a default."""
    types = get_type_hints(kind)
    known = [(field.name, reader(types[field.name])) for field in fields(kind)]
    required = [field.name for field in fields(kind) if not _has_default(field)]

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise _unfit(value, "an object")
        for name in required:
            if name not in value:
                raise Unfit("is missing").within(name)
        made, name = {}, ""
        try:
            for name, inner in known:
                if name in value:
                    made[name] = inner(value[name])
        except Unfit as unfit:
            raise unfit.within(name) from None
        return kind(**made)

    return read


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _within(part: object, read: Read, value: Any) -> Any:
    try:
        return read(value)
    except Unfit as unfit:
        raise unfit.within(part) from None
