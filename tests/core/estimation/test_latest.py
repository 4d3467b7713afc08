"""What the latest runs prove where those remembered were others: long ones after many short ones, and back."""

import random

import pytest

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.estimation.balance import learn_balance
from tidegate.core.estimation.latest import LATEST_RUNS, learn_latest, within_proof_s
from tidegate.core.estimation.times import learn_service_time, squared_variation
from tidegate.core.model import Balance, PoolState, ServiceTime
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.signals.read import read_signals

SHORT = ServiceTime(runs=300.0, sum_s=150.0, square_sum_s2=150.0)
"""Of half a second each, exponential."""

MANY = Balance(lately_busy_s=150.0, lately_starts=300.0, lately_ends=300.0)
FEW = Balance(lately_busy_s=150.0, lately_starts=3.0, lately_ends=3.0)


def fleet(busy: int, runs: int, mean_s: float) -> FleetSignals:
    """Ten seconds of a worker, as the tick sees them."""
    told = worker(busy=busy, completions=runs, mean_s=mean_s)
    found = read_signals(POOL, PoolState(ticked_at_s=NOW_S - 10), observe(queue(), workers=(told,))).fleet
    assert found is not None
    return found


def told(phases: list[tuple[int, int, float, int]]) -> tuple[Balance, ServiceTime, ServiceTime]:
    """Balance, the latest runs and those of minutes after phases of (slots busy, runs a tick, seconds each, ticks)."""
    balance, latest, known = Balance(), None, None
    for busy, runs, mean_s, ticks in phases:
        for _ in range(ticks):
            news = fleet(busy, runs, mean_s)
            balance, latest = learn_balance(balance, news, 0.0, 10.0), learn_latest(latest, news)
            known = learn_service_time(known, news, 10.0)
    assert latest is not None and known is not None  # noqa: PT018  # for the type checker
    return balance, latest, known


def proven_s(phases: list[tuple[int, int, float, int]]) -> tuple[float, float]:
    """(believed by the mean of minutes, within what the latest runs prove)."""
    balance, latest, known = told(phases)
    believed_s = known.sum_s / known.runs
    return believed_s, within_proof_s(balance, latest, believed_s, squared_variation(known))


def test_long_runs_after_thousands_of_short_ones_are_believed_though_a_few_slots_run_few_of_them() -> None:
    believed_s, proven = proven_s([(4, 80, 0.5, 90), (4, 1, 60.0, 40)])
    assert believed_s < 10.0
    assert 20.0 < proven <= 60.0


def test_short_runs_after_long_ones_are_believed_within_minutes() -> None:
    believed_s, proven = proven_s([(24, 4, 60.0, 90), (4, 80, 0.5, 20)])
    assert believed_s > 3.0
    assert 0.5 <= proven < 1.5


def test_short_runs_are_not_believed_while_slots_are_busy_with_long_ones_that_have_not_ended() -> None:
    believed_s, proven = proven_s([(24, 4, 60.0, 90), (24, 80, 0.5, 12)])
    assert proven >= min(believed_s, 24 / 8.0)


@pytest.mark.parametrize("busy", [1, 4])
def test_slots_that_hang_prove_nothing(busy: int) -> None:
    balance, latest, _ = told([(4, 8, 5.0, 90), (busy, 0, 5.0, 360)])
    assert within_proof_s(balance, latest, 5.0, 1.0) == 5.0


def test_the_latest_runs_are_a_minutes_and_as_many_as_prove_something_where_a_minute_has_few() -> None:
    _, many, _ = told([(4, 80, 0.5, 90)])
    _, few, _ = told([(4, 80, 0.5, 90), (4, 1, 60.0, 90)])
    _, idle, _ = told([(4, 1, 60.0, 90), (0, 0, 1.0, 360)])
    assert many.runs == pytest.approx(8 * 45, rel=0.2)
    assert few.runs == pytest.approx(LATEST_RUNS, rel=0.1)
    assert few.sum_s / few.runs == pytest.approx(60.0, rel=0.02), "the short ones are gone"
    assert idle.runs == pytest.approx(LATEST_RUNS, rel=0.1), "no newer ones have come"


def test_a_few_long_runs_among_short_ones_prove_nothing() -> None:
    mixed = ServiceTime(runs=20.0, sum_s=10.0 + 120.0, square_sum_s2=10.0 + 7200.0)
    assert within_proof_s(FEW, mixed, 3.0, 8.0) == 3.0


@pytest.mark.parametrize(("latest", "balance"), [(None, MANY), (ServiceTime(0.0, 0.0, 0.0), FEW)])
def test_where_no_run_was_told_of_what_is_believed_stays(latest: ServiceTime | None, balance: Balance) -> None:
    assert learn_latest(latest, None) == latest
    assert within_proof_s(balance, latest, 5.0, 1.0) == 5.0


def test_a_service_time_that_is_right_is_seldom_moved_by_chance() -> None:
    chance, moved = random.Random(1), 0
    for _ in range(500):
        runs = [chance.expovariate(1.0) for _ in range(60)]
        latest = ServiceTime(60.0, sum(runs), sum(run**2 for run in runs))
        balance = Balance(lately_busy_s=sum(runs), lately_starts=60.0, lately_ends=60.0)
        moved += within_proof_s(balance, latest, 1.0, 1.0) != 1.0
    assert moved < 10


def test_many_short_runs_prove_it_by_what_slots_were_busy_and_what_reports_tell() -> None:
    assert within_proof_s(MANY, SHORT, 5.0, 1.0) == pytest.approx(0.5 / (1 - 2 / 300**0.5))
    assert within_proof_s(MANY, SHORT, 0.4, 1.0) == 0.4, "longer runs are proven elsewhere where they are many"
