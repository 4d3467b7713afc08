"""The commands of an operator's hand: freeze, pin, resume; and of its eye: explain (`status` has its own module)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.core.overrides import in_force
from tidegate.entrypoints.options import DEFAULT_CONFIG, EXIT_FAULT, ConfigFile, load_settings
from tidegate.entrypoints.show import Shown, holder_text, say, warn
from tidegate.errors import ConfigError, Fault

if TYPE_CHECKING:
    from tidegate.config import PoolSettings, Settings

__all__ = ["explain", "freeze", "named_pool", "pin", "resume"]

PoolName = Annotated[str, typer.Argument(metavar="POOL", help="The pool's name in the settings.")]
HowMany = Annotated[int, typer.Argument(metavar="N", help="Workers; more than max_workers is refused.")]
HowLong = Annotated[
    str | None, typer.Option("--for", help='For how long ("2h", at most 366d); left out: until `resume`.')
]

_LONGEST_S = 366 * 86_400.0
"""A year: whoever means longer means `resume`, and a slip of the hand ("9999999h") is no wish."""
_HOW_LONG = "write a time such as 2h, at most 366d, or leave --for out to hold the pool until `tidegate resume`"


def freeze(pool: PoolName, for_: HowLong = None, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Hold a pool's desired count as it is."""
    settings = load_settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    name = named_pool(settings, pool, config).name
    override = controls.freeze(shared_store(settings), name, _operator(), _now_s(), _seconds(for_))
    say(f"{name}: {holder_text(override)}")


def pin(pool: PoolName, workers: HowMany, for_: HowLong = None, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Set a pool's desired count by hand."""
    settings = load_settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    now_s = _now_s()
    as_it_holds = named_pool(settings, pool, config).at(now_s)
    override = controls.pin(shared_store(settings), as_it_holds, workers, _operator(), now_s, _seconds(for_))
    say(f"{pool}: {holder_text(override)}")


def resume(pool: PoolName, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Give a frozen or pinned pool back to the controller."""
    settings = load_settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    lifted = in_force(controls.resume(shared_store(settings), named_pool(settings, pool, config).name), _now_s())
    say(f"{pool}: {holder_text(None)}" + (f"; it was {holder_text(lifted)}" if lifted else " already"))


def named_pool(settings: "Settings", name: str, config: str) -> "PoolSettings":
    """Raises ConfigError, naming the pools there are, for a name that is none of them."""
    if name not in settings.pools:
        fix = f"write one of {', '.join(settings.pools)}"
        raise ConfigError([Fault("POOL", name, f"no such pool in {config}", fix)])
    return settings.pools[name]


def explain(
    pool: PoolName,
    config: ConfigFile = DEFAULT_CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False,
) -> None:
    """What would be decided for a pool now, and why: every step, its health, its advice. Changes nothing."""
    settings = load_settings(config)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.service import serve_once
    from tidegate.entrypoints.wiring import wire

    alone = replace(settings, pools={pool: named_pool(settings, pool, config)})
    outcomes = serve_once(
        wire(alone, SystemClock(), dry_run=True), Shown(as_json=as_json), lambda line: warn(f"warning: {line}")
    )
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(EXIT_FAULT)


def _seconds(text: str | None) -> float | None:
    from tidegate.core.notation.durations import parse_duration

    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise ConfigError([Fault("--for", text, problem, fix)]) from error
    if not 0 < seconds <= _LONGEST_S:
        raise ConfigError([Fault("--for", text, "no time at all" if seconds == 0 else "more than a year", _HOW_LONG)])
    return seconds


def _operator() -> str:
    import getpass
    import os
    import socket

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have a number only; which of the two depends on the Python
        user = f"uid{os.getuid()}"
    return f"{user}@{socket.gethostname()}"


def _now_s() -> float:
    from tidegate.entrypoints.clock import SystemClock

    return SystemClock().now()
