"""A queue's counts: believed as far as they have been right, and never against what workers prove."""

import random
from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.estimation.counts import STEPS_FROM, believed_waiting, learn_count_error
from tidegate.core.model import PoolState, Sample
from tidegate.core.reports import WAIT_BOUNDS_S, ClassFigures, WorkerReport, WorkerState
from tidegate.core.signals.read import Signals, read_signals

WAIT = replace(POOL, policy="wait", utilization=None)


def waited(after_s: float, count: int = 20) -> tuple[int, ...]:
    """A histogram of `count` starts after `after_s` of waiting."""
    return tuple(count if edge == after_s else 0 for edge in (*WAIT_BOUNDS_S, 0))


def polling(busy: int, after_s: float = 1.0, **more: object) -> WorkerReport:
    """A worker that started twenty messages and has been there for long."""
    told = worker(busy=busy, completions=20, waits=waited(after_s), first_receive_at_s=NOW_S - 900)
    return replace(told, **more)  # type: ignore[arg-type]  # the fields vary


def seen(waiting: float, *workers: WorkerReport) -> Signals:
    known = PoolState(ticked_at_s=NOW_S - 10)
    return read_signals(WAIT, known, observe(queue(waiting), workers=workers))


def samples(*counts: float) -> tuple[Sample, ...]:
    """Every ten seconds up to the last tick; nothing was started meanwhile."""
    first_s = NOW_S - 10 * len(counts)
    return tuple(Sample(first_s + 10 * n, count, count, count, count) for n, count in enumerate(counts))


def test_a_queue_that_idle_slots_prove_empty_is_empty_whatever_a_stale_count_says() -> None:
    assert believed_waiting(WAIT, samples(250), seen(255, polling(busy=1)), NOW_S, 0.15) == 0.0


def test_a_burst_that_nothing_in_the_last_minute_explains_is_believed_at_once() -> None:
    assert believed_waiting(WAIT, samples(0, 0, 0), seen(255, polling(busy=1)), NOW_S, 0.15) == 255


@pytest.mark.parametrize(
    "report",
    [
        polling(busy=4),
        polling(busy=1, after_s=60.0),
        polling(busy=1, first_receive_at_s=NOW_S - 1),
        polling(busy=1, first_receive_at_s=None),
        polling(busy=1, state=WorkerState.DRAINING),
        worker(busy=1, completions=20, first_receive_at_s=NOW_S - 900),
        polling(busy=1, answered_at_s=NOW_S - 31),
    ],
)
def test_no_proof_without_an_idle_slot_of_a_worker_that_polls_and_starts_that_hardly_waited(
    report: WorkerReport,
) -> None:
    assert believed_waiting(WAIT, samples(250), seen(255, report), NOW_S, 0.15) == 255


def idle_while_little_starts() -> WorkerReport:
    """Three slots are idle, two runs were started, and these had waited for a minute."""
    return worker(busy=1, completions=2, waits=waited(60.0, 2), first_receive_at_s=NOW_S - 900)


def test_more_idle_slots_than_starts_prove_a_queue_empty_however_long_the_last_ones_waited() -> None:
    assert believed_waiting(WAIT, samples(250), seen(255, idle_while_little_starts()), NOW_S, 0.15) == 0.0
    silent = worker(busy=1, first_receive_at_s=NOW_S - 900)
    assert believed_waiting(WAIT, samples(250), seen(255, silent), NOW_S, 0.15) == 0.0


def test_slots_that_are_idle_for_a_busy_group_or_a_class_at_its_limit_prove_nothing() -> None:
    idle = idle_while_little_starts()
    fifo = read_signals(WAIT, PoolState(ticked_at_s=NOW_S - 10), observe(queue(255, name="a.fifo"), workers=(idle,)))
    assert believed_waiting(WAIT, samples(250), fifo, NOW_S, 0.15) == 255
    classed = replace(idle, total=replace(idle.total, classes={"export": ClassFigures(starts=2)}))
    nothing_new = replace(classed, recent=replace(classed.recent, starts=0, completions=0, waits=()))
    for report in (classed, nothing_new):
        assert believed_waiting(WAIT, samples(250), seen(255, report), NOW_S, 0.15) == 255


def test_idle_slots_of_before_the_last_tick_say_nothing_of_what_has_come_since() -> None:
    """A burst that the last tick believed would be gone at this one, until the next heartbeat."""
    old = worker(first_receive_at_s=NOW_S - 900, at_s=NOW_S - 12)
    assert believed_waiting(WAIT, samples(0, 500), seen(490, old), NOW_S, 0.15) == 490
    assert believed_waiting(WAIT, samples(0, 500), seen(490, replace(old, reported_at_s=NOW_S - 2)), NOW_S, 0.15) == 0


def test_idle_slots_of_a_worker_that_is_cut_off_from_its_queue_prove_nothing() -> None:
    """Its heartbeats go to another endpoint, and arrive."""
    silent = worker(busy=1, first_receive_at_s=NOW_S - 900)
    assert believed_waiting(WAIT, samples(250), seen(255, replace(silent, answered_at_s=NOW_S - 25)), NOW_S, 0.15) == 0
    assert (
        believed_waiting(WAIT, samples(250), seen(255, replace(silent, answered_at_s=NOW_S - 31)), NOW_S, 0.15) == 255
    )


