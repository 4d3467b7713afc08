"""The cells of the scoreboard: a trace, a load, a target and a start-up time, seen through several windows each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from tidegate.lab.peers.fixed import workers_for_peak
from tidegate.lab.scenario import Scenario
from tidegate.lab.traces import SYNTHETIC, Bin, load_trace, scenario_from_trace, synthetic

__all__ = ["LOADS", "TIMES_S", "Cell", "Windows", "cells", "made_up", "median_bin_s", "windows_of"]

LOADS = (5, 20, 200)
TIMES_S = ((30.0, 30.0), (60.0, 120.0), (120.0, 120.0), (120.0, 30.0), (600.0, 120.0), (600.0, 30.0))
"""Target wait and start-up time."""

SYNTHETIC_MEAN_PER_S = 10.0
SYNTHETIC_SEED = 1


@dataclass(frozen=True, slots=True)
class Windows:
    """How much of a trace is looked at: `seeds` windows of at most so many messages and seconds each."""

    seeds: int
    max_messages: int
    max_length_s: float = 86_400.0


@dataclass(frozen=True, slots=True)
class Cell:
    """`trace` is a CSV file's path or the name of a synthetic trace; load in slots; 4 slots a worker, sharded order."""

    trace: str
    load_slots: float
    target_s: float
    start_up_s: float

    @property
    def title(self) -> str:
        return Path(self.trace).stem

    @property
    def name(self) -> str:
        """For people: "azfn 20 slots T/D 60/120"."""
        return f"{self.title} · {self.load_slots:g} slots · {self.target_s:g}/{self.start_up_s:g}"


def cells(
    traces: Sequence[str], loads: Sequence[float] = LOADS, times_s: Sequence[tuple[float, float]] = TIMES_S
) -> list[Cell]:
    """Every combination."""
    return [Cell(trace, load, target_s, d_s) for trace in traces for load in loads for target_s, d_s in times_s]


@lru_cache(maxsize=2)
def windows_of(cell: Cell, windows: Windows) -> tuple[Scenario, ...]:
    """The windows, seeded from 0 on; the same two arguments give the very same objects while they are the latest."""
    return tuple(_bounded(_window(cell, windows, seed)) for seed in range(windows.seeds))


def _window(cell: Cell, windows: Windows, seed: int) -> Scenario:
    return scenario_from_trace(
        _bins(cell.trace),
        name=cell.name,
        load_slots=cell.load_slots,
        target_wait_s=cell.target_s,
        start_up_s=cell.start_up_s,
        seed=seed,
        max_messages=windows.max_messages,
        max_length_s=windows.max_length_s,
    )


def _bounded(scenario: Scenario) -> Scenario:
    """With a maximum for everybody alike: twice the workers that would start every message on arrival.

    Nobody runs a pool without a maximum, and a policy that goes astray is not made to look worse than it would be.
    """
    most = 2 * workers_for_peak(scenario, quantile=1.0)
    return replace(scenario, max_workers=max(most, scenario.initial_workers, 10))


@lru_cache(maxsize=16)
def _bins(trace: str) -> tuple[Bin, ...]:
    if trace in SYNTHETIC:
        return tuple(synthetic(trace, SYNTHETIC_SEED, mean_per_s=SYNTHETIC_MEAN_PER_S))
    return tuple(load_trace(Path(trace)))


def median_bin_s(trace: str) -> float:
    """How fine the trace is: within a bin, arrivals are spread at random."""
    lengths = sorted(each.end_s - each.begin_s for each in _bins(trace))
    return lengths[len(lengths) // 2]


def made_up(wanted: Sequence[Cell]) -> Mapping[Cell, bool]:
    """Cells whose target is under half a bin of their trace: what decides them is not in the data."""
    return {cell: cell.target_s < median_bin_s(cell.trace) / 2 for cell in wanted}
