"""Scale-in that interrupts nothing: whom to retire, whom to take back, and by how many the count may be lowered.

`wanted` workers are to take work. Those that are too many are told to take no more, and the count is lowered only by as
many as have nothing left, so that the platform, which spares protected workers or is told their names, removes those.
When more are wanted again, retired workers come back before anything new is started: they need no start-up.

While a deployment runs, workers of the older revision are retired in batches, for the platform to replace: a busy
worker is never idle, so its protection would hold the deployment up for ever. The count stays as it is then.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tidegate.core.bounds import at_least
from tidegate.core.model import Retired
from tidegate.core.observation import Capacity, Observation
from tidegate.core.reports import Fleet, WorkerReport, WorkerState
from tidegate.core.signals.astray import hangs, names, still_true
from tidegate.core.signals.fleet import FleetSignals, heard_of
from tidegate.core.value import value

__all__ = ["Outcome", "is_gentle", "leaving_hosts", "not_left", "retire", "serving", "unspared"]

BATCH_SHARE: Final = 0.1
"""Of the workers, in a deployment that starts nothing new before something old has gone."""

_RELEASED: Final = WorkerState.RELEASED


@value
class Outcome:
    """`workers` is the count to ask for, `retired` who is to take no work; the other numbers are for the decision."""

    workers: int
    retired: tuple[Retired, ...]
    waiting: int = 0
    """Retired workers that still hold something, or whose removal is yet to be asked for."""
    left: int = 0
    """Those that the count is lowered for now."""
    taken_back: int = 0
    notes: tuple[str, ...] = ()


def is_gentle(seen: Observation, fleet: FleetSignals | None = None) -> bool:
    """Whether the platform can be kept from stopping a worker that holds something: it is told whom to remove, or
    spares all of them but those that hold nothing."""
    alive = heard_of(seen.fleet.workers, seen.now_s) if fleet is None else fleet.alive
    spared = not [worker for worker in alive if not (worker.protected or worker.state is _RELEASED)]
    named = seen.capacity.removes_by_name and all(worker.host for worker in alive)
    return bool(alive) and (named or spared)


def unspared(seen: Observation) -> str:
    """What keeps it from being gentle, and what to do about it, in words; "" where no worker reports."""
    alive = heard_of(seen.fleet.workers, seen.now_s)
    if not alive:
        return ""
    if seen.capacity.removes_by_name:
        nameless = sum(not worker.host for worker in alive)
        what, fix = (
            "do not tell which instance is theirs",
            "let them read it (IMDSv2, in a container with a hop limit of 2)",
        )
    else:
        nameless = sum(not (worker.protected or worker.state is _RELEASED) for worker in alive)
        what, fix = "are not protected", "allow their task role ecs:UpdateTaskProtection and ecs:GetTaskProtection"
    return (
        f"{nameless} of {len(alive)} workers {what}, so the platform could stop a busy one and none is stopped while "
        f"any is busy: {fix}, else set a longer stop_timeout here and on the platform"
    )


def serving(retired: Sequence[Retired], capacity: Capacity) -> int:
    """The workers that take work or will once they have started: the desired count less those that drain.

    One that never heard that it is retired takes work.
    """
    return at_least(capacity.desired - len(_draining(retired)), 0)


def retire(
    wanted: int,
    retired: Sequence[Retired],
    seen: Observation,
    *,
    gentle: bool,
    lower: bool,
    unheard: int = 0,
    hanging: int = 0,
) -> Outcome:
    """One tick's step. `gentle` False (see `is_gentle`): the plain change of the count, and nobody is retired for it.

    `lower` False: the count is not to fall now (frozen, or signals that can't be trusted); drained workers wait.
    `unheard` workers run and do not report, and `hanging` ones do nothing either: nobody can retire them, so the count
    falls for them as it does without SDK.
    """
    spare = gentle and wanted < max(seen.capacity.desired, seen.capacity.running)
    if not (retired or spare or seen.capacity.outdated):  # most ticks
        return Outcome(max(wanted, seen.capacity.desired if gentle else 0), ())
    if retired and seen.fleet.failed:
        return _unseen(wanted, tuple(retired), seen)
    alive = {worker.worker_id: worker for worker in heard_of(seen.fleet.workers, seen.now_s)}
    kept, notes = still_true(retired, alive, seen)
    kept = kept if gentle else tuple(each for each in kept if each.silent_since_s is None)
    before = len(_draining(kept))
    kept, taken_back = _take_back(kept, wanted - serving(kept, seen.capacity) if gentle else seen.capacity.desired)
    left = plainly = 0
    if gentle:
        kept, plainly = _choose(wanted, kept, alive, seen, unheard + hanging)
    if gentle and lower:
        kept, left, said = _let_leave(kept, alive, seen.now_s)
        beyond = _beyond(wanted, kept, alive, seen)
        kept, notes = (*kept, *beyond), notes + said
        if beyond:
            notes.append(f"{len(beyond)} run beyond the desired count and are retired")
    renewals, said = _renewals(kept, alive, seen, unheard)
    kept, notes = (*kept, *renewals), notes + said
    as_it_is = seen.capacity.desired if gentle or before else 0
    if draining := _draining(kept):
        notes.append(_sentence(draining, alive))
    if renewed := sum(each.renewal for each in kept):
        notes.append(f"{renewed} of the older revision retired to be replaced")
    return Outcome(max(wanted, as_it_is - left - plainly), kept, len(draining), left, taken_back, tuple(notes))


def not_left(retired: Sequence[Retired], at_s: float) -> tuple[Retired, ...]:
    """The same when the count could not be lowered at `at_s` after all."""
    return tuple(replace(each, left_at_s=None) if each.left_at_s == at_s else each for each in retired)


def leaving_hosts(retired: Sequence[Retired], fleet: Fleet, at_s: float) -> tuple[str, ...]:
    """What the platform calls the workers that the count is lowered for at `at_s`, as far as that is known."""
    ids = {each.worker_id for each in retired if each.left_at_s == at_s}
    return tuple(worker.host for worker in fleet.workers if worker.worker_id in ids and worker.host)


def _draining(retired: Iterable[Retired]) -> list[Retired]:
    """Those that the desired count still contains and that take no work."""
    return [each for each in retired if each.left_at_s is None and not each.renewal and not each.deaf]


def _unseen(wanted: int, retired: tuple[Retired, ...], seen: Observation) -> Outcome:
    """The reports can't be read now, which says nothing of the workers: who is retired stays so, unless needed."""
    before = len(_draining(retired))
    kept, taken_back = _take_back(retired, wanted - serving(retired, seen.capacity))
    waiting = len(_draining(kept))
    notes = (f"{waiting} retired and not seen now: none is stopped",) if waiting else ()
    return Outcome(max(wanted, seen.capacity.desired if before else 0), kept, waiting, 0, taken_back, notes)


def _take_back(retired: tuple[Retired, ...], more: int) -> tuple[tuple[Retired, ...], int]:
    """The last retired first: they have drained least. When all of them are not enough, those too that the count was
    lowered for: the platform may not have stopped them yet. Whoever never heard of it is not to hear of it now."""
    able = [each for each in _draining(retired) if each.silent_since_s is None]
    newest_first = sorted(able, key=lambda each: each.since_s, reverse=True)
    back = set(newest_first[: max(0, more)])
    if more > 0:
        back |= {each for each in retired if each.deaf}
    if more > len(newest_first):
        back |= {each for each in retired if each.left_at_s is not None}
    return tuple(each for each in retired if each not in back), min(len(newest_first), max(0, more))


def _choose(
    wanted: int, kept: tuple[Retired, ...], alive: Mapping[str, WorkerReport], seen: Observation, unheard: int
) -> tuple[tuple[Retired, ...], int]:
    """Who else is to take no more work, and by how many the count may fall for workers that never reported."""
    spare = max(0, serving(kept, seen.capacity) - wanted)
    least_busy = _least_busy(alive.values(), kept)
    if unheard and seen.capacity.removes_by_name:  # these can't be named: in proportion, so that enough is seen
        plainly = min(unheard, spare * unheard // (unheard + len(least_busy)))
    else:
        plainly = min(spare, max(0, _unheard(alive, kept, seen.capacity)))
    chosen = least_busy[: spare - plainly]
    return (*kept, *(Retired(worker.worker_id, seen.now_s) for worker in chosen)), plainly


def _beyond(
    wanted: int, kept: Sequence[Retired], alive: Mapping[str, WorkerReport], seen: Observation
) -> list[Retired]:
    """Who is to leave of those that run beyond the desired count: it was lowered past protected workers, by others or
    while one was unprotected, and the platform spares these for as long as they are.

    The count holds none of them, so it has fallen for them already. Reports and the platform must both show it: who has
    died reports for a moment longer, and who is being stopped runs for a moment longer. Not where the platform is told
    names: it would stop nobody for an unchanged count.
    """
    capacity = seen.capacity
    if capacity.removes_by_name or capacity.deploying or capacity.outdated:
        return []
    taking = _least_busy(alive.values(), kept)
    draining = len(_draining(kept))
    more = min(len(taking) + draining, capacity.running) - max(wanted + draining, capacity.desired)
    return [Retired(worker.worker_id, seen.now_s, left_at_s=seen.now_s) for worker in taking[: max(0, more)]]


def _unheard(alive: Mapping[str, WorkerReport], kept: Sequence[Retired], capacity: Capacity) -> int:
    """Workers of which nothing is heard: those that never reported have nothing yet, so the count falls for them first.

    Only where all others are protected. A group that is told names has none to be told here.
    """
    if capacity.removes_by_name:
        return 0
    left = sum(each.left_at_s is not None and each.worker_id in alive for each in kept)
    silent = sum(each.left_at_s is None and each.worker_id not in alive for each in kept)
    return capacity.desired - (len(alive) - left) - silent


def _least_busy(workers: Iterable[WorkerReport], kept: Sequence[Retired]) -> list[WorkerReport]:
    """Those that take work now, least busy first; of equals the newest, whose going loses least."""
    listed = {each.worker_id for each in kept}
    taking = [each for each in workers if each.state is WorkerState.RUNNING and each.worker_id not in listed]
    return sorted(taking, key=lambda worker: (worker.busy, -worker.started_at_s, worker.worker_id))


def _renewals(
    kept: Sequence[Retired], alive: Mapping[str, WorkerReport], seen: Observation, unheard: int
) -> tuple[list[Retired], list[str]]:
    """Workers of the older revision: as many as new ones take work, so that no capacity is lost; at least a batch.

    The platform says how many are old; the oldest are. New ones that take no work yet are of the batch, in place of
    those that have gone: a revision that hangs would else get all old workers retired, one batch after the other. Those
    that do not report but are reckoned to work (`unheard`) hold nothing up.
    """
    outdated = seen.capacity.outdated
    if not outdated:
        return [], []
    by_age = sorted(alive.values(), key=lambda worker: (worker.started_at_s, worker.worker_id))
    old, new = by_age[:outdated], by_age[outdated:]
    fresh = sum(worker.state is WorkerState.RUNNING for worker in new)
    under_way = sum(each.renewal and not each.deaf for each in kept)
    idle = max(0, seen.capacity.running + seen.capacity.pending - max(len(alive), outdated) - unheard)
    room = max(fresh, math.ceil(BATCH_SHARE * seen.capacity.desired) - idle) - under_way
    if room <= 0 and idle and not under_way:
        return [], [f"{idle} of the newer revision have not begun to take work: none of the older is retired for them"]
    return [
        Retired(worker.worker_id, seen.now_s, renewal=True) for worker in _least_busy(old, kept)[: max(0, room)]
    ], []


def _let_leave(
    kept: tuple[Retired, ...], alive: Mapping[str, WorkerReport], now_s: float
) -> tuple[tuple[Retired, ...], int, list[str]]:
    """The count falls for those that hold nothing: they say so, or have hung for so long that they can't."""
    draining = _draining(kept)
    hung = [each for each in draining if hangs(each, now_s) and _state(each, alive) is not _RELEASED]
    done = {each for each in draining if _state(each, alive) is _RELEASED} | set(hung)
    notes = [f"{names(hung)} hangs ({_how(hung, alive)}) and is removed without having drained"] if hung else []
    return tuple(replace(each, left_at_s=now_s) if each in done else each for each in kept), len(done), notes


def _state(each: Retired, alive: Mapping[str, WorkerReport]) -> WorkerState | None:
    """None: it has fallen silent."""
    return alive[each.worker_id].state if each.worker_id in alive else None


def _how(hung: Sequence[Retired], alive: Mapping[str, WorkerReport]) -> str:
    silent = sum(each.worker_id not in alive for each in hung)
    if silent == len(hung):
        return "silent while it runs"
    return "12 hours without an end" if not silent else f"12 hours without an end, {silent} of them silent"


def _sentence(draining: Sequence[Retired], alive: Mapping[str, WorkerReport]) -> str:
    heard = [alive[each.worker_id] for each in draining if each.worker_id in alive]
    busy, count = sum(worker.busy for worker in heard), len(draining)
    silent = f", {count - len(heard)} silent" if len(heard) < count else ""
    who = "it holds" if count == 1 else "they hold"
    return f"{count} retired and not stopped before {who} nothing ({busy} busy{silent})"
