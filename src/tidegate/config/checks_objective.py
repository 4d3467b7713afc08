"""A pool's objective: a wait or a time of day, and what goes with which."""

from collections.abc import Iterator

from tidegate.config.findings import ABSENT, At, Finding
from tidegate.config.pool import PoolSettings

__all__ = ["check_objective"]

_OF_A_WAIT = ("policy", "economy", "utilization", "drain_target")


def check_objective(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """Exactly one objective; settings that mean nothing with it; fair queues."""
    yield from _one_objective(at, pool)
    yield from _nothing_to_do_with_it(at, pool)
    yield from _plain_formula(at, pool)
    yield from _fair(at, pool)


def _one_objective(at: At, pool: PoolSettings) -> Iterator[Finding]:
    wait, by = (*at, "target_wait"), (*at, "finish_by")
    if pool.target_wait_s is None and pool.finish_by is None:
        problem = "is missing: the pool has no objective"
        fix = 'set target_wait = "30s", or for a bulk pool finish_by = "06:00 Europe/Berlin"'
        yield Finding(wait, ABSENT, problem, fix, (by,))
    elif pool.target_wait_s is not None and pool.finish_by is not None:
        fix = "keep one of the two; make a second pool for the other"
        yield Finding(by, pool.finish_by, "is set together with target_wait", fix, (wait,))


def _nothing_to_do_with_it(at: At, pool: PoolSettings) -> Iterator[Finding]:
    if pool.finish_by is None:
        return
    for name in _OF_A_WAIT:
        if name in pool.said:
            problem = "has no effect with finish_by: there is no wait to hold"
            yield Finding((*at, name), ABSENT, problem, "remove it", warning=True)


def _plain_formula(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """What only `policy = "wait"` heeds, where a setting asks for the plain formula."""
    if pool.finish_by is not None or (pool.policy == "wait" and pool.utilization is None):
        return
    asked = 'policy = "littles-law"' if pool.utilization is None else f"utilization = {pool.utilization}"
    problem = f"has no effect with {asked}, which is the plain formula"
    if "economy" in pool.said:
        yield Finding((*at, "economy"), pool.economy, problem, "remove one of the two", warning=True)
    if pool.policy == "wait" and "policy" in pool.said:
        yield Finding((*at, "policy"), pool.policy, problem, "remove one of the two", warning=True)


def _fair(at: At, pool: PoolSettings) -> Iterator[Finding]:
    fifo = next((queue for queue in pool.all_queues if queue.endswith(".fifo")), None)
    if pool.fair_queue and fifo is not None:
        problem = f"is true for {fifo}, a FIFO queue: only standard queues are fair"
        places = ((*at, "queue"), (*at, "queues"))
        yield Finding((*at, "fair_queue"), True, problem, "set it to false, or make a second pool", places)
    elif "noisy_share" in pool.said and not pool.fair_queue:
        problem = "has no effect with fair_queue = false: noisy groups are not known"
        yield Finding((*at, "noisy_share"), pool.noisy_share, problem, "set fair_queue = true", warning=True)
