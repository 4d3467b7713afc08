"""What a table of settings is made of: frozen dataclasses whose fields say what they are for.

Plain dataclasses and not pydantic's models, which take longer to import and to build than all else that a Lambda does
before its first decision: `reading` reads them, `schema` describes them to editors.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Final, get_type_hints

__all__ = ["Setting", "SettingsTable", "setting", "settings_of"]

_ABOUT: Final = "setting"


@dataclass(frozen=True, slots=True)
class _About:
    name: str | None
    description: str
    examples: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in the file, where it goes, and what it takes."""

    name: str
    attribute: str
    kind: Any
    """The field's annotation: one of `values` and `tables`, a table, or a tuple or mapping of these."""
    default: Any
    required: bool
    description: str
    examples: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsTable:
    """What all tables have."""

    said: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The settings that were written, by their names in the file: the others have their defaults."""


def setting(
    default: Any = MISSING, *, description: str, name: str | None = None, examples: list[Any] | None = None
) -> Any:
    """A field of a table. Without a default it must be set; `name` is its name in the file where it has another."""
    about = {_ABOUT: _About(name, description, tuple(examples or ()))}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=about)
    return field(default=default, metadata=about)


def settings_of(table: type[SettingsTable]) -> Mapping[str, Setting]:
    """A table's settings by their names in the file."""
    if table not in _known:
        kinds = get_type_hints(table, include_extras=True)
        found = [_setting(each, kinds[each.name]) for each in fields(table) if _ABOUT in each.metadata]
        _known[table] = {each.name: each for each in found}
    return _known[table]


_known: dict[type[SettingsTable], Mapping[str, Setting]] = {}


def _setting(made: Field[Any], kind: Any) -> Setting:
    about: _About = made.metadata[_ABOUT]
    required = made.default is MISSING and made.default_factory is MISSING
    default = made.default if made.default_factory is MISSING else made.default_factory()
    return Setting(about.name or made.name, made.name, kind, default, required, about.description, about.examples)
