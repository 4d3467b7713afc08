"""What has come so far, by conservation of counts: every look adds a sample, but those that tell nothing."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tests.core.sampled import MEAN_S, ON_TRIAL, rate_of, signals, watch
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.estimation.arrivals import long_window_s
from tidegate.core.estimation.sampling import HISTORY_S, RECENT_TICKS, SAMPLES_PER_WINDOW, extend_samples
from tidegate.core.estimation.waiting import head_age_s
from tidegate.core.model import PoolState, Sample
from tidegate.core.signals.read import read_signals


def test_arrivals_are_what_is_there_more_plus_what_was_completed() -> None:
    rate = rate_of(watch([8.0] * 12, completions_per_s=5.0))
    assert rate.value == pytest.approx(8.0)
    assert rate.source == "counts"


def test_a_first_look_that_is_incomplete_is_no_sample_and_the_next_no_burst() -> None:
    first = read_signals(POOL, PoolState(), observe(queue(3), queue(absence=Absence.THROTTLED, name="bulk")))
    assert extend_samples(POOL, (), NOW_S, first, MEAN_S) == ()


def test_delayed_messages_arrive_when_they_come_due() -> None:
    seen = signals(queue(0, delayed=500))
    samples = extend_samples(POOL, (), NOW_S, seen, MEAN_S)
    for tick in range(1, 10):
        samples = extend_samples(POOL, samples, NOW_S + 10 * tick, seen, MEAN_S)
    due = extend_samples(POOL, samples, NOW_S + 100, signals(queue(500)), MEAN_S)
    assert head_age_s(due, signals()).value == 10.0
    assert due[-1].arrived - due[-2].arrived == 500


def test_without_workers_reports_cloudwatchs_deletions_count_as_departures() -> None:
    before = (Sample(NOW_S - 10, 0, 0, 0),)
    samples = extend_samples(POOL, before, NOW_S, signals(queue(20, deleted_per_s=3.0)), MEAN_S)
    assert samples[-1].arrived == pytest.approx(50.0)


def test_without_reports_and_deletions_what_was_in_flight_leaves_in_its_service_time() -> None:
    # 40 in flight of 2 s each: 20 a second are done; the backlog grows by as many as that
    before = (Sample(NOW_S - 10, 240, 200, 240, 200),)
    samples = extend_samples(POOL, before, NOW_S, signals(queue(400, 40), running=20), 2.0)
    assert samples[-1].arrived - before[0].arrived == pytest.approx(400)
    # a service time that is twice as long in truth makes half the rate: the load is the same but for the backlog's part
    longer = extend_samples(POOL, before, NOW_S, signals(queue(200, 40), running=20), 4.0)
    assert (longer[-1].arrived - before[0].arrived) / 10 * 4.0 == pytest.approx(40.0)
    # no more is worked on than there are slots: the rest backs off
    backs_off = extend_samples(POOL, before, NOW_S, signals(queue(200, 40), running=1), 2.0)
    assert backs_off[-1].arrived - before[0].arrived == pytest.approx(20)
    unknown = extend_samples(POOL, before, NOW_S, signals(queue(200, 40)), 0.0)
    assert unknown[-1].arrived == before[0].arrived


@pytest.mark.parametrize("absence", [Absence.GONE, Absence.DENIED, Absence.THROTTLED])
def test_a_tick_without_counts_adds_no_sample(absence: Absence) -> None:
    before = (Sample(NOW_S - 10, 100, 100, 100),)
    assert extend_samples(POOL, before, NOW_S, signals(queue(absence=absence)), MEAN_S) == before


def test_workers_that_fall_silent_leave_a_gap_and_no_burst_when_they_are_heard_again() -> None:
    before = (Sample(NOW_S - 60, 0, 0, 0), Sample(NOW_S - 50, 50, 0, 0))
    state = PoolState(reported_at_s=NOW_S - 50)
    silent = read_signals(POOL, state, observe(queue(0, deleted_per_s=40.0)))
    assert extend_samples(POOL, before, NOW_S - 20, silent, MEAN_S) == before
    heard = signals(queue(0, deleted_per_s=40.0), worker(completions=250, span_s=50))
    after = extend_samples(POOL, before, NOW_S, heard, MEAN_S)
    assert rate_of(after, heard).value == pytest.approx(5.0)


def test_a_clock_that_stands_still_adds_no_sample() -> None:
    before = (Sample(NOW_S, 100, 100, 100),)
    assert extend_samples(POOL, before, NOW_S, signals(), MEAN_S) == before


def test_ticks_that_come_a_little_early_and_late_lose_no_sample() -> None:
    seen = signals(queue(7))
    kept: tuple[Sample, ...] = ()
    exact: tuple[Sample, ...] = ()
    for tick in range(90):
        early_s = 0.1 * (tick % 2)
        kept = extend_samples(POOL, kept, NOW_S + 10 * tick - early_s, seen, mean_s=200.0)
        exact = extend_samples(POOL, exact, NOW_S + 10 * tick, seen, mean_s=200.0)
    assert len(kept) == len(exact)


def test_samples_reach_back_over_two_blind_windows_however_long_workers_take_to_start() -> None:
    kept: tuple[Sample, ...] = ()
    for tick in range(200):
        seen = signals(queue(7))
        kept = extend_samples(POOL, kept, NOW_S + 10 * tick, seen, MEAN_S, window_pairs_s=680.0)
    assert 680.0 <= kept[-1].at_s - kept[0].at_s <= 720.0
    state = PoolState()
    for at_s in (NOW_S + 10 * tick for tick in range(100)):
        _, state = decide(replace(ON_TRIAL, start_up_hint_s=300.0), state, observe(queue(0, at_s=at_s), at_s=at_s))
    assert state.outlook.windows > 0


def test_samples_older_than_the_history_are_forgotten() -> None:
    assert len(watch([1.0] * 100, 1.0)) == HISTORY_S / 10 + 1


@pytest.mark.parametrize(("tick_s", "target_wait_s"), [(0.5, 30), (10, 3600), (60, 30), (2, 86_400)])
def test_the_history_reaches_back_to_the_target_in_few_samples(tick_s: float, target_wait_s: float) -> None:
    pool = replace(POOL, tick_s=tick_s, target_wait_s=target_wait_s)
    samples = watch([1.0] * 2000, 1.0, pool)
    assert len(samples) <= 2 * SAMPLES_PER_WINDOW + RECENT_TICKS + 3
    reach_s = min(2000 * tick_s, max(HISTORY_S, long_window_s(pool, MEAN_S, 10), target_wait_s))
    assert samples[-1].at_s - samples[0].at_s == pytest.approx(reach_s, rel=0.05)
