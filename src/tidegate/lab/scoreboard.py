"""Every policy in every cell, on several processes, from a cache where nothing that matters has changed."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from tidegate.lab.cache import PartCache
from tidegate.lab.cells import Cell, Windows, made_up, windows_of
from tidegate.lab.clairvoyant import REACHES, clairvoyant
from tidegate.lab.optimum import solve
from tidegate.lab.parts import Part, Task
from tidegate.lab.rivals import OURS, PERFECT_SIGHT, RIVALS, Rival, rival_named
from tidegate.lab.scenario import Scenario
from tidegate.lab.stress import STRESS_RUNS, Strained, run_stress
from tidegate.lab.tune import Score, score, tune

__all__ = ["BOUND", "CLAIRVOYANT", "Row", "run", "stresses", "work"]

BOUND, CLAIRVOYANT = "bound", "clairvoyant"
FIRST = (PERFECT_SIGHT.key,)
THEN = (OURS.key, BOUND, CLAIRVOYANT, *(rival.key for rival in RIVALS))
"""Only for cells that count."""


@dataclass(frozen=True, slots=True)
class Row:
    """One cell: its parts by key, and whether its target is finer than its trace."""

    cell: Cell
    made_up: bool
    parts: Mapping[str, Part]

    @property
    def counts(self) -> bool:
        """Whether seeing all of the present is enough to be on time: else no policy is to be blamed for being late."""
        sight = self.parts[PERFECT_SIGHT.key].default
        return sight is not None and sight.met

    @property
    def bound(self) -> float | None:
        """The optimum's cost ÷ work."""
        return self.parts[BOUND].bound if BOUND in self.parts else None

    def default(self, key: str) -> Score | None:
        return self.parts[key].default if key in self.parts else None

    def tuned(self, key: str) -> Score | None:
        return self.parts[key].tuned if key in self.parts else None


def run(
    cells: Sequence[Cell],
    windows: Windows,
    *,
    processes: int,
    cache: Path | None = None,
    planned: Callable[[int], None] = lambda count: None,
    done: Callable[[Task], None] = lambda task: None,
) -> list[Row]:
    """A row per cell. `planned` hears of parts that will be worked out, `done` of each that has been.

    First what says whether a cell counts; then everybody, in the cells that count.
    """
    parts: dict[Task, Part] = {}
    context = multiprocessing.get_context("spawn")  # a fork would copy the progress bar's thread and its locks
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        try:
            for keys in (FIRST, THEN):
                among = cells if keys is FIRST else [cell for cell in cells if _counts(parts, cell, windows)]
                tasks = [Task(cell, windows, key) for cell in among for key in keys]
                planned(len(tasks))
                for task, part in _finish(pool, tasks, None if cache is None else PartCache(cache)):
                    parts[task] = part
                    done(task)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    coarse = made_up(cells)
    return [
        Row(cell, coarse[cell], {task.key: part for task, part in parts.items() if task.cell == cell}) for cell in cells
    ]


def stresses(processes: int, hours: float, done: Callable[[], None] = lambda: None) -> list[Strained]:
    """The rows of `stress`, on several processes."""
    context = multiprocessing.get_context("spawn")
    rows = []
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for row in pool.map(run_stress, range(STRESS_RUNS), repeat(hours)):
            rows.append(row)
            done()
    return rows


def _counts(parts: Mapping[Task, Part], cell: Cell, windows: Windows) -> bool:
    sight = parts[Task(cell, windows, PERFECT_SIGHT.key)].default
    return sight is not None and sight.met


def _finish(pool: ProcessPoolExecutor, tasks: Iterable[Task], cache: PartCache | None) -> Iterator[tuple[Task, Part]]:
    waiting = {}
    for task in tasks:
        known = cache.get(task) if cache is not None else None
        if known is not None:
            yield task, known
        else:
            waiting[pool.submit(work, task)] = task
    for future in as_completed(waiting):
        task, part = waiting[future], future.result()
        if cache is not None:
            cache.put(task, part)
        yield task, part


def work(task: Task) -> Part:
    """One policy in one cell: as it comes, and tuned."""
    scenarios = windows_of(task.cell, task.windows)
    if task.key == BOUND:
        return Part(bound=_bound(scenarios))
    if task.key == CLAIRVOYANT:
        return Part(tuned=_cheapest(tune(clairvoyant(reach), scenarios) for reach in REACHES))
    rival = rival_named(task.key)
    default = score(rival.default, scenarios)
    return Part(default, _tuned(rival, default, scenarios))


def _tuned(rival: Rival, default: Score, scenarios: Sequence[Scenario]) -> Score | None:
    """Ours is never tuned to be cheaper: it is only raised where it is late, until it is not."""
    if rival.key == OURS.key and default.met:
        return default
    return _cheapest((default, tune(rival, scenarios) if rival.ladder else None))


def _cheapest(scores: Iterable[Score | None]) -> Score | None:
    return min((each for each in scores if each is not None and each.met), key=lambda each: each.cost, default=None)


def _bound(scenarios: Sequence[Scenario]) -> float:
    paid = sum(solve(scenario).cost_slot_s for scenario in scenarios)
    return float(paid / sum(scenario.service_s.sum() for scenario in scenarios))
