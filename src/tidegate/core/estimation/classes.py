"""Job classes: the mean service time of the mix that arrives, not of the mix that has finished.

Long jobs show among the completions only when they end. When ten-minute jobs begin to arrive, the mean over completions
stays that of the short ones for ten minutes; the mix of the starts, with each class's own mean, changes at once.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.times import HINT_RUNS, SERVICE_TIME_MEMORY_S
from tidegate.core.memory import ClassMemory
from tidegate.core.model import Pool
from tidegate.core.reports import ClassFigures, counted_as
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["class_mean_s", "hinted", "learn_classes", "mixed"]

_NOTHING = ClassMemory()


def learn_classes(
    known: Mapping[str, ClassMemory], fleet: FleetSignals | None, elapsed_s: float
) -> Mapping[str, ClassMemory]:
    """Add the latest starts and runs of each class. Starts fade together, so that they remain shares; runs fade over
    five minutes as newer ones of their own class replace them.
    """
    if fleet is None or not fleet.classes:
        return known
    fade = math.exp(-max(0.0, elapsed_s) / SERVICE_TIME_MEMORY_S)
    begun = fade if any(figures.starts > 0 for figures in fleet.classes.values()) else 1.0
    learned = {name: replace(memory, starts=memory.starts * begun) for name, memory in known.items()}
    for name, figures in fleet.classes.items():
        key = counted_as(name, learned)
        learned[key] = _added(learned.get(key, _NOTHING), figures, fade)
    return learned


def _added(old: ClassMemory, news: ClassFigures, fade: float) -> ClassMemory:
    runs = news.completions + news.failures
    kept = fade if runs else 1.0
    return ClassMemory(
        starts=max(0.0, old.starts + news.starts),
        runs=max(0.0, old.runs * kept + runs),
        sum_s=max(0.0, old.sum_s * kept + news.service_time_sum_s),
        square_sum_s2=max(0.0, old.square_sum_s2 * kept + news.service_time_square_sum_s2),
    )


def class_mean_s(pool: Pool, name: str, memory: ClassMemory, overall_s: float) -> float:
    """A class's mean service time in seconds: measured, with its hint weighing as ten runs; before that the hint, or
    the mean of all.
    """
    hint = pool.class_hints_s.get(name)
    if hint is None:
        return memory.sum_s / memory.runs if memory.runs > 0 else overall_s
    weight = max(0.0, HINT_RUNS - memory.runs)
    return (memory.sum_s + weight * hint) / (memory.runs + weight)


def hinted(pool: Pool) -> tuple[Estimate, float] | None:
    """Where there is no other service time: the mean of the classes' hints, each as likely as the next."""
    hints = pool.class_hints_s.values()
    return (Estimate(sum(hints) / len(hints), "hint"), 1.0) if hints else None


def mixed(pool: Pool, classes: Mapping[str, ClassMemory], overall: tuple[Estimate, float]) -> tuple[Estimate, float]:
    """Mean service time and squared coefficient of variation of the mix that starts; `overall` where no class is known.

    The mean is the sum of share × class mean; the second moment likewise, a class not yet measured counting as
    exponential.
    """
    starts = sum([memory.starts for memory in classes.values()]) if classes else 0.0
    if starts <= 0:
        return overall
    mean_s = square_s2 = 0.0
    for name, memory in classes.items():
        share = memory.starts / starts
        class_s = class_mean_s(pool, name, memory, overall[0].value)
        measured = memory.runs >= HINT_RUNS
        mean_s += share * class_s
        square_s2 += share * (memory.square_sum_s2 / memory.runs if measured else 2 * class_s**2)
    variation = max(0.0, square_s2 / mean_s**2 - 1.0) if mean_s > 0 else 1.0
    return Estimate(mean_s, "workers, by class"), variation
