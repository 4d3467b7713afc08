"""Service times, start-up times and how long an idle worker is kept: as measured, each with its source."""

from dataclasses import replace

import pytest

from tests.core.closed_loop import WAIT, World
from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.estimation import times
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.memory import Presence
from tidegate.core.model import Pool, PoolState, ServiceTime
from tidegate.core.observation import Capacity, QueueObservation
from tidegate.core.reports import WorkerReport
from tidegate.core.signals.read import Signals, read_signals

UNHINTED = replace(POOL, service_time_hint_s=None)
ON_TRIAL = replace(POOL, policy="wait", utilization=None)


def signals(seen: QueueObservation | None = None, *workers: WorkerReport) -> Signals:
    return read_signals(POOL, PoolState(), observe(seen or queue(), workers=workers))


def test_the_measured_service_time_replaces_the_hint_without_a_jump() -> None:
    known: ServiceTime | None = None
    means = []
    for done in range(0, 16, 4):
        fleet = signals(None, worker(completions=4, before=done, mean_s=2.0)).fleet
        known = times.learn_service_time(known, fleet, 0.0)
        found = times.service_time(POOL, known, signals(None, worker()))
        assert found is not None
        means.append(found[0].value)
    assert means == pytest.approx([0.8 + 1.2 * 0.4, 0.8 + 1.2 * 0.8, 2.0, 2.0])


def test_a_tick_without_handler_runs_forgets_nothing() -> None:
    known = ServiceTime(100, 80, 64)
    assert times.learn_service_time(known, None, 1e6) == known
    assert times.learn_service_time(known, signals(None, worker()).fleet, 1e6) == known


def test_newer_runs_outweigh_older_ones() -> None:
    known = times.learn_service_time(
        ServiceTime(100, 100, 100), signals(None, worker(completions=100, mean_s=3)).fleet, 1500.0
    )
    found = times.service_time(UNHINTED, known, signals())
    assert found is not None
    assert found[0].value == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize(
    ("pool", "seen", "expected"),
    [
        (POOL, queue(), (Estimate(0.8, "hint"), 1.0)),
        (UNHINTED, queue(1, 4, deleted_per_s=2.0), (Estimate(2.0, "cloudwatch"), 1.0)),
        (UNHINTED, queue(1, 0, deleted_per_s=4.0), None),
        (UNHINTED, queue(1, 12), None),
    ],
)
def test_an_unmeasured_service_time_comes_from_the_hint_or_from_cloudwatch_or_not_at_all(
    pool: Pool, seen: QueueObservation, expected: tuple[Estimate, float] | None
) -> None:
    assert times.service_time(pool, None, signals(seen)) == expected


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
    found = times.service_time(UNHINTED, known, signals(None, worker()))
    assert found is not None
    assert found[1] == pytest.approx(variation)


def began(worker_id: str, started: float, ready: float | None) -> WorkerReport:
    """A worker that was started and first polled so many seconds from now."""
    ready_at_s = None if ready is None else NOW_S + ready
    return worker(worker_id, started_at_s=NOW_S + started, first_receive_at_s=ready_at_s)


def learn(state: PoolState, *workers: WorkerReport) -> PoolState:
    found = times.learn_start_up(state, capacity(), observe(workers=workers).fleet)
    return replace(state, raises=found.raises, known_workers=found.known_workers, start_ups_s=found.start_ups_s)


def test_start_up_time_runs_from_the_raise_to_the_first_receive_and_each_worker_is_timed_once() -> None:
    state = PoolState(raises=((NOW_S - 60, 2), (NOW_S - 30, 1)))
    workers = (began("0", -22, -20), began("1", -17, -15), began("2", -12, -10))
    learned = learn(state, *workers)
    assert (learned.start_ups_s, learned.raises) == ((40.0, 45.0, 20.0), ())
    assert learn(learned, *workers).start_ups_s == learned.start_ups_s


def test_a_worker_whose_heartbeat_is_seen_a_tick_later_is_still_timed() -> None:
    learned = learn(PoolState(raises=((NOW_S - 60, 2),)), began("1", -21, -19.8), began("0", -22, None))
    learned = learn(learned, began("1", -21, -19.8), began("0", -22, -20))
    assert learned.start_ups_s == pytest.approx((40.2, 40.0))
    assert learned.raises == ()


def test_a_worker_that_was_started_before_the_raise_answers_another() -> None:
    state = PoolState(raises=((NOW_S - 10, 1),))
    learned = learn(state, began("a", -40, -4), began("b", -8, None))
    assert (learned.start_ups_s, learned.raises) == ((), state.raises)


