"""What a tick's waits prove of the order in which a queue is read, and what may wait on purpose then."""

import math
import random
from bisect import bisect_left
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.decide import decide
from tidegate.core.estimation.looseness import SHARDS, learn_looseness, looseness
from tidegate.core.model import Balance, KnownWorker, Looseness, PoolState
from tidegate.core.reports import WAIT_BOUNDS_S, WorkFigures
from tidegate.core.signals.news import Waits, digest, waits_of
from tidegate.core.sizing.wait import BOUND_LEAST, SPREAD_SIGMAS, mean_wait_bound_s

HOUR_S = 3600.0


def told(waits_s: list[float]) -> Waits:
    """As workers tell them: by buckets."""
    buckets = [0] * (len(WAIT_BOUNDS_S) + 1)
    for wait_s in waits_s:
        buckets[bisect_left(WAIT_BOUNDS_S, wait_s)] += 1
    waits = waits_of([WorkFigures(10.0, starts=len(waits_s), waits=tuple(buckets))], target_wait_s=600.0)
    assert waits is not None
    return waits


def learned(chance: random.Random, mean_s: float, spread_s: float | None, counted: float, ticks: int = 200) -> float:
    """After so many ticks of twenty starts: waits about a mean, or (`spread_s` None) those of a random pick."""
    known = Looseness()
    for _ in range(ticks):
        waits_s = [
            chance.expovariate(1 / mean_s) if spread_s is None else max(0.0, chance.gauss(mean_s, spread_s))
            for _ in range(20)
        ]
        known = learn_looseness(known, told(waits_s), counted, 0.0, 10.0)
    return looseness(known)


@pytest.mark.parametrize("mean_s", [20.0, 75.0, 300.0, 2000.0])
def test_messages_that_are_picked_at_random_are_found_out(mean_s: float) -> None:
    assert learned(random.Random(1), mean_s, None, counted=500.0) > 0.5


@pytest.mark.parametrize("mean_s", [15.0, 20.0, 75.0, 300.0, 2000.0])
@pytest.mark.parametrize("counted", [30.0, 100.0, 2000.0])
def test_what_few_shards_make_waits_differ_by_is_no_random_order(mean_s: float, counted: float) -> None:
    """Q messages ahead are Q ± √((shards − 1) Q), and a tick of ten seconds is in it."""
    spread_s = mean_s * math.sqrt((SHARDS - 1) / counted) + 3.0
    assert learned(random.Random(1), mean_s, spread_s, counted) < 0.05


def test_few_starts_short_waits_and_short_queues_prove_little_or_nothing() -> None:
    chance = random.Random(1)
    wild = told([chance.expovariate(1 / 60) for _ in range(100)])
    assert looseness(learn_looseness(Looseness(), wild, 500.0, 60.0, 10.0)) < 0.6, "one tick"
    for waits, counted in ((None, 500.0), (told([1.0, 9.0]), 500.0), (wild, 24.0)):
        assert learn_looseness(Looseness(), waits, counted, 5.0, 10.0) == Looseness()


def test_waits_that_all_end_before_the_target_are_let_be_however_they_differ() -> None:
    """Shards drift apart at constant load as well: that costs nobody anything before the target is near."""
    chance = random.Random(1)
    wild = told([min(80.0, chance.expovariate(1 / 40)) for _ in range(100)])
    assert wild.variation > 0.3
    assert learn_looseness(Looseness(), wild, 500.0, 120.0, 10.0) == Looseness()
    assert learn_looseness(Looseness(), wild, 500.0, 80.0, 10.0) != Looseness()


@pytest.mark.parametrize("target_s", [60.0, 600.0])
def test_what_was_proved_is_gone_in_a_day_with_other_evidence_and_without(target_s: float) -> None:
    loose = Looseness(starts=5000.0, spread=4500.0)
    before = looseness(loose)
    for _ in range(24 * 60):
        loose = learn_looseness(loose, told([100.0] * 20), 500.0, target_s, 60.0)
    assert looseness(loose) < before / 3


