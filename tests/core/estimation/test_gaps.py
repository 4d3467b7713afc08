"""After a gap in the samples rates and ages are told over the gap, not over the few seconds since."""

import random
from dataclasses import replace

import pytest

from tests.core.closed_loop import WAIT, World
from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.estimation.arrivals import arrivals_per_s, slope_per_s, windowed_per_s
from tidegate.core.estimation.samples import Samples
from tidegate.core.estimation.waiting import head_age_s
from tidegate.core.model import PoolState, Sample
from tidegate.core.observation import Observation
from tidegate.core.signals.read import read_signals

ON_TRIAL = replace(POOL, policy="wait", utilization=None)
SEEN = read_signals(POOL, PoolState(), observe(queue(1000), workers=(worker(busy=4),)))


def counted(*at_s_and_error: tuple[float, float], rate_per_s: float = 4.0) -> Samples:
    """A backlog of a thousand, counted so far off at each of these times."""
    return Samples.of(
        Sample(NOW_S + at_s, rate_per_s * at_s + 1000 * error, 1000 * (1 + error), 1000, 1000 * (1 + error))
        for at_s, error in at_s_and_error
    )


def steady(until_s: float) -> list[tuple[float, float]]:
    return [(10.0 * n, 0.0) for n in range(round(until_s / 10) + 1)]


@pytest.mark.parametrize("gap_s", [30.0, 100.0, 300.0])
@pytest.mark.parametrize("errors", [(-0.3,), (-0.3, 0.3), (0.3, -0.3, 0.3)])
def test_counts_that_are_off_make_no_jump_of_the_first_ticks_after_a_gap(
    gap_s: float, errors: tuple[float, ...]
) -> None:
    after = [(300 + gap_s + 10.0 * n, error) for n, error in enumerate(errors)]
    rate = arrivals_per_s(ON_TRIAL, counted(*steady(300), *after), SEEN, 0.8, 0.15)
    assert rate.value < 4.0 + 2 * 600 / (gap_s + 300)


def test_a_window_that_samples_do_not_cover_begins_before_the_gap() -> None:
    samples = counted(*steady(300), (600, -0.3), (610, 0.3))
    assert windowed_per_s(samples, 20) == pytest.approx(4.0 + 300 / 310)
    assert slope_per_s(samples, 60) < 5.5
    assert slope_per_s(counted((600, -0.3), (610, 0.3)), 60) == pytest.approx(64.0), "there is nothing before"


def test_ticks_that_come_a_little_late_leave_a_window_of_two_of_them_two_ticks_long() -> None:
    late = counted(*((10.05 * n, 0.1 * (n % 2)) for n in range(10)))
    assert windowed_per_s(late, 20) == pytest.approx(4.0)


def test_a_head_that_came_in_a_gap_came_as_late_in_it_as_arrivals_passed_the_starts() -> None:
    before, after = Sample(NOW_S - 300, 100.0, 0.0, 0.0), Sample(NOW_S, 1300.0, 40.0, 40.0)
    assert head_age_s((before, after), SEEN).value == pytest.approx(10.0)
    assert head_age_s((before._replace(at_s=NOW_S - 10), after), SEEN).value == pytest.approx(10.0), "a tick is none"
    assert head_age_s((before, after._replace(arrived=100.0, waiting=0.0)), SEEN).value == 0.0
    assert head_age_s((before._replace(arrived=1290.0), after), SEEN).source == "counts, at least"


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_two_counts_of_a_young_pool_do_not_make_a_standing_backlog_a_rate(seed: int) -> None:
    """Thirty workers do it in time, and nothing comes. Two counts that differ by 60 % are 180 messages a second."""
    draws = random.Random(seed)

    def a_third_off(_: World, seen: Observation) -> Observation:
        (told,) = seen.queues
        value = round((told.visible.value or 0) * draws.uniform(0.7, 1.3))
        return replace(seen, queues=(replace(told, visible=replace(told.visible, value=value)),))

    pool = replace(WAIT, target_wait_s=1800, max_workers=1000)
    world = World(pool, service_s=30.0, workers_at_first=30, protected=True, look=a_third_off)
    world.dump(3000)
    world.run(120)
    assert max(world.counts) <= 62
