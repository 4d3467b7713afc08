"""From a tree of plain values to settings, or to everything that is wrong with single values, in plain words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from tidegate.config.findings import ABSENT, At, Finding
from tidegate.config.hints import unknown
from tidegate.config.models import Settings
from tidegate.config.setting import Setting, SettingsTable, settings_of
from tidegate.config.shape import example_of
from tidegate.config.values import Kind, NotEmpty, Refused, Then

__all__ = ["read_settings"]

_FAULTY: Final = object()
"""Instead of a value that could not be read, of which a finding tells."""

_NO_TABLE: Final = ("is not a table", "write a table")


def read_settings(tree: object) -> tuple[Settings | None, list[Finding]]:
    """The settings, and no finding; or None, and a finding for each value that is missing, unknown or not accepted."""
    reading = _Reading()
    settings = reading.table(Settings, tree, ())
    return None if settings is _FAULTY else settings, reading.findings


@dataclass(slots=True)
class _Reading:
    """What was found so far, by methods that give a value inside, or _FAULTY."""

    findings: list[Finding] = field(default_factory=list)

    def table(self, kind: type[SettingsTable], written: object, at: At) -> Any:
        if not isinstance(written, Mapping):
            return self._faulty(at, written, *_NO_TABLE)
        known = settings_of(kind)
        values = {each.attribute: self._setting(each, written, at) for each in known.values()}
        strangers = [name for name in written if name not in known]
        self.findings += [unknown((*at, name)) for name in strangers]
        if strangers or _FAULTY in values.values():
            return _FAULTY
        return kind(**values, said=frozenset(written))

    def _setting(self, known: Setting, written: Mapping[str, Any], at: At) -> Any:
        place = (*at, known.name)
        if known.name in written:
            return self._value(known.kind, written[known.name], place)
        if known.required:
            self.findings.append(Finding(place, ABSENT, "is missing", f"set it{_example(place)}"))
            return _FAULTY
        return known.default

    def _value(self, kind: Any, written: object, at: At) -> Any:
        """By the annotation of a field, or of what is inside one."""
        origin, inside = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(inside[0], inside[1:], written, at)
        if origin in (Union, UnionType):
            return None if written is None else self._value(inside[0], written, at)
        if origin is Literal:
            return self._word(inside, written, at)
        if origin is tuple:
            return self._many(inside[0], written, at)
        if origin is Mapping:
            return self._named(inside[1], written, at)
        return self.table(kind, written, at)

    def _annotated(self, kind: Any, notes: tuple[Any, ...], written: object, at: At) -> Any:
        if not isinstance(notes[0], Kind):
            value = self._value(kind, written, at)
            empty = NotEmpty() in notes and value in ((), {})
            return self._faulty(at, written, "is empty", "write at least one") if empty else value
        try:
            value = notes[0].read(written)
            for note in notes[1:]:
                value = note.read(value) if isinstance(note, Then) else value
        except Refused as refused:
            self.findings.append(Finding(at, written, refused.problem, refused.fix))
            return _FAULTY
        return value

    def _word(self, words: tuple[str, ...], written: object, at: At) -> Any:
        if isinstance(written, str) and written in words:
            return written
        *others, last = (f'"{word}"' for word in words)
        fix = f"write {', '.join(others)} or {last}"
        self.findings.append(Finding(at, written, "is none of the words that this can be", fix))
        return _FAULTY

    def _many(self, kind: Any, written: object, at: At) -> Any:
        if not isinstance(written, list | tuple):
            return self._faulty(at, written, "is not a list", "write a list in [ ]")
        values = tuple(self._value(kind, each, (*at, place)) for place, each in enumerate(written))
        return _FAULTY if _FAULTY in values else values

    def _named(self, kind: Any, written: object, at: At) -> Any:
        if not isinstance(written, Mapping):
            return self._faulty(at, written, *_NO_TABLE)
        values = {name: self._value(kind, each, (*at, name)) for name, each in written.items()}
        return _FAULTY if _FAULTY in values.values() else values

    def _faulty(self, at: At, written: object, problem: str, fix: str) -> Any:
        self.findings.append(Finding(at, written, problem, fix + _example(at)))
        return _FAULTY


def _example(at: At) -> str:
    """ ", such as target_wait = "30s"", when the tables have an example for what belongs there."""
    if len(at) == 2 and at[0] == "pools":
        return (
            f", such as [pools.{at[1]}]"
            if isinstance(at[1], str) and at[1].isidentifier()
            else ", such as [pools.orders]"
        )
    example = example_of(at)
    if example == "":
        return ""
    label = "" if isinstance(at[-1], int) else f"{at[-1]} = "
    return f", such as {label}{_toml(example)}"


def _toml(value: object) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(inner) for inner in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
