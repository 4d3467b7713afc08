"""Before the first tick: is everything there that each pool needs?"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from tidegate.controller.tick import PoolTick
from tidegate.errors import TidegateError

__all__ = ["Finding", "check", "lines"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a pool needs and that can't be read."""

    pool: str
    error: TidegateError


def check(pools: Sequence[PoolTick], executor: Executor) -> list[Finding]:
    """Read each pool's queues, capacity and state once, all at the same time, changing nothing.

    At the same time, because an endpoint that does not answer costs seconds for each read. CloudWatch and the workers'
    heartbeats are left to the ticks: a pool can be served without them, and each tick says that they are missing.
    """
    reads = [(pool.name, executor.submit(_attempt, read)) for pool in pools for read in _reads(pool)]
    found = [(name, future.result()) for name, future in reads]
    return [Finding(name, error) for name, error in found if error is not None]


def lines(findings: Sequence[Finding]) -> list[str]:
    """One line per fault. What several pools have in common (a table) is said once, with all their names."""
    pools: dict[str, list[str]] = {}
    for finding in findings:
        pools.setdefault(str(finding.error), []).append(finding.pool)
    return [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in pools.items()]


def _reads(pool: PoolTick) -> Iterator[Callable[[], object]]:
    yield from (partial(pool.sources.counts.counts, queue) for queue in pool.sources.queues)
    yield pool.sources.capacity.read
    yield partial(pool.store.load, pool.name)


def _attempt(read: Callable[[], object]) -> TidegateError | None:
    try:
        read()
    except TidegateError as error:
        return error
    return None
