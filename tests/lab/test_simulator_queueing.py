"""Against queueing theory: what the simulator measures is what the formulas say, within the run's own noise."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.lab.rig import Fixed
from tidegate.core.sizing.erlang import erlang_c, late_share
from tidegate.lab.outcome import Outcome
from tidegate.lab.scenario import Scenario
from tidegate.lab.simulator import simulate
from tidegate.lab.traces import ServiceShape, service_times

LEAST_MESSAGES, LEAST_LENGTH_S = 300_000, 20_000
"""Large pools forget their past slowly: the length is what makes their means settle."""


def run(
    slots: int, load: float, *, shape: ServiceShape = "exponential", variation: float = 1.0, order: str = "fifo"
) -> Outcome:
    """Poisson arrivals, a mean service time of one second, a fixed fleet of one-slot workers."""
    draws = np.random.default_rng(11)
    messages = int(max(LEAST_MESSAGES, LEAST_LENGTH_S * load))
    arrivals_s = np.cumsum(draws.exponential(1 / load, messages))
    scenario = Scenario(
        "theory",
        arrivals_s,
        service_times(shape, 1.0, variation, messages, draws),
        target_wait_s=1.0,
        start_up_s=0.0,
        length_s=float(arrivals_s[-1]),
        slots_per_worker=1,
        order="fifo" if order == "fifo" else "sharded",
        initial_workers=slots,
    )
    return simulate(scenario, Fixed(slots), seed=3)


def agrees(sample: NDArray[Any], expected: float) -> None:
    """The mean is as expected within four standard errors, and these are small enough for that to mean something.

    The errors are those of 25 batches: successive waits depend on each other, and a batch is long enough to forget.
    """
    batches = np.array([batch.mean() for batch in np.array_split(sample, 25)])
    error = batches.std(ddof=1) / math.sqrt(25)
    assert error < 0.15 * expected
    assert abs(batches.mean() - expected) < 4 * error


@pytest.mark.parametrize(("slots", "load"), [(1, 0.7), (3, 2.0), (5, 4.0), (20, 17.0), (60, 50.0)])
def test_waits_of_poisson_arrivals_and_exponential_service_follow_erlang_c(slots: int, load: float) -> None:
    waits_s = run(slots, load).waits_s
    waiting = erlang_c(load, slots)
    agrees(waits_s > 0, waiting)
    agrees(waits_s, waiting / (slots - load))
    for means in (0.5, 1.0, 2.0):  # of those that wait at all
        agrees(waits_s > means / (slots - load), waiting * math.exp(-means))


@pytest.mark.parametrize(("shape", "variation"), [("deterministic", 0.0), ("gamma", 0.5), ("lognormal", 2.0)])
def test_one_slots_mean_wait_follows_pollaczek_and_khinchine(shape: ServiceShape, variation: float) -> None:
    """λE[S²] ÷ 2(1 − ρ), exact for one server and any service time."""
    expected_s = 0.6 * (1 + variation) / (2 * (1 - 0.6))
    agrees(run(1, 0.6, shape=shape, variation=variation).waits_s, expected_s)


@pytest.mark.parametrize(("shape", "variation"), [("deterministic", 0.0), ("gamma", 0.5), ("gamma", 1.0)])
def test_the_tail_of_many_slots_is_close_to_the_formula_that_sizes_them(shape: ServiceShape, variation: float) -> None:
    """`core.sizing.erlang.late_share` is an approximation; POLICY says close for a variation of up to 1."""
    measured = run(10, 8.5, shape=shape, variation=variation).late_share
    assert measured == pytest.approx(late_share(8.5, 10, 1.0, 1.0, variation), rel=0.25)


def test_shards_leave_the_mean_wait_and_stretch_the_tail() -> None:
    """The order of service can't change the mean when it does not look at service times; it changes who waits."""
    fifo, sharded = run(5, 4.5).waits_s, run(5, 4.5, order="sharded").waits_s
    assert np.mean(sharded) == pytest.approx(np.mean(fifo), rel=0.03)
    assert np.quantile(sharded, 0.99) > 1.2 * np.quantile(fifo, 0.99)
