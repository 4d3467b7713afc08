"""Pools whose workers tell nothing: service times and lateness come from the queue's counts and CloudWatch alone."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Reason
from tidegate.core.estimation.adapt import late_by_age, margin_by_age
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.times import service_time
from tidegate.core.estimation.untold import untold_service_time
from tidegate.core.model import PoolState, Sample
from tidegate.core.signals.read import Signals, read_signals

SERVICE_S = 5.0


def told_s(samples: tuple[Sample, ...], signals: Signals) -> float | None:
    found = untold_service_time(samples, signals)
    return found.mean_s if found else None


def seen(in_flight: float, deleted_per_s: float | None, state: PoolState | None = None, **more: float) -> Signals:
    told = observe(queue(300, in_flight, deleted_per_s=deleted_per_s, **more), seen=capacity(100))  # type: ignore[arg-type]  # the fields vary
    return read_signals(POOL, state or PoolState(), told)


def grown(ticks: int) -> tuple[Sample, ...]:
    """Samples of a pool that went from 4 slots to 80 a minute ago: none of what those deleted is known yet."""
    samples, deleted = [], 0.0
    for n in range(ticks):
        ago_s = 10 * (ticks - 1 - n)
        flying = 80.0 if ago_s <= 60 else 4.0
        deleted += 4.0 / SERVICE_S * 10
        samples.append(Sample(NOW_S - ago_s, deleted + 300 + flying, 300.0, 300 + flying, 300.0))
    return tuple(samples)


@pytest.mark.parametrize("ticks", [11, 20, 60])
def test_what_is_in_flight_is_held_against_the_deletions_of_the_same_minutes(ticks: int) -> None:
    assert told_s(grown(ticks), seen(80, 0.8)) == pytest.approx(SERVICE_S)
    assert told_s((), seen(80, 0.8)) == pytest.approx(100.0), "there is nothing to look back at"
    assert told_s(grown(3), seen(80, 0.8)) == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("hint_s", "believed_s", "source"),
    [
        (5.0, 5.0, "hint"),
        (4.01, 4.01, "hint"),
        (6.2, 6.2, "hint"),
        (2.0, 4.0, "cloudwatch"),
        (50.0, 6.25, "cloudwatch"),
    ],
)
def test_a_hint_holds_until_the_counts_and_deletions_contradict_it_by_more_than_their_own_error(
    hint_s: float, believed_s: float, source: str
) -> None:
    found = service_time(replace(POOL, service_time_hint_s=hint_s), None, seen(80, 0.8), grown(60))
    assert found is not None
    assert found[0].source == source
    assert found[0].value == pytest.approx(believed_s)


def test_a_hint_weighs_as_much_as_ten_messages_that_contradict_it_and_holds_where_there_is_no_window_of_them() -> None:
    pool = replace(POOL, service_time_hint_s=1.0)
    slow = tuple(sample._replace(arrived=0.1 * sample.arrived + 0.9 * sample.in_hand) for sample in grown(11))
    few = service_time(pool, None, seen(80, 0.08), slow)  # eight deletions in a hundred seconds, four in flight
    assert few is not None
    assert few[0].value == pytest.approx((8 * 10 * SERVICE_S / 1.25 + 2 * 1.0) / 10)
    assert service_time(pool, None, seen(80, 0.8), grown(3)) == (Estimate(1.0, "hint"), 1.0)


@pytest.mark.parametrize("gap_s", [310.0, 36_000.0])
@pytest.mark.parametrize("ticks", [1, 2, 5])
def test_after_a_gap_there_is_nothing_to_look_back_at_until_there_are_samples_of_the_deletions_minutes(
    gap_s: float, ticks: int
) -> None:
    before = tuple(sample._replace(at_s=sample.at_s - gap_s - 10 * (ticks - 1)) for sample in grown(20))
    after = tuple(before[-1]._replace(at_s=NOW_S - 10 * n) for n in reversed(range(ticks)))
    assert told_s((*before[-1:], *after), seen(80, 0.8)) == pytest.approx(100.0)


def test_a_pool_without_reports_or_hint_is_decided_for_after_its_controller_was_away() -> None:
    pool = replace(POOL, policy="wait", utilization=None, service_time_hint_s=None)
    state, reasons = PoolState(), []
    for ago_s in (1100, 1090, 10, 0):
        at_s = NOW_S - ago_s
        told = observe(queue(300, 40, deleted_per_s=8.0, at_s=at_s), seen=capacity(10, at_s=at_s))
        decision, state = decide(pool, state, replace(told, now_s=at_s))
        reasons.append(decision.reason)
    assert Reason.UNMEASURED not in reasons


def test_without_deletions_and_while_reporting_workers_are_silent_samples_say_nothing() -> None:
    idle = tuple(sample._replace(arrived=300.0, in_hand=300.0) for sample in grown(20))
    assert told_s(idle, seen(80, 0.8)) is None
    assert told_s(grown(20), seen(80, None)) is None
    silent = PoolState(reported_at_s=NOW_S - 100)
    assert told_s(grown(20), seen(40, 0.8, silent)) == pytest.approx(50.0), "samples have stopped"
    told = read_signals(POOL, PoolState(), observe(queue(1, 4, deleted_per_s=1.0), workers=(worker(),)))
    assert told_s(grown(20), told) is None


@pytest.mark.parametrize(
    ("waiting", "age_s", "late"),
    [(300, 61.0, 1.0), (151, 61.0, 1.0), (149, 61.0, None), (0, 61.0, None), (300, 60.0, 0.0), (300, None, None)],
)
def test_an_old_head_makes_a_pool_late_only_where_as_many_wait_as_such_waits_make(
    waiting: float, age_s: float | None, late: float | None
) -> None:
    """Five a second over a minute are three hundred. A poison head, and a long job in flight, are nobody's wait."""
    samples = tuple(Sample(NOW_S - 100 + 10 * n, 50.0 * n, waiting, waiting, waiting) for n in range(11))
    signals = read_signals(POOL, PoolState(), observe(queue(waiting, age_s=age_s)))
    assert late_by_age(60.0, signals, samples) == late
    assert late_by_age(60.0, signals, samples[:1]) is None


