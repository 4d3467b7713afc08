"""An operator's hand on a pool: freeze, pin, resume. Each is a change of the stored state under its version."""

from collections.abc import Callable
from dataclasses import replace

from tidegate.controller.conflicts import again_on_conflict
from tidegate.core.model import Override, OverrideKind, Pool, PoolState
from tidegate.errors import ConfigError, Fault
from tidegate.ports import StateStore

__all__ = ["freeze", "pin", "resume"]

_TRIES = 10
"""The controller saves once a tick and takes milliseconds over it: meeting it twice is rare, ten times a fault."""


def freeze(store: StateStore, pool: str, who: str, now_s: float, for_s: float | None = None) -> Override:
    """Hold the desired count as it is, for `for_s` seconds or until `resume`.

    Raises StateConflict (ten times running), StateUnreadable, and the CloudError tree; so do `pin` and `resume`.
    """
    override = Override(OverrideKind.FREEZE, who, since_s=now_s, until_s=_until(now_s, for_s))
    _change(store, pool, lambda state: replace(state, override=override))
    return override


def pin(store: StateStore, pool: Pool, workers: int, who: str, now_s: float, for_s: float | None = None) -> Override:
    """Set the desired count to `workers`, for `for_s` seconds or until `resume`.

    Raises ConfigError when that is more than the pool's maximum as it holds now: a pin silently cut to it would not be
    what the operator asked for. Fewer than the minimum is allowed: stopping a pool is a good reason to pin it.
    """
    if not 0 <= workers <= pool.max_workers:
        raise ConfigError([_pin_fault(pool, workers)])
    override = Override(OverrideKind.PIN, who, since_s=now_s, until_s=_until(now_s, for_s), workers=workers)
    _change(store, pool.name, lambda state: replace(state, override=override))
    return override


def resume(store: StateStore, pool: str) -> Override | None:
    """Give the pool back to the controller; the override that held until now, None when there was none."""
    return _change(store, pool, lambda state: replace(state, override=None)).override


def _until(now_s: float, for_s: float | None) -> float | None:
    return None if for_s is None else now_s + for_s


def _pin_fault(pool: Pool, workers: int) -> Fault:
    fix = f"pin to 0 … {pool.max_workers}"
    if workers < 0:
        return Fault(f"pin {pool.name}", workers, "fewer than no workers", fix)
    problem = f"above max_workers = {pool.max_workers} (from {pool.limits_from})"
    return Fault(f"pin {pool.name}", workers, problem, f"{fix}, or raise pools.{pool.name}.max_workers first")


def _change(store: StateStore, pool: str, change: Callable[[PoolState], PoolState]) -> PoolState:
    """Save the changed state; the state as it was before. Everything else that the pool remembers stays."""

    def once() -> PoolState:
        stored = store.load(pool)
        changed = change(stored.state)
        if changed != stored.state:
            store.save(pool, changed, stored.version)
        return stored.state

    return again_on_conflict(_TRIES, once)
