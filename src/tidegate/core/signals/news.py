"""What of the workers' reports is new since the last tick, and what it comes to.

A worker's totals tell what it has done since it was last looked at, however ticks and heartbeats fall.
"""

import math
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter, mul

from tidegate.core.bounds import at_least, at_most
from tidegate.core.model import KnownWorker, PoolState
from tidegate.core.reports import UNCLASSED, WAIT_BOUNDS_S, ClassFigures, DependencyFigures, WorkerReport, WorkFigures
from tidegate.core.value import value

__all__ = [
    "QUEUE_MEMORY_S",
    "Done",
    "Waits",
    "by_class",
    "calls_of",
    "digest",
    "done_since",
    "ran",
    "read_at_s",
    "waits_of",
]

QUEUE_MEMORY_S = 1800.0
"""Waits and the counts that they are compared with fade over half an hour."""

DIGESTS_KEPT = 16_384
"""Workers whose digests are not reckoned anew at each tick: a few megabytes."""

_classes_of, _dependencies_of = attrgetter("classes"), attrgetter("dependencies")
_NO_FIGURES = ClassFigures()
_UNKNOWN = KnownWorker(0, 0, 0, timed=False)
_LOWER_EDGES_S = (0.0, *WAIT_BOUNDS_S)
_UPPER_EDGES_S = (*WAIT_BOUNDS_S, WAIT_BOUNDS_S[-1])
_MIDDLES_S = tuple((low + high) / 2 for low, high in zip(_LOWER_EDGES_S, _UPPER_EDGES_S, strict=True))
_SQUARED_MIDDLES_S2 = tuple(middle_s**2 for middle_s in _MIDDLES_S)
_FADED_MIDDLES_S = tuple(QUEUE_MEMORY_S * -math.expm1(-middle_s / QUEUE_MEMORY_S) for middle_s in _MIDDLES_S)
"""Of each bucket, as much of its middle as is not faded yet."""


@value
class Waits:
    """Waits (sent → started) of the messages started since the last tick. `p99_s` is its bucket's upper edge.

    Sums take the middles of the buckets, `sum_s` each second of a wait as it has faded until now, as counts have.
    """

    starts: int
    late_share: float
    p99_s: float
    sum_s: float = 0.0
    mean_s: float = 0.0
    variation: float = 0.0
    """The squared coefficient of variation of the waits."""


@value
class Done:
    """What workers have done since their reports were last read, by their totals; runs that ended have failed or not.

    `news` is what those reports tell that bring any: each of the time since that worker's heartbeat before.
    """

    starts: int
    completions: int
    ends: int
    leases_lost: int
    news: list[WorkFigures]

    def told_s(self, since_s: float, workers: int) -> float:
        """How much of the time since the reports were last read `news` tells of; 0 without any.

        Less where heartbeats were missed, by us or by the tick's length: as much less as totals have grown by more. A
        heartbeat that is longer than a tick tells of more, as far as all workers sent theirs at once.
        """
        if not self.news:
            return 0.0
        spans_s = [figures.span_s for figures in self.news]
        told = sum([figures.starts for figures in self.news])
        share = told / self.starts if self.starts > told else 1.0
        return at_most(max(spans_s), at_least(since_s * share, sum(spans_s) / workers))


@lru_cache(maxsize=DIGESTS_KEPT)
def digest(worker_id: str) -> str:
    """Eight characters for a worker: a pool of hundreds must fit into one stored item."""
    return f"{zlib.crc32(worker_id.encode()):08x}"


def read_at_s(state: PoolState) -> float | None:
    """When reports were last read; a state from before that was remembered had read them at each tick."""
    return state.ticked_at_s if state.reports_read_at_s is None else state.reports_read_at_s


