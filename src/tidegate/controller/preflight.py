"""Before the first tick: is everything there that each pool needs, and does it fit the settings?"""

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tidegate.controller.tick import PoolTick
from tidegate.core.notation.durations import format_duration
from tidegate.core.workers.leases import lease_risk
from tidegate.errors import ConfigError, Fault, TidegateError

__all__ = ["Finding", "check", "lines"]

_GLANCE_S = 0.1
"""How often the stop is looked at while reads are out: nothing waits for an event and for futures at once."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a pool needs and that can't be read; or, as a warning, one that does not fit its settings."""

    pool: str
    error: Exception
    warning: bool = False


def check(pools: Sequence[PoolTick], executor: Executor, stop: threading.Event) -> list[Finding]:
    """Read each pool's queues, capacity and state once, all at the same time, changing nothing.

    At the same time, because an endpoint that does not answer costs seconds for each read. CloudWatch and the workers'
    heartbeats are left to the ticks: a pool can be served without them, and each tick says that they are missing.
    After `stop` nothing is waited for: what has been found until then.
    """
    probes = [executor.submit(probe) for pool in pools for probe in _probes(pool)]
    while not stop.is_set() and wait(probes, timeout=_GLANCE_S).not_done:
        pass
    return [found for found in (probe.result() for probe in probes if probe.done()) if found is not None]


def lines(findings: Sequence[Finding]) -> list[str]:
    """One line per fault. What several pools have in common (a table) is said once, with all their names."""
    pools: dict[str, list[str]] = {}
    for finding in findings:
        pools.setdefault(_text(finding.error), []).append(finding.pool)
    return [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in pools.items()]


def _probes(pool: PoolTick) -> Iterator[Callable[[], Finding | None]]:
    sources = pool.sources
    yield from (partial(_read, pool.name, partial(sources.counts.counts, queue)) for queue in sources.queues)
    yield partial(_read, pool.name, sources.capacity.read)
    yield partial(_read, pool.name, partial(pool.store.load, pool.name))
    if sources.lease_heartbeat_s is not None:
        yield from (partial(_lease, pool, queue, sources.lease_heartbeat_s) for queue in sources.queues)


def _read(pool: str, read: Callable[[], object]) -> Finding | None:
    try:
        read()
    except Exception as error:  # noqa: BLE001  the boundary of one pool: whatever it is, the others are served
        return Finding(pool, error)
    return None


def _text(error: Exception) -> str:
    """One line also for what tidegate does not raise on purpose; the tick that meets it again shows the traceback."""
    if isinstance(error, TidegateError):
        return str(error)
    said = " ".join("".join(traceback.format_exception_only(error)).split())
    where = [f" in {Path(at.filename).name}, line {at.lineno}" for at in traceback.extract_tb(error.__traceback__)[-1:]]
    return f"unexpected {said}{''.join(where)}; check that the endpoint speaks AWS's API, and report this if it does"


def _lease(pool: PoolTick, queue: str, every_s: float) -> Finding | None:
    """A warning, where the settings alone would be refused for it: the controller does no harm to such a pool, and a
    timeout that somebody changes on the queue must not keep it from starting again.
    """
    try:
        lease_s = pool.sources.counts.visibility_timeout_s(queue)
    except Exception:  # noqa: BLE001  as in `_read`
        return None  # its counts can't be read either, which is said
    risk = lease_risk(every_s, lease_s)
    if risk is None:
        return None
    lease = format_duration(lease_s)
    problem = f"too long for the visibility timeout of the queue {queue}, which is {lease}: {risk}"
    fix = f"set it (and the workers) to {format_duration(lease_s / 3)} or less, or raise the queue's timeout"
    fault = Fault(f"pools.{pool.name}.lease_heartbeat", format_duration(every_s), problem, fix)
    return Finding(pool.name, ConfigError([fault]), warning=True)
