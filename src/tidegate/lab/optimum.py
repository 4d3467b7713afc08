"""The least that any policy could pay, knowing the whole future: a linear program over bins of time.

Slots are fluid and messages of mean length, so the bound is loose where few workers run; `clairvoyant` turns the plan
into whole workers. Solved by scipy's HiGHS (dual simplex).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from tidegate.errors import TidegateError
from tidegate.lab.scenario import Scenario

__all__ = ["Plan", "bin_s_for", "solve"]

BINS_AT_MOST = 2500
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """Slots needed in each bin of `bin_s` seconds from 0 on, and what they cost, start-up included, in slot-seconds."""

    bin_s: float
    slots: Floats
    cost_slot_s: float


def bin_s_for(target_s: float, length_s: float) -> float:
    """A sixth of the target, or coarser on long runs, but never above half the target: deadlines are whole bins.

    >>> bin_s_for(60, 3600), bin_s_for(30, 86400), bin_s_for(600, 86400)
    (10.0, 15.0, 100.0)
    """
    return min(target_s / 2, max(target_s / 6, length_s / BINS_AT_MOST))


def solve(
    scenario: Scenario, late_allowed: float = 0.01, bin_s: float | None = None, target_s: float | None = None
) -> Plan:
    """The cheapest slots over time with at most `late_allowed` of the messages started after `target_s`.

    The target and the bins are the scenario's and `bin_s_for`'s unless given.

    Minimise δ·Σc + D·Σs over c (slots), s (slots started), B (messages started so far), W (messages' work done so far)
    and Y (messages let go late so far), with A (arrived so far), S the mean service time and m = ⌈T/δ⌉:

        c[k] − c[k−1] ≤ s[k]                 W[k] − W[k−1] ≤ (δ/S)·c[k],  W[k] ≤ B[k] ≤ W[k] + c[k]
        A[k−m] − Y[k−m] ≤ B[k] ≤ A[k]        0 ≤ Y[k] − Y[k−1] ≤ a[k],  Y[N] ≤ ε·A[N],  W[N] = A[N]

    A started message holds a slot until it is done, so starts may run ahead of the work by one message per slot: with
    starts tied to work alone (B in place of W) a dump of jobs longer than the target would look dearer than it is.

    Raises TidegateError when the solver finds no answer.
    """
    target_s = scenario.target_wait_s if target_s is None else target_s
    delta_s = bin_s_for(target_s, scenario.length_s) if bin_s is None else bin_s
    arrived = _arrived(scenario, delta_s, target_s)
    program = _Program(scenario, arrived, delta_s, target_s, late_allowed)
    answer = program.answer(presolve=True)
    if answer.x is None:  # HiGHS now and then gives up on what its presolve left over: "Status 0: Not Set"
        answer = program.answer(presolve=False)
    if answer.x is None:
        raise TidegateError(f"no optimum for {scenario.name}: {answer.message}; try a larger bin")
    slots = np.asarray(answer.x[: len(arrived)], dtype=np.float64)
    return Plan(delta_s, np.maximum(slots, 0.0), float(answer.fun))


def _arrived(scenario: Scenario, delta_s: float, target_s: float) -> Floats:
    """Messages arrived by the end of each bin, up to the last one's deadline plus the time its work takes."""
    tail_s = target_s + scenario.mean_service_s
    bins = math.ceil((scenario.length_s + tail_s) / delta_s) + 1
    edges_s = delta_s * np.arange(1, bins + 1)
    return np.searchsorted(scenario.arrivals_s, edges_s, side="right").astype(np.float64)


class _Program:
    """The matrices. Columns: c, s, B, W, Y, each one value per bin."""

    def __init__(
        self, scenario: Scenario, arrived: Floats, delta_s: float, target_s: float, late_allowed: float
    ) -> None:
        bins = len(arrived)
        late_bins = math.ceil(target_s / delta_s)
        one, none = eye_array(bins, format="csr"), csr_array((bins, bins))
        step, back = csr_array(one - _shift(bins, 1)), _shift(bins, late_bins)
        due = np.concatenate([np.zeros(min(late_bins, bins)), arrived[: max(0, bins - late_bins)]])
        first = np.zeros(bins)
        first[0] = scenario.initial_workers * scenario.slots_per_worker
        arriving = np.diff(arrived, prepend=0.0)
        rate = delta_s / scenario.mean_service_s
        zeros = np.zeros(bins)
        rows = [
            ([step, -one, none, none, none], first),
            ([-rate * one, none, none, step, none], zeros),
            ([none, none, -one, one, none], zeros),
            ([-one, none, one, -one, none], zeros),
            ([none, none, -one, none, -back], -due),
            ([none, none, none, none, step], arriving),
            ([none, none, none, none, -step], zeros),
        ]
        self.rows = vstack([hstack(blocks, format="csr") for blocks, _ in rows], format="csr")
        self.limits = np.concatenate([limits for _, limits in rows])
        self.cost = np.concatenate([np.full(bins, delta_s), np.full(bins, scenario.start_up_s), np.zeros(3 * bins)])
        self.bounds = _bounds(arrived, late_allowed)

    def answer(self, *, presolve: bool) -> OptimizeResult:
        return linprog(  # type: ignore[call-overload,no-any-return]  # the stubs leave out the sparse matrices
            self.cost,
            A_ub=self.rows,
            b_ub=self.limits,
            bounds=self.bounds,
            method="highs-ds",
            options={"presolve": presolve},
        )


def _bounds(arrived: Floats, late_allowed: float) -> Floats:
    bins, total = len(arrived), arrived[-1]
    low = np.zeros(5 * bins)
    high = np.concatenate([np.full(2 * bins, np.inf), arrived, arrived, np.full(bins, late_allowed * total)])
    low[4 * bins - 1] = total  # all the work is done in the end
    return np.column_stack([low, high])


def _shift(bins: int, by: int) -> csr_array:
    """Row k picks column k − by."""
    return csr_array(eye_array(bins, k=-by, format="csr"))
