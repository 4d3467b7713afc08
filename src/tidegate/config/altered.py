"""A recorded pool with some settings changed, by the same names, parsers and checks as a settings file has."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any

from tidegate.config.findings import At
from tidegate.config.loading import assemble
from tidegate.config.pool import PoolSettings
from tidegate.config.setting import settings_of
from tidegate.core.model import Pool
from tidegate.errors import ConfigError, Fault

__all__ = ["altered"]

_STAND_IN = "replayed"
"""For the queue and the service, which a settings file must name and a recorded pool no longer knows."""
_RAMP = {"percent": "ramp_share", "workers": "ramp_workers"}
_RENAMED = {"per_s": "calls_per_second"}
"""Parts of a pool's tables that the core calls otherwise than the settings do."""
_ANY_TIME = "00:00"
"""A recorded bulk pool knows what is left until then, and no longer which time it was."""
_FIX = 'write NAME=VALUE as in the settings of a pool, such as "target_wait=30s"'


def altered(settings: Sequence[str]) -> Callable[[Pool], Pool]:
    """Changes each pool that it is given as `settings` ("target_wait=30s", "ramp.percent=50") say.

    Raises ConfigError for what is no setting; the function returned raises it for values that don't fit the pool's
    others, and for settings that play no part in a decision.
    """
    wanted = dict(_parsed(text) for text in settings)
    known: dict[str, dict[str, Any]] = {}

    def change(pool: Pool) -> Pool:
        if pool.name not in known:
            known[pool.name] = _changes(pool, wanted)
        return replace(pool, **known[pool.name])

    return change


def _parsed(text: str) -> tuple[tuple[str, ...], str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ConfigError([Fault("--set", text, "is no NAME=VALUE", _FIX)])
    return tuple(name.strip().split(".")), value.strip()


def _changes(pool: Pool, wanted: dict[tuple[str, ...], str]) -> dict[str, Any]:
    """The fields of `Pool` that the wanted settings come to."""
    waits = ("target_wait",) in wanted or pool.finish_in_s is None
    tree, origins = _tree(pool, waits=waits), {}
    for name, value in wanted.items():
        at: At = ("tick",) if name == ("tick",) else ("pools", pool.name, *name)
        origins[at] = f"--set {'.'.join(name)}"
        _put(tree, at, value)
    settings = assemble(tree, {}, origins).settings
    made = settings.pools[pool.name].at(0.0)
    if wanted.get(("policy",)) == "wait" and made.plain:
        raise ConfigError([_plain(made)])
    fields = {name: _field(name) for name in wanted}
    faults = [_no_part(name, wanted[name]) for name, field in fields.items() if not hasattr(pool, field)]
    if faults:
        raise ConfigError(faults)
    return {field: getattr(made, field) for field in fields.values()} | ({"finish_in_s": None} if waits else {})


def _tree(pool: Pool, *, waits: bool) -> dict[str, Any]:
    """A settings file of one pool, saying what the recorded pool says. A bulk pool (not `waits`) has a time of day."""
    table: dict[str, Any] = {"queue": _STAND_IN, "ecs": {"cluster": _STAND_IN, "service": _STAND_IN}}
    for name, known in settings_of(PoolSettings).items():
        value = getattr(pool, known.attribute, None)
        if isinstance(value, int | float | str):
            table[name] = value
        elif is_dataclass(value) and not isinstance(value, type):
            parts = asdict(value).items()
            table[name] = {_RENAMED.get(each, each): part for each, part in parts if part is not None}
    if not waits:
        del table["target_wait"]
        table["finish_by"] = _ANY_TIME
    table["ramp"] = {"percent": pool.ramp_share * 100, "workers": pool.ramp_workers}
    return {"tick": pool.tick_s, "pools": {pool.name: table}}


def _put(tree: dict[str, Any], at: At, value: str) -> None:
    """A part of what is no table is given to the settings' own checks, which say that it is none."""
    table: Any = tree
    for part in at[:-1]:
        if not isinstance(table.get(part), dict):
            table[part] = {}
        table = table[part]
    table[at[-1]] = value


def _field(name: tuple[str, ...]) -> str:
    """The field of `Pool` that a setting goes into, or a name that it does not have."""
    if name == ("tick",):
        return "tick_s"
    if name[0] == "ramp":
        return _RAMP.get(name[-1], "")
    known = settings_of(PoolSettings).get(name[0])
    return known.attribute if known else ""


def _plain(pool: Pool) -> Fault:
    problem = f"does not decide while utilization is a share ({pool.utilization:g}): that asks for the plain formula"
    return Fault("--set policy", "wait", problem, "add --set utilization=auto")


def _no_part(name: tuple[str, ...], value: str) -> Fault:
    parts = [each for each in settings_of(PoolSettings) if hasattr(Pool, _field((each,)))]
    fix = f"set one of {', '.join([*parts, *(f'ramp.{each}' for each in _RAMP), 'tick'])}"
    return Fault(f"--set {'.'.join(name)}", value, "plays no part in a decision that has its sights already", fix)
