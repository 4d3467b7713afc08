"""Which workers to start, to cancel before they are up, and to stop: pure, from what is wanted and what is there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidegate.sandbox.platform import Phase, Wanted, WorkerView

__all__ = ["Plan", "plan"]

MAXIMUM_SHARE = 2
"""During a deployment up to twice the desired count may be there, and all of it must stay up: ECS's defaults, 200 %
and 100 %. https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service_definition_parameters.html"""


@dataclass(frozen=True, slots=True)
class Plan:
    """`start` new workers; `cancel` are pending ones, `stop` running ones, by id."""

    start: int = 0
    cancel: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


def plan(wanted: Wanted, workers: Sequence[WorkerView]) -> Plan:
    """One step towards `wanted`. Workers that are stopping already count for nothing.

    Which tasks ECS stops first is not documented beyond zones and protection; here pending ones go first, then the
    newest. Protected workers are spared, so more than wanted may stay; doomed ones go in any case.
    """
    live = [worker for worker in workers if worker.phase is not Phase.STOPPING]
    doomed = [worker for worker in live if worker.worker_id in wanted.doomed]
    kept = _newest_first(worker for worker in live if worker.worker_id not in wanted.doomed)
    fresh = [worker for worker in kept if worker.revision == wanted.revision]
    old = [worker for worker in kept if worker.revision != wanted.revision]
    leaving = [*doomed, *_surplus(fresh, len(fresh) - wanted.count, wanted.protected)]
    # An old worker goes only once a new one is up in its place.
    up = len(_in_phase(old, Phase.RUNNING)) + len(_in_phase(fresh, Phase.RUNNING))
    staying_up = up - len(_in_phase([worker for worker in leaving if worker in fresh], Phase.RUNNING))
    leaving += _in_phase(old, Phase.PENDING)
    leaving += _surplus(_in_phase(old, Phase.RUNNING), staying_up - wanted.count, wanted.protected)
    room = MAXIMUM_SHARE * wanted.count - len(kept)
    return Plan(
        start=max(0, min(wanted.count - len(fresh), room)),
        cancel=tuple(worker.worker_id for worker in _in_phase(leaving, Phase.PENDING)),
        stop=tuple(worker.worker_id for worker in _in_phase(leaving, Phase.RUNNING)),
    )


def _newest_first(workers: Iterable[WorkerView]) -> list[WorkerView]:
    """Pending before running, then the latest to enter its phase; of equals the last of `workers`."""
    last_first = [*workers][::-1]
    return sorted(last_first, key=lambda worker: (worker.phase is Phase.RUNNING, -worker.since_s))


def _in_phase(workers: Iterable[WorkerView], phase: Phase) -> list[WorkerView]:
    return [worker for worker in workers if worker.phase is phase]


def _surplus(workers: Iterable[WorkerView], count: int, protected: frozenset[str]) -> list[WorkerView]:
    """The first `count` that may go."""
    return [worker for worker in workers if worker.worker_id not in protected][: max(0, count)]
