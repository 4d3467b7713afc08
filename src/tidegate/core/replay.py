"""Decide again what was decided once: by the same settings, to see that nothing differs, or by others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

from tidegate.core.decide import decide
from tidegate.core.decision import Decision, Scalar, Step
from tidegate.core.model import Pool, PoolState
from tidegate.core.stored.recording import Record

__all__ = ["Difference", "Instead", "Sums", "first_difference", "recompute", "sum_up", "what_if"]

LONGEST_GAP_TICKS = 3
"""A count is reckoned to hold until the next tick, but not for longer than so many: then nobody was at the wheel."""

_OUTCOME = ("current", "desired", "action", "reason", "sentence", "errors", "at_s", "pool")
_NONE = Step("(none)")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first value in which two decisions differ. `step` "decision" is the outcome itself, after all steps."""

    step: str
    value: str
    recorded: Scalar
    recomputed: Scalar


def recompute(record: Record) -> Decision:
    """What this version of tidegate decides from the same three values."""
    return decide(record.pool, record.before, record.observation)[0]


def first_difference(recorded: Decision, recomputed: Decision) -> Difference | None:
    """In the order of the steps, for a later one follows from those before; None when the decisions are the same."""
    return next(_differences(recorded, recomputed), None)


def _differences(recorded: Decision, recomputed: Decision) -> Iterator[Difference]:
    for mine, other in zip_longest(recorded.steps, recomputed.steps, fillvalue=_NONE):
        if mine.name != other.name:
            yield Difference(mine.name, "step", mine.name, other.name)
        yield from _unequal(mine.name, {**mine.values, "note": mine.note}, {**other.values, "note": other.note})
    yield from _unequal("decision", _outcome(recorded), _outcome(recomputed))


def _outcome(decision: Decision) -> dict[str, Scalar]:
    told = {name: getattr(decision, name) for name in _OUTCOME}
    return {**told, "errors": "; ".join(decision.errors)}


def _unequal(step: str, mine: Mapping[str, Scalar], other: Mapping[str, Scalar]) -> Iterator[Difference]:
    for name in {**mine, **other}:
        if mine.get(name) != other.get(name):
            yield Difference(step, name, mine.get(name), other.get(name))


@dataclass(frozen=True, slots=True)
class Instead:
    """One tick: what was decided, and what would have been. Both counts held for `span_s` seconds."""

    span_s: float
    recorded: Decision
    instead: Decision


def what_if(records: Iterable[Record], change: Callable[[Pool], Pool]) -> Iterator[Instead]:
    """Each pool's ticks again under changed settings, each pool's records in the order of time.

    The changed pool begins with the recorded state, and then goes its own way: it remembers what it decided itself, and
    takes the desired count to be what it asked for. Queue and workers stay as they were recorded: this tells what would
    have been asked for at these sights, not what the queue would have come to (the lab's backtest does).
    """
    last: dict[str, Instead] = {}
    memory: dict[str, PoolState] = {}
    for record in records:
        name, seen, state = record.pool.name, record.observation, record.before
        if name in last:
            state = replace(memory[name], override=state.override)
            seen = replace(seen, capacity=replace(seen.capacity, desired=last[name].instead.desired))
            yield _held_until(last[name], seen.now_s)
        decision, memory[name] = decide(change(record.pool), state, seen)
        last[name] = Instead(record.pool.tick_s, record.decision, decision)
    yield from last.values()


def _held_until(last: Instead, now_s: float) -> Instead:
    """`last` was made to hold for a tick."""
    held_s = max(0.0, now_s - last.recorded.at_s)
    return replace(last, span_s=min(held_s, LONGEST_GAP_TICKS * last.span_s))


@dataclass(frozen=True, slots=True)
class Sums:
    """A pool's decisions added up. `worker_hours` are those asked for, not those paid: a start-up is not in them."""

    decisions: int = 0
    raises: int = 0
    cuts: int = 0
    most: int = 0
    worker_hours: float = 0.0

    def plus(self, decision: Decision, span_s: float) -> "Sums":
        """With one more tick."""
        change = decision.desired - decision.current
        return Sums(
            self.decisions + 1,
            self.raises + (change > 0),
            self.cuts + (change < 0),
            max(self.most, decision.desired),
            self.worker_hours + decision.desired * span_s / 3600.0,
        )


def sum_up(ticks: Iterable[Instead]) -> dict[str, tuple[Sums, Sums]]:
    """For each pool what was recorded and what would have been."""
    sums: dict[str, tuple[Sums, Sums]] = {}
    for tick in ticks:
        recorded, instead = sums.get(tick.recorded.pool, (Sums(), Sums()))
        sums[tick.recorded.pool] = (
            recorded.plus(tick.recorded, tick.span_s),
            instead.plus(tick.instead, tick.span_s),
        )
    return sums
