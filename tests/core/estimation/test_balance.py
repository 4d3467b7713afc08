"""Little's law: busy slots correct a wrong service time, measured waits correct wrong counts."""

from dataclasses import replace

import pytest

from tests.core.closed_loop import WAIT, World
from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.estimation.balance import at_least_s, count_scale, learn_balance, occupancy_s, so_far_s, usual_per_s
from tidegate.core.estimation.waiting import still_waited_s
from tidegate.core.model import Balance, PoolState, Sample
from tidegate.core.reports import WAIT_BOUNDS_S
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.signals.read import read_signals


def fleet(busy: int = 4, starts: int = 10, mean_wait_s: float = 0.0, mean_s: float = 2.8) -> FleetSignals:
    """Ten seconds of a worker, as the tick sees them; all starts in the bucket from 45 to 60 s when they waited."""
    waits = tuple(starts if edge == 60 and mean_wait_s else 0 for edge in (*WAIT_BOUNDS_S, 0))
    told = worker(busy=busy, completions=starts, waits=waits, mean_s=mean_s)
    found = read_signals(POOL, PoolState(ticked_at_s=NOW_S - 10), observe(queue(), workers=(told,))).fleet
    assert found is not None
    return found


def balanced(told: FleetSignals, counted: float = 0.0, ticks: int = 200) -> Balance:
    balance = Balance()
    for _ in range(ticks):
        balance = learn_balance(balance, told, counted, 10.0)
    return balance


def test_busy_slots_outweigh_a_wrong_service_time_the_more_runs_they_rest_on() -> None:
    # four busy slots, one start a second: each start keeps a slot for four seconds
    assert occupancy_s(balanced(fleet()), reported_s=2.8) == pytest.approx(4.0, rel=0.02)
    assert occupancy_s(balanced(fleet(), ticks=1), reported_s=2.8) == pytest.approx(3.6, rel=0.01)
    assert occupancy_s(Balance(), reported_s=2.8) == 2.8


@pytest.mark.parametrize(("variation", "found_s"), [(0.0, 4.0), (0.5, 5.0), (1.0, 6.0), (4.0, 6.0)])
def test_runs_that_have_only_begun_lengthen_the_service_time_as_far_as_runs_differ(
    variation: float, found_s: float
) -> None:
    # 1,000 ends in 4,000 slot-seconds; 1,000 more runs have been at it for two seconds each
    young = Balance(busy_s=6000.0, starts=2000.0, ends=1000.0, ran_s=4000.0)
    assert occupancy_s(young, reported_s=4.0, variation=variation) == pytest.approx(found_s, rel=0.01)


def test_runs_that_become_longer_are_believed_as_reported_for_the_balance_tells_only_how_wrong_reports_are() -> None:
    """A quarter of an hour of short runs would else hold the service time down for as long."""
    balance = balanced(fleet(busy=3, starts=15, mean_s=2.0))
    longer = fleet(busy=5, starts=10, mean_s=5.0)
    for _ in range(3):
        balance = learn_balance(balance, longer, 0.0, 10.0)
    assert occupancy_s(balance, reported_s=5.0) == pytest.approx(5.0, rel=0.02)


def test_before_the_first_run_has_ended_all_that_they_have_taken_counts_however_long_ago_they_began() -> None:
    begun, running = fleet(busy=4, starts=0), fleet(busy=4, starts=0)
    balance = learn_balance(Balance(), replace(begun, starts=4, ends=0), 0.0, 10.0)
    assert so_far_s(balance, begun) == 0.0  # busy for a heartbeat at most
    for _ in range(720):
        balance = learn_balance(balance, running, 0.0, 10.0)
    assert so_far_s(balance, running) == pytest.approx(7200.0)
    assert so_far_s(balance, None) == so_far_s(Balance(), running) == 0.0
    ended = learn_balance(balance, replace(running, ends=1, runs=1, service_time_sum_s=7200.0), 0.0, 10.0)
    assert so_far_s(ended, running) == 0.0


