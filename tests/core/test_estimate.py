"""Rates and times come out of the signals as they went in, each with its source."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core import estimate
from tidegate.core.model import Absence, Pool, PoolState, QueueObservation, Sample, ServiceTime, WorkerReport
from tidegate.core.signals import Signals, read_signals

UNHINTED = replace(POOL, service_time_hint_s=None)


def signals(seen: QueueObservation | None = None, *workers: WorkerReport) -> Signals:
    return read_signals(POOL, PoolState(), observe(seen or queue(), workers=workers))


def watch(rates: list[float], completions_per_s: float, tick_s: float = 10.0) -> tuple[Sample, ...]:
    """Samples of a queue that gets `rates[i]` messages a second in tick i and loses what its workers complete."""
    samples: tuple[Sample, ...] = ()
    pool, waiting = replace(POOL, tick_s=tick_s), 0.0
    for tick, rate in enumerate([0.0, *rates]):
        now_s = NOW_S + tick * tick_s
        waiting = max(0.0, waiting + (rate - completions_per_s) * tick_s)
        done = worker(span_s=tick_s, completions=round(completions_per_s * tick_s))
        samples = estimate.extend_samples(pool, samples, now_s, signals(queue(waiting), done))
    return samples


def test_arrivals_are_what_is_there_more_plus_what_was_completed() -> None:
    rate = estimate.arrivals_per_s(POOL, watch([8.0] * 12, completions_per_s=5.0), signals())
    assert rate.value == pytest.approx(8.0)
    assert rate.source == "counts"


def test_a_jump_is_seen_within_two_ticks_and_noise_is_not_a_jump() -> None:
    jump = estimate.arrivals_per_s(POOL, watch([5.0] * 10 + [40.0] * 2, 0.0), signals())
    assert jump.value == pytest.approx(40.0)
    assert jump.source == "counts, jump"
    noise = estimate.arrivals_per_s(POOL, watch([5.0] * 10 + [6.0] * 2, 0.0), signals())
    assert noise.source == "counts"
    assert 5.0 < noise.value < 6.0


def test_a_queue_that_only_shrinks_has_no_negative_arrivals() -> None:
    falling = (Sample(NOW_S, 0, 100, 100), Sample(NOW_S + 10, -40, 60, 60))
    assert estimate.arrivals_per_s(POOL, falling, signals()).value == 0.0


def test_one_sample_says_nothing_of_rates() -> None:
    samples = estimate.extend_samples(POOL, (), NOW_S, signals(queue(7)))
    assert samples == (Sample(NOW_S, 7, 7, 7),)
    assert estimate.arrivals_per_s(POOL, samples, signals()).value == 0.0


def test_without_workers_reports_cloudwatchs_deletions_count_as_departures() -> None:
    before = (Sample(NOW_S - 10, 0, 0, 0),)
    samples = estimate.extend_samples(POOL, before, NOW_S, signals(queue(20, deleted_per_s=3.0)))
    assert samples[-1].arrived == pytest.approx(50.0)


def test_without_workers_reports_cloudwatchs_sent_is_a_lower_bound() -> None:
    flat = (Sample(NOW_S - 10, 0, 0, 0), Sample(NOW_S, 0, 0, 0))
    assert estimate.arrivals_per_s(POOL, flat, signals(queue(sent_per_s=9.0))) == estimate.Estimate(9.0, "cloudwatch")
    with_workers = estimate.arrivals_per_s(POOL, flat, signals(queue(sent_per_s=9.0), worker()))
    assert with_workers == estimate.Estimate(0.0, "counts")


@pytest.mark.parametrize("absence", [Absence.GONE, Absence.DENIED, Absence.THROTTLED])
def test_a_tick_without_counts_adds_no_sample(absence: Absence) -> None:
    before = (Sample(NOW_S - 10, 100, 100, 100),)
    assert estimate.extend_samples(POOL, before, NOW_S, signals(queue(absence=absence))) == before


def test_a_clock_that_stands_still_adds_no_sample() -> None:
    before = (Sample(NOW_S, 100, 100, 100),)
    assert estimate.extend_samples(POOL, before, NOW_S, signals()) == before


def test_samples_older_than_the_history_are_forgotten() -> None:
    assert len(watch([1.0] * 100, 1.0)) == estimate.HISTORY_S / 10 + 1


@pytest.mark.parametrize(
    ("waiting", "age_s", "expected"),
    [
        (0, 500, estimate.Estimate(0.0, "empty")),
        (40, None, estimate.Estimate(20.0, "counts")),
        (40, 15, estimate.Estimate(20.0, "counts")),
        (40, 90, estimate.Estimate(90, "cloudwatch")),
        (900, None, estimate.Estimate(40.0, "counts")),
    ],
)
def test_the_head_arrived_when_arrivals_passed_the_starts(
    waiting: float, age_s: float | None, expected: estimate.Estimate
) -> None:
    samples = tuple(Sample(NOW_S + 10 * n, 20.0 * n, waiting, waiting) for n in range(5))
    assert estimate.head_age_s(samples, signals(queue(waiting, age_s=age_s))) == expected


def test_an_age_from_before_the_queue_was_empty_is_that_of_a_message_long_gone() -> None:
    samples = (Sample(NOW_S - 70, 0, 50, 50), Sample(NOW_S - 30, 60, 0, 0), Sample(NOW_S, 100, 40, 40))
    assert estimate.head_age_s(samples, signals(queue(40, age_s=90))) == estimate.Estimate(30.0, "counts")
    never_empty = (Sample(NOW_S - 70, 0, 50, 50), Sample(NOW_S - 30, 60, 1, 1), Sample(NOW_S, 100, 40, 40))
    assert estimate.head_age_s(never_empty, signals(queue(40, age_s=90))) == estimate.Estimate(90, "cloudwatch")


def test_the_measured_service_time_replaces_the_hint_without_a_jump() -> None:
    known: ServiceTime | None = None
    means = []
    for _ in range(4):
        fleet = signals(None, worker(completions=4, mean_s=2.0)).fleet
        known = estimate.learn_service_time(known, fleet, 0.0)
        found = estimate.service_time(POOL, known, signals(None, worker()))
        assert found is not None
        means.append(found[0].value)
    assert means == pytest.approx([0.8 + 1.2 * 0.4, 0.8 + 1.2 * 0.8, 2.0, 2.0])


def test_a_tick_without_handler_runs_forgets_nothing() -> None:
    known = ServiceTime(100, 80, 64)
    assert estimate.learn_service_time(known, None, 1e6) == known
    assert estimate.learn_service_time(known, signals(None, worker()).fleet, 1e6) == known


def test_newer_runs_outweigh_older_ones() -> None:
    known = estimate.learn_service_time(
        ServiceTime(100, 100, 100), signals(None, worker(completions=100, mean_s=3)).fleet, 1500.0
    )
    found = estimate.service_time(UNHINTED, known, signals())
    assert found is not None
    assert found[0].value == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize(
    ("pool", "seen", "expected"),
    [
        (POOL, queue(), (estimate.Estimate(0.8, "hint"), 1.0)),
        (UNHINTED, queue(1, 12, deleted_per_s=4.0), (estimate.Estimate(3.0, "cloudwatch"), 1.0)),
        (UNHINTED, queue(1, 0, deleted_per_s=4.0), None),
        (UNHINTED, queue(1, 12), None),
    ],
)
def test_an_unmeasured_service_time_comes_from_the_hint_or_from_cloudwatch_or_not_at_all(
    pool: Pool, seen: QueueObservation, expected: tuple[estimate.Estimate, float] | None
) -> None:
    assert estimate.service_time(pool, None, signals(seen)) == expected


@pytest.mark.parametrize(
    ("known", "variation"),
    [
        (ServiceTime(100, 100, 100), 0.0),
        (ServiceTime(100, 100, 300), 2.0),
        (ServiceTime(9, 9, 9), 1.0),
        (ServiceTime(100, 0, 0), 1.0),
        (ServiceTime(100, 100, 99.9), 0.0),
    ],
)
def test_the_spread_is_measured_once_there_are_runs_enough(known: ServiceTime, variation: float) -> None:
    found = estimate.service_time(UNHINTED, known, signals(None, worker()))
    assert found is not None
    assert found[1] == pytest.approx(variation)


def test_start_up_time_runs_from_the_raise_to_the_first_receive() -> None:
    state = PoolState(raises=((NOW_S - 60, 2), (NOW_S - 30, 1)))
    workers = [worker(str(n), first_receive_at_s=NOW_S - ago) for n, ago in enumerate((20, 15, 10))]
    fleet = observe(workers=tuple(workers)).fleet
    learned = estimate.learn_start_up(state, capacity(), fleet)
    assert learned.start_ups_s == (40.0, 45.0, 20.0)
    assert learned.raises == ()
    assert estimate.learn_start_up(learned, capacity(), fleet) == learned


def test_a_worker_that_no_raise_asked_for_measures_nothing() -> None:
    state = PoolState(raises=((NOW_S - 10, 1),))
    before = worker("a", first_receive_at_s=NOW_S - 20)
    never = worker("b", first_receive_at_s=None)
    learned = estimate.learn_start_up(state, capacity(), observe(workers=(before, never)).fleet)
    assert (learned.start_ups_s, learned.raises) == ((), state.raises)


def test_a_raise_that_nobody_answered_is_forgotten_after_a_quarter_of_an_hour() -> None:
    state = PoolState(raises=((NOW_S - 901, 5),))
    assert estimate.learn_start_up(state, capacity(), observe().fleet).raises == ()


def test_start_up_is_the_ninetieth_percentile_then_the_hint_then_nothing() -> None:
    measured = PoolState(start_ups_s=tuple(float(n) for n in range(1, 11)))
    assert estimate.start_up_s(POOL, measured) == estimate.Estimate(10.0, "measured")
    hinted = replace(POOL, start_up_hint_s=45.0)
    assert estimate.start_up_s(hinted, PoolState()) == estimate.Estimate(45.0, "hint")
    assert estimate.start_up_s(POOL, PoolState()) == estimate.Estimate(0.0, "unmeasured")
