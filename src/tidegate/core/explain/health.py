"""How the pool fares, told from its own decisions: figures of the last hour and days, and what they advise."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import ne

from tidegate.core.bounds import within
from tidegate.core.decision import Health, shown
from tidegate.core.estimation.classes import class_mean_s
from tidegate.core.memory import ClassMemory, HealthMemory
from tidegate.core.model import Pool
from tidegate.core.notation.durations import format_duration
from tidegate.core.reports import UNCLASSED
from tidegate.core.value import maker

__all__ = [
    "CHANGES_KEPT",
    "COUNTS_KEPT",
    "SETTLED_AFTER_S",
    "SETTLED_SHARE",
    "crowding",
    "health_of",
    "in_words",
    "learn_health",
]

CHANGES_KEPT = 120
COUNTS_KEPT = 12
HOUR_S = 3600.0
RECENT_S = 600.0
COUNTS_MEMORY_S = 3 * 86_400.0
COUNTS_KEPT_SHARE = 0.95
STEP_AT_MOST_S = 300.0
"""A longer gap between ticks is time in which nobody watched."""

PINNED_SHARE = 0.5
SETTLED_SHARE = 0.98
SETTLED_AFTER_S = 86_400.0
REVERSALS_MANY = 12
"""An hour with so many turns: every five minutes, each has started workers for nothing or stopped them too early."""

CROWD_SIGMAS = 3.0

_health = maker(Health)


def learn_health(
    memory: HealthMemory, at_s: float, current: int, desired: int, elapsed_s: float, *, pinned: bool
) -> HealthMemory:
    """Add this decision, and the time since the last one at the count that held meanwhile.

    `pinned`: the ceiling had the last word.
    """
    step_s = within(elapsed_s, 0.0, STEP_AT_MOST_S)
    changes = memory.changes[_since(memory.changes, at_s - HOUR_S) :]
    if desired != current:
        changes = (*changes, (at_s, desired - current))[-CHANGES_KEPT:]
    fade = math.exp(-step_s / HOUR_S)
    return HealthMemory(
        changes=changes,
        pinned=memory.pinned * fade + pinned * (1.0 - fade),
        time_at_s=_spent(memory.time_at_s, current, step_s),
        watched_s=memory.watched_s + step_s,
    )


def _spent(known: Mapping[str, float], count: int, step_s: float) -> Mapping[str, float]:
    """Seconds at each count, the most frequent ones of them; the present one is always among these.

    Three days of them are remembered: whenever it has become more, all fade by as much as a few hours have brought.
    """
    key = str(count)
    spent = {**known, key: known.get(key, 0.0) + step_s}
    if sum(spent.values()) > COUNTS_MEMORY_S:
        spent = {name: seconds * COUNTS_KEPT_SHARE for name, seconds in spent.items()}
    if len(spent) > COUNTS_KEPT:
        del spent[min((name for name in spent if name != key), key=spent.__getitem__)]
    return spent


def health_of(memory: HealthMemory, pool: Pool, at_s: float, notices: tuple[str, ...] = ()) -> Health:
    """The figures, and a sentence for each that wants something done; `notices` are what this tick came upon."""
    recent = len(memory.changes) - _since(memory.changes, at_s - RECENT_S)
    ups = [change > 0 for _, change in memory.changes]
    reversals = sum(map(ne, ups[1:], ups))
    usual, share = _usual(memory)
    figures = _health(
        changes_per_min=recent / (RECENT_S / 60),
        reversals_per_h=reversals,
        pinned_share=shown(memory.pinned, 4),
        usual_count=usual,
        usual_share=shown(share, 4),
        watched_s=memory.watched_s,
    )
    advice = (*notices, *_advice(figures, pool))
    return replace(figures, advice=advice) if advice else figures


def _since(changes: Sequence[tuple[float, int]], at_s: float) -> int:
    """The place of the first change at that time or later."""
    return bisect_left(changes, (at_s,))


def _usual(memory: HealthMemory) -> tuple[int | None, float]:
    total = sum(memory.time_at_s.values())
    if total <= 0:
        return None, 0.0
    name = max(memory.time_at_s, key=memory.time_at_s.__getitem__)
    return int(name), memory.time_at_s[name] / total


def _advice(health: Health, pool: Pool) -> list[str]:
    said = []
    if health.pinned_share >= PINNED_SHARE:
        said.append(
            f"at the ceiling for {health.pinned_share:.0%} of the last hour: raise what binds, or the target, "
            "or send less"
        )
    if health.reversals_per_h >= REVERSALS_MANY:
        said.append(f"turned {health.reversals_per_h} times in an hour: a longer `hold` would save starts")
    settled = health.watched_s >= SETTLED_AFTER_S and health.usual_share >= SETTLED_SHARE
    if settled and pool.min_workers < pool.max_workers:
        said.append(
            f"{health.usual_share:.0%} of the time at {health.usual_count} workers: a fixed pool of "
            f"{health.usual_count} is simpler"
        )
    return said


def in_words(health: Health) -> str:
    """The figures in one line.

    >>> in_words(Health(0.2, 3, 0.125, 4, 0.9, 7200.0))
    '0.2 changes a minute, 3 turns in an hour, at the ceiling 12% of it; 4 workers for 90% of 2h'
    """
    usual = "" if health.usual_count is None else f"; {health.usual_count} workers for {health.usual_share:.0%} of "
    watched = format_duration(round(health.watched_s)) if usual else ""
    return (
        f"{health.changes_per_min:.1f} changes a minute, {health.reversals_per_h} turns in an hour, "
        f"at the ceiling {health.pinned_share:.0%} of it{usual}{watched}"
    )


def crowding(
    pool: Pool, classes: Mapping[str, ClassMemory], arrivals_per_s: float, slots: int, overall_s: float
) -> str:
    """The class that can fill the pool for longer than another may wait, in words; "" when none can.

    Of a class with load a, a + 3 √a slots are busy at times (Poisson). When that is all of them, and each job lasts
    longer than the target, whoever comes then waits for that long.
    """
    starts = sum(memory.starts for memory in classes.values())
    if starts <= 0 or slots <= 0:
        return ""
    means = {name: class_mean_s(pool, name, memory, overall_s) for name, memory in classes.items() if memory.starts > 0}
    short = [name for name, mean_s in means.items() if name != UNCLASSED and mean_s <= pool.target_wait_s]
    for name, mean_s in means.items():
        load = arrivals_per_s * classes[name].starts / starts * mean_s
        fills = load + CROWD_SIGMAS * math.sqrt(load) >= slots
        if name != UNCLASSED and short and fills and mean_s > pool.target_wait_s:
            return (
                f"class {name} can fill this pool for {mean_s:.0f} s, longer than class {short[0]} may wait "
                f"({pool.target_wait_s:.0f} s): split it into a pool of its own"
            )
    return ""
