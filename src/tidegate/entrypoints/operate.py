"""The commands of an operator's hand: freeze, pin, resume, status."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.entrypoints.options import DEFAULT_CONFIG, ConfigFile, load_settings
from tidegate.entrypoints.show import override_text, say
from tidegate.errors import ConfigError, Fault

if TYPE_CHECKING:
    from tidegate.config import PoolSettings, Settings
    from tidegate.core.model import Override

__all__ = ["freeze", "pin", "resume", "status"]

PoolName = Annotated[str, typer.Argument(metavar="POOL", help="The pool's name in the settings.")]
HowMany = Annotated[int, typer.Argument(metavar="N", help="Workers; more than max_workers is refused.")]
HowLong = Annotated[str | None, typer.Option("--for", help='For how long ("2h"); left out: until `resume`.')]


def freeze(pool: PoolName, for_: HowLong = None, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Hold a pool's desired count as it is."""
    settings = load_settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    name = _pool(settings, pool, config).name
    override = controls.freeze(shared_store(settings), name, _operator(), _now_s(), _seconds(for_))
    say(f"{name}: {override_text(override)}")


def pin(pool: PoolName, workers: HowMany, for_: HowLong = None, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Set a pool's desired count by hand."""
    settings = load_settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    now_s = _now_s()
    as_it_holds = _pool(settings, pool, config).at(now_s)
    override = controls.pin(shared_store(settings), as_it_holds, workers, _operator(), now_s, _seconds(for_))
    say(f"{pool}: {override_text(override)}")


def resume(pool: PoolName, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Give a frozen or pinned pool back to the controller."""
    settings = load_settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    lifted = controls.resume(shared_store(settings), _pool(settings, pool, config).name)
    say(f"{pool}: run by the controller" + (f"; it was {override_text(lifted)}" if lifted else " already"))


def status(config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Who holds each pool, and the desired count that tidegate asked for last."""
    settings = load_settings(config)
    from tidegate.entrypoints.wiring import shared_store

    store, now_s = shared_store(settings), _now_s()
    for name in settings.pools:
        state = store.load(name).state
        asked = "nothing asked for yet" if state.desired is None else f"last asked for {state.desired}"
        say(f"{name}: {override_text(_in_force(state.override, now_s))}; {asked}")


def _pool(settings: "Settings", name: str, config: Path) -> "PoolSettings":
    if name not in settings.pools:
        fix = f"write one of {', '.join(settings.pools)}"
        raise ConfigError([Fault("POOL", name, f"no such pool in {config}", fix)])
    return settings.pools[name]


def _seconds(text: str | None) -> float | None:
    from tidegate.core.durations import parse_duration

    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise ConfigError([Fault("--for", text, problem, fix or "write a time such as 2h")]) from error


def _in_force(override: "Override | None", now_s: float) -> "Override | None":
    """One that has run out is taken away by the next tick; until then it already means nothing."""
    ended = override is not None and override.until_s is not None and override.until_s <= now_s
    return None if ended else override


def _operator() -> str:
    import getpass
    import socket

    return f"{getpass.getuser()}@{socket.gethostname()}"


def _now_s() -> float:
    from tidegate.entrypoints.clock import SystemClock

    return SystemClock().now()