def without_reports(
    before: int, now: Capacity, *raises: tuple[float, int], pool: Pool = UNHINTED, looked_s: float = 10.0
) -> times.StartUps:
    """`before` ran at the last look, so long ago; raises as (seconds ago, workers)."""
    asked = tuple((NOW_S - ago_s, count) for ago_s, count in raises)
    state = PoolState(raises=asked, presence=Presence(before), ticked_at_s=NOW_S - looked_s)
    return times.learn_start_up_seen(pool, state, now)


def test_without_reports_a_start_up_lasts_from_the_raise_until_the_platform_says_that_more_run() -> None:
    found = without_reports(1, capacity(6, running=4), (90, 2), (40, 3))
    assert found.start_ups_s == (90.0, 90.0, 40.0)
    assert found.raises == ((NOW_S - 40, 2),)


def test_without_reports_a_hint_that_is_longer_than_what_the_platform_sees_is_believed() -> None:
    hinted = replace(UNHINTED, start_up_hint_s=60.0)
    assert without_reports(1, capacity(3), (90, 1), (40, 1), pool=hinted).start_ups_s == (90.0, 60.0)


def test_an_instance_that_counts_at_once_is_not_believed_to_work_at_once() -> None:
    assert without_reports(1, capacity(2, removes_by_name=True), (20, 1)).start_ups_s == (60.0,)
    assert without_reports(1, capacity(2, removes_by_name=True), (200, 1)).start_ups_s == (200.0,)


def test_who_came_while_nobody_looked_or_without_being_asked_for_is_not_timed() -> None:
    away = without_reports(1, capacity(2), (90, 1), looked_s=600.0)
    assert (away.start_ups_s, away.raises) == ((), ())
    assert without_reports(1, capacity(2)).start_ups_s == ()
    assert without_reports(1, capacity(2), (1000, 1)).start_ups_s == (), "a fault, and forgotten"


def test_raises_that_are_answered_while_others_leave_do_not_make_the_next_start_up_look_long() -> None:
    assert without_reports(3, capacity(3), (90, 1)).raises == ()


def test_a_pool_without_reports_knows_its_start_up_time_once_one_has_started() -> None:
    world = World(replace(WAIT, service_time_hint_s=4.0), lambda _: 5.0, 4.0, 150.0, 1, sdk=False).run(600)
    assert 150.0 <= times.start_up_s(world.pool, world.state.start_ups_s).value <= 160.0


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (2, ((1.0, 3), (2.0, 1), (NOW_S, 2))),
        (0, ((1.0, 3), (2.0, 1))),
        (-1, ((1.0, 3),)),
        (-3, ((1.0, 1),)),
        (-9, ()),
    ],
)
def test_a_cut_takes_back_what_nobody_has_answered_yet(change: int, left: tuple[tuple[float, int], ...]) -> None:
    assert times.record_change(((1.0, 3), (2.0, 1)), NOW_S, change) == left


def test_a_raise_that_nobody_answered_is_forgotten_after_a_quarter_of_an_hour() -> None:
    state = PoolState(raises=((NOW_S - 901, 5),))
    assert learn(state).raises == ()


def test_start_up_is_the_ninetieth_percentile_then_the_hint_then_a_minute_which_the_plain_formula_does_not_assume() -> (
    None
):
    measured = [float(n) for n in range(1, 11)]
    assert times.start_up_s(POOL, measured) == Estimate(10.0, "measured")
    hinted = replace(POOL, start_up_hint_s=45.0)
    assert times.start_up_s(hinted, ()) == Estimate(45.0, "hint")
    assert times.start_up_s(ON_TRIAL, ()) == Estimate(60.0, "unmeasured")
    assert times.start_up_s(POOL, ()) == Estimate(0.0, "unmeasured")


def test_a_worker_is_held_as_long_as_a_new_one_takes_to_start_unless_the_setting_says_otherwise() -> None:
    unset = replace(POOL, hold_s=None, start_up_hint_s=None)
    assert times.hold_s(POOL, Estimate(90.0, "measured")) == 60
    assert times.hold_s(unset, Estimate(0.0, "unmeasured")) == times.HOLD_UNMEASURED_S
    assert times.hold_s(unset, Estimate(90.0, "measured")) == 90
    assert times.hold_s(unset, Estimate(1.0, "measured")) == 30
