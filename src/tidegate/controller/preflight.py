"""Before the first tick: is everything there that each pool needs?"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from tidegate.controller.tick import PoolTick
from tidegate.errors import Gone, TidegateError, Unreachable

__all__ = ["Finding", "check", "lines"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a pool needs and that can't be read."""

    pool: str
    error: TidegateError


def check(pools: Sequence[PoolTick], executor: Executor) -> list[Finding]:
    """Read each pool's queues, capacity, state and heartbeats once, all at the same time, changing nothing.

    At the same time, because an endpoint that does not answer costs seconds for each read.
    """
    reads = [(pool.name, executor.submit(_attempt, read)) for pool in pools for read in _reads(pool)]
    found = [(name, future.result()) for name, future in reads]
    return [Finding(name, error) for name, error in found if error is not None]


def lines(findings: Sequence[Finding]) -> list[str]:
    """One line per fault. What several pools have in common (a table) is said once, with all their names."""
    pools: dict[object, list[str]] = {}
    texts: dict[object, str] = {}
    for finding in findings:
        fault = _fault(finding.error)
        pools.setdefault(fault, []).append(finding.pool)
        texts.setdefault(fault, str(finding.error))
    return [f"{', '.join(dict.fromkeys(names))}: {texts[fault]}" for fault, names in pools.items()]


def _fault(error: TidegateError) -> object:
    """What must be the same for two errors to be one fault: of what is not there or does not answer, the resource.

    Permissions are another matter: each action that is denied has to be allowed.
    """
    return (type(error), error.resource) if isinstance(error, Gone | Unreachable) else str(error)


def _reads(pool: PoolTick) -> Iterator[Callable[[], object]]:
    sources = pool.sources
    yield from (partial(sources.counts.counts, queue) for queue in sources.queues)
    yield sources.capacity.read
    yield partial(pool.store.load, pool.name)
    if sources.fleet is not None:
        yield partial(sources.fleet.workers, pool.name, pool.clock.now())


def _attempt(read: Callable[[], object]) -> TidegateError | None:
    try:
        read()
    except TidegateError as error:
        return error
    return None
