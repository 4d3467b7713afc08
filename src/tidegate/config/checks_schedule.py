"""What a pool's schedule means together with its other settings."""

from collections.abc import Iterator, Sequence, Set

from tidegate.config.findings import At, Finding
from tidegate.config.pool import PoolSettings
from tidegate.config.schedule import starts
from tidegate.config.tables import Window

__all__ = ["check_schedule"]

_LOOK_AT = 400
"""Starts of a window that are looked at for an overlap: more than a year of a daily one."""


def check_schedule(at: At, pool: PoolSettings) -> Iterator[Finding]:
    """Every fault and warning about the schedule of the pool that is at `at`."""
    names: set[str] = set()
    with_most = [window for window in pool.schedule if window.max_workers is not None]
    for place, window in enumerate(pool.schedule):
        here = (*at, "schedule", place)
        yield from _times(here, window)
        yield from _name(here, window, names, at)
        names.add(window.name)
        yield from _limits(here, window, at, pool)
        yield from _slots(here, window, at, pool)
        yield from _overlap(here, window, with_most, at)


def _times(here: At, window: Window) -> Iterator[Finding]:
    if window.start.split() == window.end.split():
        fix = "set end to a later time, or set the limits on the pool itself if they hold always"
        yield Finding((*here, "end"), window.end, "is the same as start", fix, ((*here, "start"),))


def _name(here: At, window: Window, earlier: Set[str], at: At) -> Iterator[Finding]:
    if window.name in earlier:
        problem = "is the name of another window of this pool, so a decision can't say which"
        yield Finding((*here, "name"), window.name, problem, "give each window its own name", ((*at, "schedule"),))
    if window.min_workers is None and window.max_workers is None:
        fix = "set min_workers or max_workers in it, or remove it"
        yield Finding((*here, "name"), window.name, "changes neither limit", fix, warning=True)


def _limits(here: At, window: Window, at: At, pool: PoolSettings) -> Iterator[Finding]:
    least = pool.min_workers if window.min_workers is None else window.min_workers
    most = pool.max_workers if window.max_workers is None else window.max_workers
    if least <= most or (window.min_workers is None and window.max_workers is None):
        return
    among = tuple((*spot, key) for spot in (here, at) for key in ("min_workers", "max_workers"))
    if window.min_workers is not None:
        whose = "the pool's " if window.max_workers is None else ""
        problem = f"is more than {whose}max_workers = {most} in the window {window.name!r}"
        fix = f"lower it to {most} or less, or set max_workers = {least} or more in this window"
        yield Finding((*here, "min_workers"), least, problem, fix, among)
    else:
        problem = f"is less than the pool's min_workers = {least} in the window {window.name!r}"
        fix = f"raise it to {least} or more, or set min_workers = {most} or less in this window"
        yield Finding((*here, "max_workers"), most, problem, fix, among)


def _slots(here: At, window: Window, at: At, pool: PoolSettings) -> Iterator[Finding]:
    if pool.max_slots is None or window.min_workers is None or window.min_workers <= pool.min_workers:
        return
    needed = window.min_workers * pool.slots_per_worker
    if pool.max_slots < needed:
        problem = f"needs {needed} slots at slots_per_worker = {pool.slots_per_worker}, max_slots is {pool.max_slots}"
        fix = f"lower it to {pool.max_slots // pool.slots_per_worker} or less, or raise max_slots"
        among = tuple((*at, key) for key in ("max_slots", "slots_per_worker", "min_workers"))
        yield Finding((*here, "min_workers"), window.min_workers, problem, fix, among)


def _overlap(here: At, window: Window, with_most: Sequence[Window], at: At) -> Iterator[Finding]:
    """Two windows that are fine by themselves, where one's minimum is above the other's maximum while both are open.

    A window with a maximum of its own can't clash: the highest maximum wins, and its own is not below its minimum. The
    first that clashes is told: to look for an overlap takes a while.
    """
    least = window.min_workers
    if least is None or window.max_workers is not None:
        return
    for other in with_most:
        most = other.max_workers
        if most is None or least <= most or not _meet(window, other):
            continue
        problem = f"is more than max_workers = {most} of the window {other.name!r}, which is open at the same time"
        fix = f"set max_workers = {least} or more in this window too (where windows overlap the highest wins)"
        yield Finding((*here, "min_workers"), least, problem, fix, ((*at, "schedule"),))
        return


def _meet(one: Window, other: Window) -> bool:
    """Whether one is open at some start of the other."""
    return any(
        first.holds(at_s) and second.holds(at_s)
        for first, second in ((one, other), (other, one))
        for at_s in starts(first.start, first.timezone, _LOOK_AT)
    )