@pytest.mark.parametrize(("ticks", "at_least"), [(0, 2.0), (3, 3.1), (6, 4.7), (12, 5.0)])
def test_slots_that_stay_busy_with_fewer_starts_and_ends_prove_longer_runs_within_a_minute(
    ticks: int, at_least: float
) -> None:
    """100 slots that ran 50 messages of two seconds each second run ten of ten: at most five are believed at once."""
    balance = balanced(fleet(busy=100, starts=500, mean_s=2.0))
    for _ in range(ticks):
        balance = learn_balance(balance, fleet(busy=100, starts=100, mean_s=2.0), 0.0, 10.0)
    assert at_least_s(balance, 2.0, variation=1.0) == pytest.approx(at_least, rel=0.1)


@pytest.mark.parametrize(("starts", "variation"), [(4, 1.0), (9, 4.0)])
def test_a_few_runs_of_the_last_minute_prove_nothing(starts: int, variation: float) -> None:
    few = Balance(lately_busy_s=1000.0, lately_starts=float(starts), lately_ends=float(starts))
    assert at_least_s(few, 90.0, variation) == 90.0


def test_more_starts_than_ends_are_a_fleet_that_fills_up_and_no_longer_runs() -> None:
    filling = Balance(lately_busy_s=4000.0, lately_starts=1000.0, lately_ends=100.0)
    assert at_least_s(filling, 4.0, variation=1.0) == 4.0


def test_ticks_that_see_only_some_reports_hold_all_ends_against_the_mean_of_those() -> None:
    some = replace(fleet(busy=4, starts=10), ends=10, runs=3, service_time_sum_s=12.0, since_s=10.0)
    assert occupancy_s(balanced(some), reported_s=4.0) == pytest.approx(4.0, rel=0.02)
    none = replace(some, runs=0, service_time_sum_s=0.0)
    balance = balanced(some)
    for _ in range(50):
        balance = learn_balance(balance, none, 0.0, 10.0)
    assert occupancy_s(balance, reported_s=4.0) == pytest.approx(4.0, rel=0.02)
    assert occupancy_s(balanced(none), reported_s=4.0) == 4.0, "nothing was ever told"


def test_what_a_state_of_before_knows_without_the_runs_sum_is_not_held_against_the_first_runs_told() -> None:
    old = Balance(busy_s=4000.0, starts=1000.0, ends=1000.0, seen_s=900.0)
    balance = learn_balance(old, fleet(mean_s=4.0), 0.0, 10.0)
    assert occupancy_s(balance, reported_s=4.0) == pytest.approx(4.0, rel=0.02)
    assert usual_per_s(balance) == pytest.approx(1000 / 900, rel=0.01)


def test_where_as_many_end_as_start_the_balance_outweighs_whatever_is_reported() -> None:
    for variation in (0.0, 0.5, 1.0):
        assert occupancy_s(balanced(fleet()), reported_s=2.8, variation=variation) == pytest.approx(4.0, rel=0.02)


def test_counts_that_read_low_are_scaled_up_to_what_the_waits_say() -> None:
    # one start a second that waited 52.5 s: 52.5 messages wait, whatever the queue says
    assert count_scale(balanced(fleet(mean_wait_s=52.5), counted=31.5)) == pytest.approx(52.5 / 31.5, rel=0.02)
    assert count_scale(balanced(fleet(mean_wait_s=52.5), counted=52.5)) == pytest.approx(1.0, rel=0.02)
    assert count_scale(balanced(fleet(mean_wait_s=52.5), counted=52.5), 52.5**2 / 2) == pytest.approx(1.0, rel=0.01)
    assert count_scale(balanced(fleet(mean_wait_s=52.5), counted=1000.0)) == pytest.approx(0.7)


def test_while_a_backlog_grows_those_that_still_wait_are_counted_too() -> None:
    # ten messages a second come and one is started, so nine a second are left: ∫ of the backlog is theirs by far
    growing, ticks = Balance(), 30
    for n in range(1, ticks + 1):
        growing = learn_balance(growing, fleet(mean_wait_s=52.5), counted=90.0 * n, elapsed_s=10.0)
    still_waited_s = 90.0 * ticks * (10.0 * ticks) / 2
    assert count_scale(growing) < 0.9
    assert count_scale(growing, still_waited_s) == pytest.approx(1.0, abs=0.05)


def test_a_burst_that_nobody_has_started_on_proves_nothing_of_the_counts() -> None:
    # ages are read off late counts as well: half a minute off, they made the same counts 0.7 or 1.4 times as large
    burst = balanced(fleet(mean_wait_s=52.5), counted=52.5, ticks=60)
    for n in range(1, 7):
        burst = learn_balance(burst, fleet(starts=0), counted=1000.0 * n, elapsed_s=10.0)
    for age_s in (10.0, 30.0, 60.0, 90.0):
        assert count_scale(burst, 6000.0 * age_s / 2) == pytest.approx(1.0, abs=0.15)