@given(
    st.floats(0, 1e6), st.floats(0, 1), st.integers(1, 500), st.floats(0, 30), st.floats(0, 1e5), st.floats(0, HOUR_S)
)
def test_it_is_never_below_none_nor_above_random(
    starts: float, share: float, more: int, variation: float, counted: float, elapsed_s: float
) -> None:
    waits = Waits(more, 0.0, 100.0, 60.0 * more, 60.0, variation)
    known = learn_looseness(Looseness(starts, share * starts), waits, counted, 60.0, elapsed_s)
    assert 0.0 <= looseness(known) <= 1.0


@given(st.floats(5, 7200), st.floats(0.001, 1e4), st.floats(0, 1))
def test_the_bound_on_the_mean_wait_leaves_its_spread_within_the_target(
    target_s: float, rate_per_s: float, loose: float
) -> None:
    bound_s = mean_wait_bound_s(target_s, rate_per_s, loose)
    assert BOUND_LEAST * target_s <= bound_s <= target_s
    assert bound_s <= mean_wait_bound_s(target_s, rate_per_s, loose / 2) + 1e-6 * target_s, "looser is no longer"
    if bound_s > BOUND_LEAST * target_s:
        rate_per_s = max(rate_per_s, 1.0 / target_s)
        spread_s = math.sqrt((SHARDS - 1) * bound_s / rate_per_s + loose * bound_s**2)
        assert bound_s + SPREAD_SIGMAS * spread_s == pytest.approx(target_s, rel=1e-6)


@given(st.lists(st.floats(0, 20_000), min_size=2, max_size=200))
def test_the_mean_and_variation_of_waits_are_those_of_their_buckets_middles(waits_s: list[float]) -> None:
    edges = (0.0, *WAIT_BOUNDS_S)
    middles = [(edges[i] + edges[i + 1]) / 2 for i in (bisect_left(WAIT_BOUNDS_S, wait_s) for wait_s in waits_s)]
    mean_s = sum(middles) / len(middles)
    variance = sum((middle - mean_s) ** 2 for middle in middles) / (len(middles) - 1)
    waits = told(waits_s)
    assert waits.mean_s == pytest.approx(mean_s)
    assert waits.variation == pytest.approx(variance / mean_s**2, abs=1e-6)


def test_a_single_start_has_no_variation() -> None:
    assert told([40.0]).variation == 0.0


@pytest.mark.parametrize(("delayed", "learns"), [(0, True), (50, False)])
def test_waits_in_which_a_delay_may_be_prove_neither_lateness_nor_disorder_nor_a_wrong_count(
    delayed: int, *, learns: bool
) -> None:
    """SQS tells when a message was sent, not until when it was to be delayed (API_ReceiveMessage, SentTimestamp)."""
    buckets = [0] * (len(WAIT_BOUNDS_S) + 1)
    buckets[bisect_left(WAIT_BOUNDS_S, 2.5)] = buckets[bisect_left(WAIT_BOUNDS_S, 90.0)] = 20
    told = worker(busy=4, completions=40, before=4000, waits=tuple(buckets))
    state = PoolState(
        balance=Balance(starts=3600, seen_s=900),
        known_workers={digest("w1"): KnownWorker(4000, 4000, 0, timed=True)},
        reports_read_at_s=NOW_S - 10,
        ticked_at_s=NOW_S - 10,
    )
    seen = observe(queue(200, delayed=delayed), workers=(told,))
    _, after = decide(replace(POOL, policy="wait", utilization=None, drain_target_s=None), state, seen)
    assert after.balance.starts > 3600, "the report was read"
    proofs = (after.margin, after.looseness.starts, after.balance.counted_s)
    assert all(proof > 0 for proof in proofs) if learns else proofs == (0.0, 0.0, 0.0)