def test_a_count_that_falls_faster_than_work_was_started_is_the_stale_one() -> None:
    busy = polling(busy=4, after_s=60.0)
    assert believed_waiting(WAIT, samples(0, 1000), seen(50, busy), NOW_S, 0.0) == 980
    assert believed_waiting(WAIT, samples(0, 1000), seen(50, busy), NOW_S, 0.15) == pytest.approx(1000 / 1.3 - 20)
    assert believed_waiting(WAIT, samples(1000, *(200,) * 8), seen(50, busy), NOW_S, 0.0) == 180


def test_counts_that_are_far_lower_twice_running_tell_of_a_purge() -> None:
    busy = polling(busy=4, after_s=60.0)
    assert believed_waiting(WAIT, samples(*(1000,) * 5, 60), seen(50, busy), NOW_S, 0.0) == 50
    assert believed_waiting(WAIT, samples(*(1000, 1200) * 3, 60, 70), seen(50, busy), NOW_S, 0.0) == 50


@pytest.mark.parametrize(
    "before",
    [(0, 0, 1000, 0), (0, 900, 0, 1000, 0, 0), (1000, 0), (1000, 0, 0, 0, 0), (1000, 1000, 1000, 0, 0)],
)
def test_in_a_bursts_first_minute_one_low_count_after_the_other_is_a_stale_one(before: tuple[float, ...]) -> None:
    """In the first minute of the pool as well: that only high counts were seen in so short a time says little."""
    busy = polling(busy=4, after_s=60.0)
    assert believed_waiting(WAIT, samples(*before), seen(0, busy), NOW_S, 0.0) == 980


@pytest.mark.parametrize(("earlier", "believed"), [(1000, 0), (0, 980)])
def test_what_was_counted_before_a_gap_in_the_samples_tells_a_purge_from_a_burst(
    earlier: float, believed: float
) -> None:
    after_gap = (Sample(NOW_S - 300, earlier, earlier, earlier, earlier), *samples(1000, 0))
    assert believed_waiting(WAIT, after_gap, seen(0, polling(busy=4, after_s=60.0)), NOW_S, 0.0) == believed


def test_a_purge_is_seen_at_the_second_low_count_when_ticks_are_a_minute_long() -> None:
    fell = tuple(Sample(NOW_S - ago_s, count, count, count, count) for ago_s, count in ((120, 1000), (60, 50)))
    minutely, busy = replace(WAIT, tick_s=60), polling(busy=4, after_s=60.0)
    assert believed_waiting(minutely, fell, seen(50, busy), NOW_S, 0.0) == 50


def test_the_plain_formula_and_a_pool_without_reports_take_counts_as_they_are() -> None:
    assert believed_waiting(POOL, samples(1000), seen(50, polling(busy=1)), NOW_S, 0.0) == 50
    assert believed_waiting(WAIT, samples(1000), seen(50), NOW_S, 0.0) == 50


def readings(error: float, backlog: float = 500.0, jump: float = 0.0) -> tuple[Sample, ...]:
    """Forty readings of a standing backlog, each off by a factor within 1 ± `error`; half-way it may jump."""
    draws = random.Random(1)
    told = []
    for n in range(40):
        true = backlog + (jump if n >= 20 else 0.0)
        count = true * draws.uniform(1 - error, 1 + error)
        told.append(Sample(NOW_S + 10 * n, 50.0 * n + count, count, count, count))
    return tuple(told)


def learned(told: tuple[Sample, ...]) -> float:
    error = 0.15
    for _ in range(20):
        error = learn_count_error(error, told)
    return error


def test_the_counts_error_is_learned_and_a_jump_of_the_traffic_is_none() -> None:
    assert learned(readings(0.0)) == pytest.approx(0.0, abs=0.01)
    assert learned(readings(0.0, jump=5000.0)) == pytest.approx(0.0, abs=0.01)
    assert learned(readings(0.1)) == pytest.approx(0.1 / 3**0.5, rel=0.5)
    assert learned(readings(0.1)) < learned(readings(0.3)) <= 0.2


@pytest.mark.parametrize("count", [10, 20, 31, 32])
def test_in_a_young_pool_a_count_is_not_held_against_itself(count: int) -> None:
    assert learned(readings(0.3)[:count]) > 0.05


def test_a_short_queue_of_a_busy_pool_does_not_make_its_counts_exact() -> None:
    busy = tuple(
        Sample(NOW_S + 10 * n, 100.0 * n + 15.0 * (n % 2), 15.0 * (n % 2) + 12.0, 27.0, 27.0) for n in range(40)
    )
    assert learned(busy) == 0.15


def test_without_a_backlog_nothing_is_learned_of_the_counts() -> None:
    assert learn_count_error(0.15, readings(0.3)[: STEPS_FROM - 1]) == 0.15
    assert learn_count_error(0.15, readings(0.3, backlog=5.0)) == 0.15