def test_a_short_backlog_or_none_calibrates_nothing() -> None:
    assert count_scale(Balance()) == 1.0
    assert count_scale(balanced(fleet(mean_wait_s=52.5), counted=2.0)) == 1.0
    assert 1.0 < count_scale(balanced(fleet(mean_wait_s=52.5), counted=31.5, ticks=6)) < 1.1


def test_a_tick_without_reports_or_without_time_changes_nothing() -> None:
    known = balanced(fleet())
    assert learn_balance(Balance(), None, 10.0, 10.0) == Balance(), "a pool whose workers never report"
    assert learn_balance(known, None, 2.0, 10.0) == known, "and nothing to calibrate by"
    assert learn_balance(known, fleet(), 10.0, 0.0) == known


@pytest.mark.parametrize("meanwhile", [None, fleet(starts=0)])
def test_what_is_counted_while_nothing_starts_is_in_later_waits(meanwhile: FleetSignals | None) -> None:
    # 50 messages for a minute before the first worker is there, or any slot free; then each of them tells its 52.5 s
    balance = balanced(fleet())
    for _ in range(6):
        balance = learn_balance(balance, meanwhile, 50.0, 10.0)
    balance = learn_balance(balance, fleet(starts=50, mean_wait_s=52.5), 50.0, 1.0)
    assert balance.waited_s / balance.counted_s == pytest.approx(52.5 * 50 / (50 * 61), rel=0.02)


@pytest.mark.parametrize(("absence", "learns"), [(None, True), (Absence.THROTTLED, False), (Absence.DENIED, False)])
def test_counts_of_a_tick_whose_reports_could_not_be_read_are_held_against_nobody(
    absence: Absence | None, learns: bool
) -> None:
    state = PoolState(balance=balanced(fleet()), ticked_at_s=NOW_S - 10, desired=1)
    _, after = decide(replace(POOL, policy="wait"), state, observe(queue(100), fleet_absence=absence))
    assert (after.balance != state.balance) is learns


def test_the_usual_rate_is_that_of_the_last_quarter_of_an_hour() -> None:
    assert usual_per_s(balanced(fleet(), ticks=1000)) == pytest.approx(1.0, rel=0.01)
    assert usual_per_s(balanced(fleet(), ticks=6)) == pytest.approx(1.0, rel=0.01), "a young pool has no quarter yet"
    assert usual_per_s(Balance()) == 0.0
    assert usual_per_s(replace(balanced(fleet()), starts=0.0)) == 0.0


def test_those_that_wait_are_the_latest_that_came_and_have_waited_since() -> None:
    even = tuple(Sample(NOW_S + 10 * n, 20.0 * n, 100.0, 100.0) for n in range(10))
    assert still_waited_s(even) == pytest.approx(100 * 50 / 2, rel=0.02), "two a second, the oldest for fifty seconds"
    dumped = (*even, Sample(NOW_S + 100, 4200.0, 4000.0, 4000.0), Sample(NOW_S + 110, 4200.0, 4000.0, 4000.0))
    assert still_waited_s(dumped) == pytest.approx(4000 * 15, rel=0.02), "between ten and twenty seconds ago"
    assert still_waited_s(even[:3]) == pytest.approx(10 * 90 + 10 * 70, rel=0.01), "as far as is remembered"
    assert still_waited_s((even[0]._replace(waiting=0.0),)) == still_waited_s(()) == 0.0


def test_a_dump_and_long_waits_leave_exact_counts_as_they_are() -> None:
    """However old the head of a short queue was: of what waits most has just come."""
    pool = replace(WAIT, target_wait_s=900, max_workers=100)
    world = World(pool, lambda _: 2.0, 5.0, 60.0, 2, protected=True).run(1200)
    believed = []
    for _ in range(3):
        world.dump(4000)
        for _ in range(90):
            world.run(10)
            if len(world.sent_s) > 1000:
                believed.append(world.state.samples[-1].waiting / len(world.sent_s))
    assert 0.85 < min(believed) < max(believed) < 1.25