def test_five_minutes_of_an_age_over_the_target_double_the_need_and_ages_under_it_take_it_back_slowly() -> None:
    margin = 0.0
    for _ in range(31):
        margin = margin_by_age(margin, 1.0, 10.0, limited=False)
    assert margin == pytest.approx(1.0, abs=0.05)
    assert margin_by_age(0.5, 1.0, 10.0, limited=True) == pytest.approx(0.5, rel=0.01)
    assert margin_by_age(0.5, 0.0, 10.0, limited=False) < margin_by_age(0.5, None, 10.0, limited=False) < 0.5
    assert margin_by_age(0.0, 1.0, 600.0, limited=False) == pytest.approx(0.2, rel=0.01), "a gap is worth a minute"


@pytest.mark.parametrize(("absence", "raised"), [(Absence.MISSING, True), (Absence.THROTTLED, False)])
def test_a_pool_without_reports_that_is_late_is_given_more_and_one_whose_reports_are_away_waits_for_them(
    absence: Absence, *, raised: bool
) -> None:
    pool = replace(POOL, policy="wait", utilization=None)
    samples = tuple(Sample(NOW_S - 110 + 10 * n, 50.0 * n, 300, 300, 300) for n in range(11))
    state = PoolState(samples=samples, ticked_at_s=NOW_S - 10)
    _, after = decide(pool, state, observe(queue(300, age_s=90.0), fleet_absence=absence))
    assert (after.margin > 0) is raised


def test_no_run_is_taken_to_be_longer_than_a_lease_can_last_however_few_deletions_there_are() -> None:
    assert told_s((), seen(80, 5e-324)) == pytest.approx(43_200.0)
