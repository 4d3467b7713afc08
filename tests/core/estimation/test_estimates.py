"""Rates, and what waits for how long, come out of the signals as they went in, each with its source."""

from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, queue, worker
from tests.core.sampled import MEAN_S, ON_TRIAL, rate_of, readings, signals, watch
from tidegate.core.estimation import arrivals
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.samples import Samples
from tidegate.core.estimation.sampling import extend_samples
from tidegate.core.estimation.waiting import head_age_s, older_shares, waiting
from tidegate.core.model import Sample


def test_a_jump_is_seen_within_two_ticks_and_noise_is_not_a_jump() -> None:
    jump = rate_of(watch([5.0] * 10 + [40.0] * 2, 0.0))
    assert jump.value == pytest.approx((2 * 40 + 5) / 3)
    assert jump.source == "counts, jump"
    assert rate_of(watch([5.0] * 10 + [40.0] * 3, 0.0)).value == pytest.approx(40.0)
    noise = rate_of(watch([5.0] * 10 + [6.0] * 2, 0.0))
    assert noise.source == "counts"
    assert 5.0 < noise.value < 6.0


@pytest.mark.parametrize("since", [3, 10, 20, 25])
def test_a_fall_is_seen_until_the_long_window_has_forgotten_the_time_before(since: int) -> None:
    """One worker, ticks and heartbeats of two seconds, forty a second and then five."""
    totals = [80.0 * n for n in range(40)]
    totals += [totals[-1] + 10.0 * n for n in range(1, since + 1)]
    fallen = tuple(Sample(NOW_S + 2 * n, total, 0, 0) for n, total in enumerate(totals))
    pool = replace(POOL, tick_s=2)
    found = arrivals.arrivals_per_s(pool, fallen, signals(None, worker(heartbeat_s=2)), MEAN_S, 0.15)
    assert found.value < 12


def test_a_queue_that_only_shrinks_has_no_negative_arrivals() -> None:
    falling = (Sample(NOW_S, 0, 100, 100), Sample(NOW_S + 10, -40, 60, 60))
    assert rate_of(falling).value == 0.0


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_one_empty_reading_is_no_burst_when_the_next_ones_are_as_before(after: int) -> None:
    flat = readings(*[1000.0] * 6, 0.0, *[1000.0] * after)
    assert rate_of(flat).value <= 0.5


def test_the_rate_of_long_jobs_is_taken_over_three_of_them() -> None:
    jobs = watch([0.1] * 40 + [0.2] * 6, 0.0)
    assert rate_of(jobs, mean_s=60.0).value < rate_of(jobs, mean_s=1.0).value
    assert arrivals.long_window_s(POOL, 60.0) == 180
    assert arrivals.long_window_s(POOL, 3600.0) == arrivals.LONGEST_WINDOW_S


def test_a_surge_of_long_jobs_that_is_a_minute_old_is_believed_where_workers_tell_their_starts() -> None:
    surge = readings(*(10.0 * n for n in range(40)), *(390 + 60.0 * n for n in range(1, 7)), 780.0, 810.0, 840.0)
    told, untold = (
        arrivals.arrivals_per_s(ON_TRIAL, surge, signals(None, *workers), 60.0, 0.0) for workers in ((worker(),), ())
    )
    assert told.source == untold.source == "counts", "no jump any more"
    assert untold.value < 3.5 < told.value < 6.0


