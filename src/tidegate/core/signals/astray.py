"""Retired workers that don't do what they were told: gone, hanging, silent, deaf, or spared by the platform.

None of them may keep the pool waiting for ever. What is taken here without having drained holds no message any more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tidegate.core.model import Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.core.workers.leases import LONGEST_LEASE_S

__all__ = ["SILENT_LIMIT_S", "hangs", "names", "still_true", "written_off"]

DRAIN_LIMIT_S: Final = LONGEST_LEASE_S + 300.0
"""SQS ends every lease after 12 hours: what drains for longer holds no message any more, it hangs."""

SILENT_LIMIT_S: Final = 900.0
"""For a service of ECS. Protection there ends ten minutes after it was last asked for, leases sooner: a worker that has
said nothing for longer while it runs hangs as a whole. Of those that the count is lowered for then, ECS spares all that
are protected, hence this one too if it only can't report."""

LEAVE_LIMIT_S: Final = 300.0
"""The platform stops a worker within seconds of the count's change. One that is still there after this, while the
platform has no more than it was asked for, was spared: another one went, or none had to."""

DEAF_AFTER_S: Final = 60.0
DEAF_AFTER_HEARTBEATS: Final = 6
"""A worker reads the list with each heartbeat. One that still takes work after this does not read it: another is
retired in its stead, and it counts as one that works until it shows that it has heard."""

_MOST_NAMED: Final = 3


def still_true(
    retired: Sequence[Retired], alive: Mapping[str, WorkerReport], seen: Observation
) -> tuple[tuple[Retired, ...], list[str]]:
    """Without those that are gone or that the platform spared, and what is to be said of them."""
    heard = [
        each if each.silent_since_s is None else replace(each, silent_since_s=None)
        for each in retired
        if _in(each, alive)
    ]
    silent = _silent(retired, alive, seen)
    kept_ids = {each.worker_id for each in (*heard, *silent)}
    lost = [each for each in retired if each.worker_id not in kept_ids and each.left_at_s is None]
    died = sum(not (each.renewal or each.deaf) for each in lost)
    notes = [f"{died} retired fell silent, which the platform makes up for"] if died else []
    given_up = [each for each in heard if each.renewal and hangs(each, seen.now_s)]
    if given_up:
        notes.append(f"{names(given_up)} did not drain within 12 hours and is given up on")
    spared = [each for each in (*heard, *silent) if _was_spared(each, seen)]
    if any(not each.renewal for each in spared):
        notes.append(f"{names(spared)} was not removed by the platform and works on")
    kept = [replace(each, deaf=_is_deaf(each, alive, seen.now_s)) for each in heard if each not in (*given_up, *spared)]
    if deaf := [each for each in kept if each.deaf]:
        notes.append(f"{names(deaf)} was told to retire and works on: look whether it can read the fleet table")
    return (*kept, *(each for each in silent if each not in spared)), notes


def hangs(each: Retired, now_s: float) -> bool:
    """Whether it has drained, or been silent, for longer than it can hold a message."""
    return now_s - each.since_s > DRAIN_LIMIT_S or _is_written_off(each, now_s)


def written_off(retired: Iterable[Retired], now_s: float) -> int:
    """How many run, for all that the platform says, and are not waited for any longer."""
    return sum([_is_written_off(each, now_s) for each in retired if each.silent_since_s is not None])


def names(retired: Sequence[Retired]) -> str:
    """The first of them by name, the others by number."""
    said = ", ".join(each.worker_id for each in retired[:_MOST_NAMED])
    return said if len(retired) <= _MOST_NAMED else f"{said} and {len(retired) - _MOST_NAMED} more"


def _in(each: Retired, alive: Mapping[str, WorkerReport]) -> bool:
    return each.worker_id in alive


def _silent(retired: Sequence[Retired], alive: Mapping[str, WorkerReport], seen: Observation) -> list[Retired]:
    """Those not heard of any more while the platform runs more workers than report: they may hang as a whole.

    Not in a group that is told names: a silent worker's is not known any more, and the group would choose another.
    """
    running = 0 if seen.capacity.removes_by_name else max(0, seen.capacity.running - len(alive))
    drained = [each for each in retired if each.left_at_s is not None and each.silent_since_s is None]
    lost = [each for each in retired if not (_in(each, alive) or each.renewal or each.deaf or each in drained)]
    return [
        replace(each, silent_since_s=seen.now_s) if each.silent_since_s is None else each for each in lost[:running]
    ]


def _is_written_off(each: Retired, now_s: float) -> bool:
    return each.silent_since_s is not None and now_s - each.silent_since_s > SILENT_LIMIT_S


def _is_deaf(each: Retired, alive: Mapping[str, WorkerReport], now_s: float) -> bool:
    worker = alive[each.worker_id]
    limit_s = max(DEAF_AFTER_S, DEAF_AFTER_HEARTBEATS * worker.heartbeat_s)
    return each.left_at_s is None and worker.state is WorkerState.RUNNING and now_s - each.since_s > limit_s


def _was_spared(each: Retired, seen: Observation) -> bool:
    if each.renewal:
        return not seen.capacity.deploying
    overdue = each.left_at_s is not None and seen.now_s - each.left_at_s > LEAVE_LIMIT_S
    return overdue and (seen.capacity.running <= seen.capacity.desired or each.silent_since_s is not None)
