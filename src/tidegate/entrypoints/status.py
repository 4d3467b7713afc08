"""`tidegate status`: how each pool fares, by what is stored of it. Asks nothing of queues and services."""

from typing import TYPE_CHECKING

import typer

from tidegate.core.condition import Condition, condition_of
from tidegate.core.explain.health import health_of
from tidegate.core.overrides import in_force
from tidegate.core.signals.fleet import heard_of
from tidegate.core.signals.skew import reports_on_our_clock
from tidegate.entrypoints.options import DEFAULT_CONFIG, EXIT_FAULT, ConfigFile, load_settings
from tidegate.entrypoints.show import condition_text, error_text, health_lines, holder_text, say, warn
from tidegate.errors import StateUnreadable, TidegateError

if TYPE_CHECKING:
    from tidegate.config import PoolSettings
    from tidegate.core.model import PoolState
    from tidegate.ports import FleetReader

__all__ = ["status"]


def status(config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Who holds each pool, what was asked for last, how the pool fares, and what its workers hold back.

    Exit code 2 when a state is damaged or reports can't be read.
    """
    settings = load_settings(config)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.wiring import shared_store

    store, now_s = shared_store(settings), SystemClock().now()
    whole = True
    for name, pool in settings.pools.items():
        try:
            state = store.load(name).state
            said = _fares(pool, state, now_s)
        except StateUnreadable as error:  # of this pool alone
            whole = False
            warn(f"{name}: {error_text(error)}")
            continue
        try:
            said += _put_off(store, name, state, now_s)
        except TidegateError as error:
            whole = False
            warn(f"{name}: {error_text(error)}")
        say("\n".join(said))
    if not whole:
        raise typer.Exit(EXIT_FAULT)


def _fares(pool: "PoolSettings", state: "PoolState", now_s: float) -> list[str]:
    """A line of who holds it and what was asked for; under it those of its health."""
    asked = "nothing asked for yet" if state.desired is None else f"last asked for {state.desired}"
    line = f"{pool.name}: {holder_text(in_force(state.override, now_s))}; {asked}"
    if (condition := condition_of(state.pressure)) is not Condition.NORMAL:
        line += f"; {condition_text(condition)}"
    return [line, *health_lines(health_of(state.health, pool.at(now_s), now_s))]


def _put_off(fleet: "FleetReader", pool: str, state: "PoolState", now_s: float) -> list[str]:
    """What the workers' retry budget holds back, as long as any worker is there that has held back something."""
    workers = heard_of(reports_on_our_clock(fleet.workers(pool, now_s), state.skew), now_s)
    held = sum(worker.total.retries_held for worker in workers)
    if not held:
        return []
    lately = sum(worker.recent.retries_held for worker in workers)
    return [
        f"  {'retries':<10}{held} put off by the retry budget since these workers started, {lately} of them in the "
        "last reports: handlers fail or ask for a retry, and these messages stay hidden in the queue until their turn"
    ]
