"""Is a dependency worse than it usually is? By the share of its calls that fail, and by how long they take."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tidegate.core.downstream.state import DependencyMemory, Sign
from tidegate.core.reports import DependencyFigures

__all__ = ["accept_as_usual", "learn_dependencies", "signs_of"]

RECENT_S = 60.0
CALLS_LEAST = 20.0
"""Fewer recent calls say nothing."""
BAD_LEAST = 5.0
WORSE_BY = 0.05
"""Failing: five of a hundred calls more fail than usual. Well again: when less than half of that."""
SLOWER_BY = 2.0
WELL_AGAIN = 1.5
"""Slow: calls take twice as long as usual. Well again: when less than one and a half times."""

USUAL_DOWN_S = 300.0
USUAL_UP_S = 3600.0
"""What is usual follows better times in minutes; to worse ones it gets used in hours, or when a step out shows that
more workers still buy completions: a change of the work is not taken for a sick dependency for ever."""

NAMES_AT_MOST = 16


def learn_dependencies(
    known: Mapping[str, DependencyMemory],
    calls: Mapping[str, DependencyFigures],
    elapsed_s: float,
    *,
    held: bool = False,
) -> Mapping[str, DependencyMemory]:
    """Add the calls reported since the last tick. Of more than sixteen names the most called are kept.

    While a hold stands (`held`) slower is not usual, however long it lasts: what is sick must not become the norm.
    """
    names = [*known, *(name for name in calls if name not in known)]
    learned = {
        name: _learned(known.get(name, DependencyMemory()), calls.get(name, DependencyFigures()), elapsed_s, held=held)
        for name in names
    }
    kept = sorted(learned, key=lambda name: -learned[name].calls)[:NAMES_AT_MOST]
    return {name: learned[name] for name in names if name in kept}


def signs_of(known: Mapping[str, DependencyMemory]) -> Iterator[tuple[Sign, str]]:
    """(sign, in words) of each dependency that is worse than usual; those that fail first."""
    for name, it in known.items():
        if it.failing:
            yield Sign.FAILING, f"{name} fails ({it.bad_share:.0%} of its calls, usually {it.usual_bad:.0%})"
    for name, it in known.items():
        if it.slow:
            yield Sign.SLOW, f"{name} is slow ({it.mean_s:.2g} s a call, usually {it.usual_s or 0.0:.2g} s)"


def accept_as_usual(known: Mapping[str, DependencyMemory]) -> Mapping[str, DependencyMemory]:
    """Slow calls are the usual from now on: more workers were seen to complete more all the same."""
    return {name: replace(it, usual_s=it.mean_s, slow=False) if it.slow else it for name, it in known.items()}


def _learned(known: DependencyMemory, news: DependencyFigures, elapsed_s: float, *, held: bool) -> DependencyMemory:
    fade = math.exp(-elapsed_s / RECENT_S)
    recent = replace(
        known,
        calls=known.calls * fade + news.calls,
        bad=known.bad * fade + news.bad,
        time_sum_s=known.time_sum_s * fade + news.time_sum_s,
    )
    if recent.calls < CALLS_LEAST:
        return recent if recent.calls >= 1.0 else replace(recent, failing=False, slow=False)
    usual_s, usual_bad = _usual(recent, elapsed_s, held=held)
    worse = recent.bad_share - usual_bad
    slower = recent.mean_s / usual_s if usual_s > 0 else 1.0
    return replace(
        recent,
        usual_s=usual_s,
        usual_bad=usual_bad,
        failing=worse > (WORSE_BY / 2 if known.failing else WORSE_BY) and recent.bad >= BAD_LEAST,
        slow=slower > (WELL_AGAIN if known.slow else SLOWER_BY),
    )


def _usual(recent: DependencyMemory, elapsed_s: float, *, held: bool) -> tuple[float, float]:
    """(seconds a call, share of bad calls). The first ones seen count as usual, but never a bad share above 5 %."""
    if recent.usual_s is None:
        return recent.mean_s, min(recent.bad_share, WORSE_BY)
    down = min(1.0, elapsed_s / USUAL_DOWN_S)
    if recent.mean_s < recent.usual_s:
        usual_s = recent.usual_s + down * (recent.mean_s - recent.usual_s)
    elif held:
        usual_s = recent.usual_s
    else:
        usual_s = min(recent.mean_s, recent.usual_s * math.exp2(min(elapsed_s, RECENT_S) / USUAL_UP_S))
    pace = down if recent.bad_share < recent.usual_bad else min(1.0, elapsed_s / USUAL_UP_S)
    return usual_s, recent.usual_bad + pace * (recent.bad_share - recent.usual_bad)
