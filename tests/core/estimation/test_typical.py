"""What usually arrives, for hours ahead: no dump, no error of counts, and all but the whole of a rate that is one."""

import random

import pytest

from tidegate.core.estimation.typical import lasting_per_s
from tidegate.core.model import Sample

CHANCE = random.Random(7)


def samples(arrived: list[float]) -> list[Sample]:
    """Every ten seconds."""
    return [Sample(10.0 * n, so_far, so_far, so_far) for n, so_far in enumerate(arrived)]


def poisson(rate_per_s: float, ticks: int) -> list[float]:
    so_far, arrived = 0.0, []
    for _ in range(ticks):
        so_far += sum(CHANCE.random() < rate_per_s / 10 for _ in range(100))
        arrived.append(so_far)
    return arrived


@pytest.mark.parametrize("waiting", [100, 4000, 40_000])
def test_counts_of_a_dump_that_are_wrong_now_up_and_now_down_are_no_traffic(waiting: int) -> None:
    found = [lasting_per_s(samples([waiting * CHANCE.uniform(0.7, 1.3) for _ in range(60)])) for _ in range(200)]
    assert sum(rate > 0 for rate in found) <= 4
    assert max(found) <= waiting / 400.0


def test_traffic_is_found_all_but_whole() -> None:
    found = [lasting_per_s(samples(poisson(2.0, 60))) for _ in range(50)]
    assert sum(found) / len(found) == pytest.approx(1.9, abs=0.1)


@pytest.mark.parametrize("ticks", [1, 2, 3, 4])
def test_in_a_few_looks_no_dump_is_told_from_traffic(ticks: int) -> None:
    assert lasting_per_s(samples([float(n * 400) for n in range(ticks)])) == 0.0


def test_a_dump_on_traffic_is_none_of_it_and_counts_that_fall_tell_of_none() -> None:
    steady = [10.0 * n for n in range(60)]
    dump = [so_far + (4000.0 if n > 30 else 0.0) for n, so_far in enumerate(steady)]
    assert lasting_per_s(samples(steady)) == lasting_per_s(samples(dump)) == 1.0
    assert lasting_per_s(samples([so_far - (4000.0 if n > 30 else 0.0) for n, so_far in enumerate(steady)])) == 0.0
    assert lasting_per_s(samples(steady[::-1])) == 0.0
