"""What a decision says of itself: its sentence, its steps, and how the pool fares."""

from collections.abc import Iterator

from tidegate.core.decision import Reason, Step, Told
from tidegate.core.explain.health import crowding, health_of
from tidegate.core.explain.sentence import bulk_sentence, sentence, sentence_without_need
from tidegate.core.explain.steps import capacity_step, estimate_step, signals_step
from tidegate.core.guardrails.trail import Ruled, Trail
from tidegate.core.model import PoolState

__all__ = ["told"]


def told(trail: Trail, after: PoolState, wanted: int, reason: Reason) -> Told:
    """Of a trail at its end: `wanted` were needed before any rule, and `reason` had the last word."""
    notices = (*trail.notices, *_crowded(trail, after))
    health = health_of(after.health, trail.pool, trail.seen.now_s, notices)
    return Told(_said(trail, wanted, reason), tuple(_steps(trail)), health)


def _steps(trail: Trail) -> Iterator[Step]:
    """In the order in which they were taken."""
    yield signals_step(trail.pool, trail.before, trail.signals, trail.seen.now_s)
    yield capacity_step(trail.before, trail.seen, trail.slots_per_worker)
    if trail.load is not None and trail.sized is not None:
        yield estimate_step(trail.pool, trail.load)
        yield trail.sized.step
    if trail.quiet is not None:
        yield trail.quiet
    yield from map(_step, trail.ruled)


def _step(ruled: Ruled) -> Step:
    name, before, limit, values = ruled
    return Step(name, {"before": before, "after": limit.workers, **values}, limit.note)


def _said(trail: Trail, wanted: int, reason: Reason) -> str:
    """The sentence: what was seen and needs, which rule had the last word, what was noticed."""
    current, sized = trail.seen.capacity.desired, trail.sized
    if trail.load is None or sized is None:
        said = sentence_without_need(current, trail.workers, reason, trail.note)
    elif trail.pool.finish_in_s is not None:
        said = bulk_sentence(current, trail.workers, reason, sized.step.note, trail.note)
    else:
        said = sentence(trail.pool, trail.load, current, wanted, trail.workers, reason, trail.note)
    return "; ".join((said, *trail.notices))


def _crowded(trail: Trail, after: PoolState) -> tuple[str, ...]:
    """A class that can fill the pool for longer than another may wait."""
    load = trail.load
    if load is None or not after.classes:
        return ()
    slots = trail.seen.capacity.desired * load.slots_per_worker
    said = crowding(trail.pool, after.classes, load.arrivals.value, slots, load.service_time.value)
    return (said,) if said else ()
