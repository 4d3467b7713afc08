"""From a file and the environment to settings, or to every fault at once."""

import json
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate.config.checks_across import check, check_names
from tidegate.config.environment import overlay
from tidegate.config.findings import At, Finding, Places, Words
from tidegate.config.json_text import NamedTwice, parse_json
from tidegate.config.models import Settings
from tidegate.config.reading import read_settings
from tidegate.config.setting import settings_of
from tidegate.config.shape import is_too_deep, spot
from tidegate.core.notation.local_path import no_file
from tidegate.errors import ConfigError, Fault

__all__ = ["Loaded", "assemble", "load", "load_text"]

_LARGEST_FILE = 1_000_000


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings without a fault, and what is likely not meant though it can be obeyed."""

    settings: Settings
    warnings: tuple[Fault, ...] = ()


def load(path: Path, environ: Mapping[str, str]) -> Loaded:
    """The settings in the TOML file at `path`, with the TIDEGATE_… variables of `environ` laid over them.

    Raises ConfigError with every fault: of the file, the variables, each value, and the values together.
    """
    return load_text(_read(path), str(path), environ)


def load_text(data: bytes, origin: str, environ: Mapping[str, str]) -> Loaded:
    """As `load`, from the bytes of a settings file that was read at `origin`.

    TOML, or the same tree as a JSON object: what makes settings by program (Terraform, CDK) writes JSON, and no TOML
    file begins with a brace.
    """
    return assemble(_tree(data, origin), environ)


def assemble(tree: Mapping[str, Any], environ: Mapping[str, str], origins: Mapping[At, str] | None = None) -> Loaded:
    """As `load`, from the tree that the TOML file holds. `origins`: what to call settings that were given otherwise."""
    overlaid = overlay(tree, environ)
    overlaid.origins.update(origins or {})
    settings, wrong = _validate(overlaid.tree)
    wrong = [*overlaid.findings, *wrong]
    faulty = Places(finding.at for finding in wrong)
    pools = overlaid.tree.get("pools")
    names = check_names(pools) if isinstance(pools, Mapping) else ()
    together = [] if settings is None else [found for found in check(settings) if not found.rests_on(faulty)]
    faults = [*wrong, *names, *(found for found in together if not found.warning)]
    if faults or settings is None:
        raise ConfigError([found.fault(overlaid.origins) for found in faults])
    return Loaded(settings, tuple(found.fault(overlaid.origins) for found in together))


def _read(path: Path) -> bytes:
    """Raises ConfigError when there is no such file, or it can't be read."""
    file = str(path)
    try:
        if wrong := no_file(file, path.stat().st_mode):
            raise _unreadable(file, f"can't be read: {wrong}", "name a file that this user may read")
        with path.open("rb") as stream:
            return stream.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise _unreadable(
            file, "there is no such file", "write one (see examples/tidegate.toml), or name another"
        ) from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise _unreadable(file, f"can't be read: {reason}", "name a file that this user may read") from error


def _tree(data: bytes, file: str) -> dict[str, Any]:
    """Raises ConfigError when it is neither TOML (with line and column) nor a JSON object."""
    if len(data) > _LARGEST_FILE:
        raise _unreadable(file, "is larger than 1 MB", "name the settings file")
    try:
        text = data.decode("utf-8-sig")  # editors on Windows begin a file with a byte order mark
        tree: dict[str, Any] = parse_json(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise _unreadable(file, f"is not UTF-8 at byte {error.start}", "save it as UTF-8 text") from error
    except (json.JSONDecodeError, NamedTwice) as error:
        raise _unreadable(file, f"is not JSON: {error}", "mend that place") from error
    except (ValueError, RecursionError) as error:
        # Not only TOMLDecodeError: a number of thousands of digits and tables nested too deep end here too.
        said = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a number or a table beyond all measure"
        raise _unreadable(
            file, f"is not TOML: {said}", "mend that place (https://toml.io shows how it is written)"
        ) from error
    if is_too_deep(tree):
        raise _unreadable(file, "has tables or lists in each other by the dozen", "write no deeper than settings go")
    return tree


def _unreadable(file: str, problem: str, fix: str) -> ConfigError:
    return ConfigError([Fault(file, Words("the settings file"), problem, fix)])


def _validate(tree: Mapping[str, Any]) -> tuple[Settings | None, list[Finding]]:
    """The settings and what is wrong with single values.

    With faults, the settings are those of the tree with a stand-in for each faulty value, so that all the others can
    still be checked against each other; None if not even that holds.
    """
    settings, findings = read_settings(tree)
    if findings:
        settings, _ = read_settings(_mended(tree, [finding.at for finding in findings]))
    return settings, findings


def _mended(tree: Mapping[str, Any], faulty: list[At]) -> dict[str, Any]:
    """The tree with each faulty setting taken out, or its example put in where it can't be left out."""
    copy = deepcopy(dict(tree))
    for at in sorted(faulty, key=len, reverse=True):
        while isinstance(at[-1], int):  # one entry of a list: leave the others where they are, mend the whole list
            at = at[:-1]
        _mend(copy, at)
    if copy.get("pools") == {}:
        _mend(copy, ("pools",))
    return copy


def _mend(tree: dict[str, Any], at: At) -> None:
    parent: Any = tree
    for part in at[:-1]:
        parent = parent[part]
    table = spot(at[:-1])
    known = settings_of(table).get(str(at[-1])) if isinstance(table, type) else None
    if known is not None and known.required:
        parent[at[-1]] = deepcopy((known.examples or (None,))[0])
    else:
        parent.pop(at[-1], None)