@pytest.mark.parametrize("workers", [1, 10])
@pytest.mark.parametrize("ticks", range(37, 43))
def test_completions_that_come_in_lumps_are_no_jumps(workers: int, ticks: int) -> None:
    """Ten a second; all workers report once a minute, at the same time: six hundred completions each time."""
    lumpy = tuple(Sample(NOW_S + 10 * n, 600.0 * (n // 6), 0, 0) for n in range(ticks))
    reports = [worker(f"w{n}", heartbeat_s=60) for n in range(workers)]
    assert rate_of(lumpy, signals(None, *reports)).value == pytest.approx(10.0, rel=0.2)


def test_one_sample_says_nothing_of_rates() -> None:
    samples = extend_samples(POOL, (), NOW_S, signals(queue(7)), MEAN_S)
    assert samples == (Sample(NOW_S, 7, 7, 7, 7),)
    assert rate_of(samples) == Estimate(0.0, "unmeasured")


def test_no_sample_yet_leaves_cloudwatchs_rate_and_age_or_nothing() -> None:
    assert rate_of(()) == Estimate(0.0, "unmeasured")
    assert rate_of((), signals(queue(sent_per_s=3))) == Estimate(3, "cloudwatch")
    assert head_age_s((), signals()) == Estimate(0.0, "unmeasured")
    assert head_age_s((), signals(queue(age_s=7))) == Estimate(7, "cloudwatch")


def test_without_workers_reports_cloudwatchs_sent_is_a_lower_bound() -> None:
    flat = (Sample(NOW_S - 10, 0, 0, 0), Sample(NOW_S, 0, 0, 0))
    assert rate_of(flat, signals(queue(sent_per_s=9.0))) == Estimate(9.0, "cloudwatch")
    assert rate_of(flat, signals(queue(sent_per_s=9.0), worker())) == Estimate(0.0, "counts")


def test_of_what_waits_the_shares_that_are_older_never_rise_with_the_age_and_are_unknown_without_samples() -> None:
    noisy = readings(0.0, 100.0, 60.0, 180.0, 170.0, 300.0)
    shares = older_shares(noisy, 300.0, 50.0, 8)
    assert len(shares) == 8
    assert shares[0] == 1.0
    assert list(shares) == sorted(shares, reverse=True)
    assert older_shares(noisy, 100.0, 50.0, 8)[-1] == 0.0, "fewer than came since"
    assert older_shares(noisy, 300.0, 5000.0, 8)[-1] == 0.0, "older than the samples"
    assert (
        older_shares(noisy[:1], 7.0, 5.0, 8)
        == older_shares(noisy, 0.0, 5.0, 8)
        == older_shares(noisy, 7.0, 0.0, 8)
        == ()
    )


@pytest.mark.parametrize(
    ("waiting", "age_s", "expected"),
    [
        (0, 500, Estimate(0.0, "empty")),
        (40, None, Estimate(20.0, "counts")),
        (40, 15, Estimate(20.0, "counts")),
        (40, 90, Estimate(90, "cloudwatch")),
        (900, None, Estimate(40.0, "counts, at least")),
    ],
)
def test_the_head_arrived_when_arrivals_passed_the_starts(
    waiting: float, age_s: float | None, expected: Estimate
) -> None:
    samples = tuple(Sample(NOW_S + 10 * n, 20.0 * n, waiting, waiting) for n in range(5))
    assert head_age_s(samples, signals(queue(waiting, age_s=age_s))) == expected


def test_an_age_from_before_the_queue_was_empty_is_that_of_a_message_long_gone() -> None:
    samples = (Sample(NOW_S - 70, 0, 50, 50), Sample(NOW_S - 30, 60, 0, 0), Sample(NOW_S, 100, 40, 40))
    assert head_age_s(samples, signals(queue(40, age_s=90))) == Estimate(30.0, "counts")
    never_empty = (Sample(NOW_S - 70, 0, 50, 50), Sample(NOW_S - 30, 60, 1, 1), Sample(NOW_S, 100, 40, 40))
    assert head_age_s(never_empty, signals(queue(40, age_s=90))) == Estimate(90, "cloudwatch")


def test_a_slope_is_the_rate_whatever_single_readings_say_and_of_one_reading_it_is_nothing() -> None:
    even = readings(*(10.0 * n for n in range(13)))
    assert arrivals.slope_per_s(Samples.of(even), 60) == pytest.approx(1.0)
    assert arrivals.slope_per_s(Samples.of(even), 30, ago_s=60) == pytest.approx(1.0)
    assert arrivals.slope_per_s(Samples.of(even[:1]), 60) == 0.0


@given(st.floats(0, 1e9), st.floats(0, 2e9), st.integers(2, 12))
def test_where_nothing_came_the_slope_is_none_and_not_what_rounding_leaves(
    so_far: float, at_s: float, count: int
) -> None:
    still = [Sample(at_s + 10.3 * n, so_far, 0, 0) for n in range(count)]
    assert arrivals.slope_per_s(Samples.of(still), 600) == 0.0


def test_exact_counts_are_taken_as_they_are_and_doubtful_ones_as_the_mean_of_a_minute() -> None:
    steady = Estimate(10.0, "counts")
    noisy = tuple(Sample(NOW_S + 10 * n, 100 * n + w, w, w) for n, w in enumerate((300, 200, 400, 300, 250, 350, 380)))
    assert waiting(noisy, steady, signals(), ON_TRIAL, 0.0) > 360
    assert waiting(noisy, steady, signals(), ON_TRIAL, 1.0) == pytest.approx(311, abs=2)


def test_chance_is_what_poisson_arrivals_and_the_counts_error_make_of_a_steady_rate() -> None:
    even = readings(*(10.0 * n for n in range(31)))
    rate = Estimate(1.0, "counts")
    empty = tuple(sample._replace(waiting=0.0) for sample in even)
    assert arrivals.chance_per_s(empty, rate, 0.2) == pytest.approx((1.2 / 300) ** 0.5)
    assert arrivals.chance_per_s(even, rate, 0.2) > arrivals.chance_per_s(even, rate, 0.1)
    assert arrivals.chance_per_s(even[:1], rate, 0.2) == 0.0


def test_counts_of_a_long_queue_are_as_much_off_however_little_comes() -> None:
    standing = readings(*(1000.0,) * 31)
    errors = [arrivals.chance_per_s(standing, Estimate(rate, "counts"), 0.2) for rate in (0.0, 0.001, 0.1)]
    assert errors == pytest.approx([200 * (12 / 31) ** 0.5 / 300] * 3, rel=0.01)


def test_a_rate_has_the_error_of_the_window_that_it_is_read_off_and_the_steady_one_none_of_its_own() -> None:
    arrived = list(accumulate([100.0] * 40 + [180.0] * 6))
    noisy = [Sample(NOW_S + 10 * n, so_far, 200.0, 200.0) for n, so_far in enumerate(arrived)]
    steady = arrivals.arrivals_per_s(ON_TRIAL, noisy[:40], signals(), MEAN_S, 0.05)
    surged = arrivals.arrivals_per_s(ON_TRIAL, noisy, signals(), MEAN_S, 0.05)
    jumped = arrivals.arrivals_per_s(ON_TRIAL, noisy[:42], signals(), MEAN_S, 0.01)
    assert steady.value == pytest.approx(10.0)
    assert steady.error == 0.0
    assert surged.source == "counts"
    assert surged.value > 15.0
    assert 0.5 < surged.error < (surged.value - 10.0) / 2, "it is told from chance by two standard deviations"
    assert jumped.source == "counts, jump"
    assert 0.5 < jumped.error < (jumped.value - 10.0) / 3


def test_what_waits_is_the_mean_of_the_last_minutes_readings_carried_on_to_now() -> None:
    steady = Estimate(10.0, "counts")
    noisy = tuple(Sample(NOW_S + 10 * n, 100 * n + w, w, w) for n, w in enumerate((300, 200, 400, 300, 250, 350, 300)))
    assert waiting(noisy, steady, signals(), ON_TRIAL, 0.15) == pytest.approx(300, rel=0.01)
    one_empty = (*noisy, Sample(NOW_S + 70, 700, 0, 0))
    assert waiting(one_empty, steady, signals(), ON_TRIAL, 0.15) > 200
    assert waiting(one_empty, steady, signals(queue(7)), POOL, 0.15) == 7
    jump = Estimate(10.0, "counts, jump")
    assert waiting(noisy, jump, signals(), ON_TRIAL, 0.15) == pytest.approx((300 + 250 + 350 + 300) / 4, rel=0.01)
    assert waiting((), steady, signals(queue(7)), POOL, 0.15) == 7


def test_while_a_slot_polls_in_vain_nothing_waits_whatever_earlier_readings_make_of_it() -> None:
    # a dump of 300 that was started at once; its rate is still in the window, and would carry old readings on
    done = (*readings(0.0, 300.0), Sample(NOW_S + 40, 300.0, 0.0, 300.0, 0.0))
    phantom = Estimate(25.0, "counts")
    polls = worker(busy=1, first_receive_at_s=NOW_S - 900)
    assert waiting(done, phantom, signals(queue(0), polls), ON_TRIAL, 0.15) == 0.0
    assert waiting(done, phantom, signals(queue(0), replace(polls, busy=4)), ON_TRIAL, 0.15) > 100
    fifo = signals(queue(0, name="orders.fifo"), polls)
    assert waiting(done, phantom, fifo, ON_TRIAL, 0.15) > 100, "a group may be at its limit"


def test_what_grows_while_no_slot_is_idle_is_larger_than_counts_show_yet() -> None:
    # ten a second come and none is started: the counts are half a minute old
    growing = readings(*(100.0 * n for n in range(1, 13)))
    busy, idle = (signals(queue(1200), worker(busy=n, first_receive_at_s=NOW_S - 900)) for n in (4, 3))
    rate = Estimate(10.0, "counts")
    assert waiting(growing, rate, busy, ON_TRIAL, 0.15) == pytest.approx(1200 + 300)
    assert waiting(growing, rate, idle, ON_TRIAL, 0.15) == pytest.approx(1200)
    assert waiting(growing, Estimate(40.0, "counts, jump"), busy, ON_TRIAL, 0.15) < 1200 + 300 + 40 * 30, "a jump"
    kept_up = tuple(sample._replace(waiting=100.0) for sample in growing)
    assert waiting(kept_up, rate, busy, ON_TRIAL, 0.15) == pytest.approx(100)
    assert waiting(growing[:1], rate, busy, ON_TRIAL, 0.15) == pytest.approx(100)
    assert waiting(growing[:2], rate, busy, ON_TRIAL, 0.15) == pytest.approx(200 + 100), "no longer unseen than watched"


def test_counts_that_have_shown_no_error_are_of_now() -> None:
    growing = readings(*(100.0 * n for n in range(1, 13)))
    busy, rate = signals(queue(1200), worker(busy=4, first_receive_at_s=NOW_S - 900)), Estimate(10.0, "counts")
    found = [waiting(growing, rate, busy, ON_TRIAL, error) for error in (0.0, 0.025, 0.05, 0.2)]
    assert found == pytest.approx([1200, 1350, 1500, 1500])


def test_a_mean_rate_is_taken_over_the_target_wait_and_what_lasted_is_the_least_of_three_quarters_of_it() -> None:
    quiet_then_busy = readings(*(0.0,) * 40, *(10.0 * n for n in range(1, 21)))
    pool, now = replace(POOL, target_wait_s=300), Estimate(1.0, "counts")
    assert arrivals.mean_per_s(quiet_then_busy, pool, now) == pytest.approx(2 / 3)
    # of the 300 s the first 100 without arrivals, the others at one a second; two of eight parts are left out
    assert arrivals.steady_per_s(quiet_then_busy, pool, now) == pytest.approx((300 * 6 / 8 - 100) / (300 * 6 / 8))
    assert arrivals.mean_per_s((), POOL, now) == arrivals.steady_per_s((), POOL, now) == 1.0


def test_a_dump_is_no_rate_that_lasts_and_what_goes_on_is() -> None:
    pool, now = replace(POOL, target_wait_s=600), Estimate(100.0, "counts, jump")
    base = [1.0 * n for n in range(0, 600, 10)]
    dumped = readings(*base, base[-1] + 5000, base[-1] + 5010)
    assert arrivals.steady_per_s(dumped, pool, now) == pytest.approx(1.0, rel=0.01)
    lasts = readings(*base, *(base[-1] + 100.0 * n for n in range(10, 610, 10)))
    assert arrivals.steady_per_s(lasts, pool, now) == pytest.approx(100.0, rel=0.02)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=80), st.integers(0, 79), st.floats(0, 1000))
def test_more_arrivals_at_any_time_never_make_a_lasting_rate_smaller(steps: list[float], at: int, more: float) -> None:
    now = Estimate(1.0, "counts")
    extra = [step + (more if n == at else 0.0) for n, step in enumerate(steps)]
    few, many = (readings(*accumulate(each, initial=0.0)) for each in (steps, extra))
    assert arrivals.steady_per_s(many, POOL, now) >= arrivals.steady_per_s(few, POOL, now) - 1e-9
    assert arrivals.steady_per_s(few, POOL, now) <= arrivals.mean_per_s(few, POOL, now) + 1e-9
