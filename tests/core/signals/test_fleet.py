"""Every completion counts once, whatever the rhythm of ticks and heartbeats; the silent are no capacity."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.decide import decide
from tidegate.core.model import PoolState
from tidegate.core.reports import WAIT_BOUNDS_S, WorkerReport, WorkerState
from tidegate.core.signals.fleet import FleetSignals, known_worker, sum_fleet
from tidegate.core.signals.news import QUEUE_MEMORY_S, digest


def look(state: PoolState, *workers: WorkerReport, at_s: float = NOW_S) -> tuple[FleetSignals | None, PoolState]:
    fleet = observe(workers=workers, at_s=at_s).fleet
    known = {digest(report.worker_id): known_worker(report) for report in workers}
    return sum_fleet(state, fleet, at_s, 30.0), PoolState(known_workers=known, ticked_at_s=at_s)


def test_workers_are_summed() -> None:
    workers = (worker("a", busy=3, completions=20), worker("b", completions=10), worker("c", heartbeat_s=15))
    fleet, _ = look(PoolState(), *workers)
    assert fleet is not None
    assert (fleet.workers, fleet.slots, fleet.busy, fleet.busy_workers, fleet.runs) == (3, 12, 3, 1, 30)
    assert (fleet.departures, fleet.heartbeat_s, fleet.slots_per_worker) == (30, 15, 4)
    assert fleet.service_time_sum_s == pytest.approx(24.0)


@pytest.mark.parametrize(
    ("permitted", "busy", "free"), [(None, 1, 3), (4, 1, 3), (2, 1, 1), (0, 0, 0), (0, 2, 0), (6, 1, 3)]
)
def test_a_slot_without_a_permit_is_not_free_and_a_handler_may_finish_without_one(
    permitted: int | None, busy: int, free: int
) -> None:
    polls = worker(busy=busy, permitted=permitted, first_receive_at_s=NOW_S - 500)
    fleet, _ = look(PoolState(), polls)
    assert fleet is not None
    assert (fleet.slots, fleet.free, fleet.idle) == (4, free, free)


@pytest.mark.parametrize(
    ("silent", "heartbeat_s", "heard"), [(30, 10, True), (30.5, 10, False), (170, 60, True), (181, 60, False)]
)
def test_a_worker_is_silent_after_three_of_its_own_heartbeats(silent: float, heartbeat_s: float, heard: bool) -> None:
    fleet, _ = look(PoolState(), worker("a", at_s=NOW_S - silent, heartbeat_s=heartbeat_s))
    assert (fleet is not None) is heard


def test_a_worker_that_left_is_no_capacity_but_what_it_completed_last_has_left_the_queue() -> None:
    left = worker("b", completions=7, state=WorkerState.STOPPED)
    fleet, _ = look(PoolState(), worker("a", busy=1), left)
    assert fleet is not None
    assert (fleet.workers, fleet.slots, fleet.departures) == (1, 4, 7)


def test_a_report_seen_twice_is_counted_once_and_so_is_one_that_was_missed() -> None:
    _, state = look(PoolState(), worker("a", completions=5, before=20))
    fleet, state = look(state, worker("a", completions=5, before=20))
    assert fleet is not None
    assert (fleet.departures, fleet.runs) == (0, 0)
    fleet, _ = look(state, worker("a", completions=4, before=33))
    assert fleet is not None
    assert (fleet.departures, fleet.runs) == (12, 4)


def test_a_worker_that_began_since_the_last_tick_counts_whole_and_an_older_one_only_its_news() -> None:
    state = PoolState(ticked_at_s=NOW_S - 10)
    young = worker("a", completions=2, before=3, started_at_s=NOW_S - 8)
    old = worker("b", completions=2, before=3, started_at_s=NOW_S - 800)
    fleet, _ = look(state, young, old)
    assert fleet is not None
    assert fleet.departures == 7


def test_a_lost_lease_is_counted_once_even_when_the_heartbeat_that_told_of_it_was_missed() -> None:
    def lost(total: int) -> WorkerReport:
        report = worker("a")
        return replace(report, total=replace(report.total, leases_lost=total))

    counted, state = [], PoolState(ticked_at_s=NOW_S - 10)
    for total in (0, 3, 3, 4):
        fleet, state = look(state, lost(total))
        assert fleet is not None
        counted.append(fleet.leases_lost)
    assert counted == [0, 3, 0, 1]


def test_a_worker_whose_counter_went_back_counts_nothing() -> None:
    _, state = look(PoolState(), worker("a", completions=50))
    fleet, _ = look(state, worker("a", completions=3))
    assert fleet is not None
    assert fleet.departures == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=40))
def test_departures_add_up_to_what_was_completed_however_many_reports_were_missed(
    history: list[tuple[int, bool]],
) -> None:
    _, state = look(PoolState(), worker("a"))
    done, counted, told = 0, 0.0, 0
    for beat, (completions, looks) in enumerate(history):
        report = worker("a", completions=completions, before=done)
        done += completions
        if looks:
            fleet, state = look(state, report, at_s=NOW_S + beat / 100)
            assert fleet is not None
            counted, told = counted + fleet.departures, done
    assert counted == told


def waits(**buckets: int) -> tuple[int, ...]:
    counts = [0] * (len(WAIT_BOUNDS_S) + 1)
    for name, count in buckets.items():
        counts[int(name[1:])] = count
    return tuple(counts)


def test_the_measured_waits_give_the_late_share_and_the_99th_percentile() -> None:
    under_target, over_target = WAIT_BOUNDS_S.index(30), WAIT_BOUNDS_S.index(45)
    counts = waits(**{f"b{under_target}": 98, f"b{over_target}": 2})
    fleet, _ = look(PoolState(), worker("a", completions=1, waits=counts))
    assert fleet is not None
    assert fleet.waits is not None
    assert (fleet.waits.starts, fleet.waits.late_share, fleet.waits.p99_s) == (100, 0.02, 45)
    assert fleet.waits.sum_s == pytest.approx(98 * 25.0 + 2 * 37.5, rel=0.01)


def test_waits_beyond_the_last_bound_are_late_and_named_by_it() -> None:
    fleet, _ = look(PoolState(), worker("a", completions=1, waits=waits(b25=3)))
    assert fleet is not None
    assert fleet.waits is not None
    assert (fleet.waits.starts, fleet.waits.late_share, fleet.waits.p99_s) == (3, 1.0, WAIT_BOUNDS_S[-1])
    assert fleet.waits.sum_s == pytest.approx(3 * QUEUE_MEMORY_S, rel=0.001), "most of six hours has faded"


def test_a_histogram_of_another_shape_is_left_out() -> None:
    fleet, _ = look(PoolState(), worker("a", completions=1, waits=(1, 2, 3)))
    assert fleet is not None
    assert fleet.waits is None


def test_retries_that_the_workers_budget_put_off_are_said_in_the_decision() -> None:
    def held(report: WorkerReport, count: int) -> WorkerReport:
        return replace(report, recent=replace(report.recent, retries_held=count))

    workers = (held(worker("a", completions=9), 30), held(worker("b", completions=9), 7), worker("c"))
    decision, _ = decide(POOL, PoolState(), observe(queue(10), workers=workers))
    assert "the workers' retry budget has put off 37 of the latest retries" in decision.sentence
    calm, _ = decide(POOL, PoolState(), observe(queue(10), workers=(worker("a", completions=9),)))
    assert "retry budget" not in calm.sentence
