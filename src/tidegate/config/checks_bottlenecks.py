"""What the settings of a pool's bottlenecks mean together: each must leave room for the workers that always run."""

from collections.abc import Iterator

from tidegate.config.findings import At, Finding
from tidegate.config.pool import PoolSettings
from tidegate.core.bottlenecks import ApiRate
from tidegate.core.notation.durations import format_duration

__all__ = ["check_bottlenecks"]


def check_bottlenecks(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """Every fault and warning about what this pool's handlers lean on."""
    yield from _max_slots(at, pool)
    yield from _database(at, pool)
    yield from _api(at, pool)
    yield from _message_groups(at, pool)
    yield from _worker(at, pool)
    yield from _guard(at, pool)


def _max_slots(at: At, pool: PoolSettings) -> Iterator[Finding]:
    needed = _always(pool)
    if pool.max_slots is not None and pool.max_slots < needed:
        yield Finding(
            (*at, "max_slots"),
            pool.max_slots,
            f"is less than the {needed} slots of {_whose(pool)}",
            f"raise it to {needed} or more, or lower slots_per_worker or min_workers",
            _among(at),
        )


def _database(at: At, pool: PoolSettings) -> Iterator[Finding]:
    if pool.database is None:
        return
    database, needed = pool.database.bottleneck, _always(pool)
    among = (*_among(at), (*at, "database"))
    if database.reserved >= database.connections:
        problem = f"leaves none of database.connections = {database.connections}"
        fix = f"lower it to {database.connections - 1} or less"
        yield Finding((*at, "database", "reserved"), database.reserved, problem, fix, among)
    elif database.slots < needed:
        least = needed * database.per_slot + database.reserved
        problem = f"is enough for {database.slots} slots, and {_whose(pool)} has {needed}"
        fix = f"raise it to {least} or more, or lower slots_per_worker, min_workers or database.per_slot"
        yield Finding((*at, "database", "connections"), database.connections, problem, fix, among)


def _api(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """Warnings: the measured service time, which decides, may be another than the hint."""
    if pool.api is None:
        return
    place, rate = (*at, "api", "calls_per_second"), pool.api.calls_per_second
    if pool.service_time_hint_s is None:
        problem = "bounds nothing until workers have measured their service time, as there is no service_time_hint"
        yield Finding(place, rate, problem, "set service_time_hint", warning=True)
        return
    slots, needed = ApiRate(rate, pool.api.calls_per_message).slots(pool.service_time_hint_s), _always(pool)
    if slots < needed:
        hint = format_duration(pool.service_time_hint_s)
        problem = f"allows {slots} slots at service_time_hint = {hint}, and {_whose(pool)} has {needed}: it is exceeded"
        yield Finding(place, rate, problem, "lower slots_per_worker or min_workers, or space the calls", warning=True)


def _message_groups(at: At, pool: PoolSettings) -> Iterator[Finding]:
    standard = [queue for queue in pool.all_queues if not queue.endswith(".fifo")]
    if pool.message_groups is not None and standard:
        problem = f"caps the pool though {standard[0]} is a standard queue, whose groups are handled side by side"
        fix = "remove it, or set max_slots if it is meant as a cap"
        yield Finding((*at, "message_groups"), pool.message_groups, problem, fix, warning=True)


def _worker(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """A warning: what a job takes is an estimate, and what runs well runs well."""
    fit = pool.worker.fit if pool.worker else None
    if fit is not None and pool.slots_per_worker > fit.slots:
        problem = f"is more than fits into a worker: {fit.slots}, by its {fit.binds}"
        fix = f"lower it (and the workers' own slots) to {fit.slots}, or give each worker more"
        yield Finding((*at, "slots_per_worker"), pool.slots_per_worker, problem, fix, warning=True)


def _guard(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """What is part of the guard, and asked for while the guard is off. (`step_back = false` fits that.)"""
    if pool.downstream_guard:
        return
    problem, fix = "has no effect with downstream_guard = false", "set downstream_guard = true, or remove it"
    if pool.hold_on_alarms:
        yield Finding((*at, "hold_on_alarms"), pool.hold_on_alarms, problem, fix, warning=True)
    if pool.step_back and "step_back" in pool.said:
        yield Finding((*at, "step_back"), True, problem, fix, warning=True)


def _always(pool: PoolSettings) -> int:
    """Slots of the workers that always run, or of a single one."""
    return pool.slots_per_worker * max(1, pool.min_workers)


def _whose(pool: PoolSettings) -> str:
    of = f"min_workers = {pool.min_workers}" if pool.min_workers else "a single worker"
    return f"{of} at slots_per_worker = {pool.slots_per_worker}"


def _among(at: At) -> tuple[At, ...]:
    return (*at, "slots_per_worker"), (*at, "min_workers")