def done_since(state: PoolState, workers: Iterable[WorkerReport]) -> Done:
    """Starts, completions and leases lost since reports were last read, and what the reports that bring news tell.

    What is news is told by what was done, not by time: the worker's clock may be off.
    """
    starts = completions = failures = leases_lost = 0
    known, news, since_s = state.known_workers, [], read_at_s(state)
    for worker in workers:
        before, figures = known.get(digest(worker.worker_id)), worker.total
        seen = before
        if seen is None:
            seen, figures = _UNKNOWN, _unheard(worker, since_s)
        begun, ended = figures.starts - seen.starts, figures.completions - seen.completions
        failed, lost = figures.failures - seen.failures, figures.leases_lost - seen.leases_lost
        if begun or ended or failed or before is None:
            news.append(worker.recent)
        starts += begun if begun > 0 else 0
        completions += ended if ended > 0 else 0
        failures += failed if failed > 0 else 0
        leases_lost += lost if lost > 0 else 0
    return Done(starts, completions, completions + failures, leases_lost, news)


def _unheard(worker: WorkerReport, since_s: float | None) -> WorkFigures:
    """Of a worker never seen before: what it did before this state began is not news."""
    young = since_s is not None and worker.started_at_s >= since_s
    return worker.total if young else worker.recent


def ran(news: Iterable[WorkFigures]) -> tuple[int, float, float, int]:
    """Handler runs that ended, their times added up and the squares of these, and retries put off."""
    runs, sum_s, square_sum_s2, retries_held = 0, 0.0, 0.0, 0
    for figures in news:
        runs += figures.completions + figures.failures
        sum_s += figures.service_time_sum_s
        square_sum_s2 += figures.service_time_square_sum_s2
        retries_held += figures.retries_held
    return runs, sum_s, square_sum_s2, retries_held


def waits_of(news: list[WorkFigures], target_wait_s: float) -> Waits | None:
    """By the histograms of waits; None when nothing was started."""
    edges = len(WAIT_BOUNDS_S) + 1
    buckets = list(map(sum, zip(*[figures.waits for figures in news if len(figures.waits) == edges], strict=True)))
    starts = sum(buckets)
    if not starts:
        return None
    late = sum(buckets[bisect_left(_LOWER_EDGES_S, target_wait_s) :])
    p99_s = _UPPER_EDGES_S[bisect_left(list(accumulate(buckets)), 0.99 * starts)]
    sum_s = sum(map(mul, buckets, _FADED_MIDDLES_S))
    mean_s = sum(map(mul, buckets, _MIDDLES_S)) / starts
    if starts < 2 or mean_s <= 0:
        return Waits(starts, late / starts, p99_s, sum_s, mean_s)
    squares = sum(map(mul, buckets, _SQUARED_MIDDLES_S2)) / starts
    return Waits(starts, late / starts, p99_s, sum_s, mean_s, (squares / mean_s**2 - 1.0) * starts / (starts - 1))


def by_class(news: list[WorkFigures]) -> dict[str, ClassFigures]:
    """The workers' classes added up, and under `UNCLASSED` what had none; {} where no message carries a class."""
    if not any(map(_classes_of, news)):
        return {}
    summed: dict[str, ClassFigures] = {}
    for figures in news:
        for name, new in figures.classes.items():
            summed[name] = _with(summed.get(name, _NO_FIGURES), new, 1)
            summed[UNCLASSED] = _with(summed.get(UNCLASSED, _NO_FIGURES), new, -1)
        summed[UNCLASSED] = _with(summed.get(UNCLASSED, _NO_FIGURES), figures, 1)
    return summed


def _with(old: ClassFigures, new: ClassFigures | WorkFigures, sign: int) -> ClassFigures:
    """Waits are left to the workers' own reports."""
    return ClassFigures(
        starts=old.starts + sign * new.starts,
        completions=old.completions + sign * new.completions,
        failures=old.failures + sign * new.failures,
        service_time_sum_s=old.service_time_sum_s + sign * new.service_time_sum_s,
        service_time_square_sum_s2=old.service_time_square_sum_s2 + sign * new.service_time_square_sum_s2,
    )


def calls_of(news: list[WorkFigures]) -> Mapping[str, DependencyFigures]:
    """The calls of each dependency added up."""
    if not any(map(_dependencies_of, news)):
        return {}
    names = dict.fromkeys([name for figures in news for name in figures.dependencies])
    return {
        name: DependencyFigures(
            *(
                sum(getattr(figures.dependencies[name], each.name) for figures in news if name in figures.dependencies)
                for each in fields(DependencyFigures)
            )
        )
        for name in names
    }
