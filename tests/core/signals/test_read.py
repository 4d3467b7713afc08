"""Each kind of reading is told apart, and sums over queues are as good as their worst part."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, reading, worker
from tidegate.core.absence import Absence
from tidegate.core.explain.steps import signals_step
from tidegate.core.model import PoolState
from tidegate.core.observation import Reading
from tidegate.core.signals.read import METRIC_MAX_AGE_S, Freshness, classify, read_signals


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Reading(1, NOW_S - 20), Freshness.FRESH),
        (Reading(0, NOW_S - 20), Freshness.FRESH),
        (Reading(1, NOW_S - 20.5), Freshness.STALE),
        (Reading(None, NOW_S), Freshness.MISSING),
        (Reading(None, NOW_S, Absence.MISSING), Freshness.MISSING),
        (Reading(None, NOW_S, Absence.THROTTLED), Freshness.MISSING),
        (Reading(None, NOW_S, Absence.UNREACHABLE), Freshness.MISSING),
        (Reading(None, NOW_S, Absence.INVALID), Freshness.MISSING),
        (Reading(None, NOW_S, Absence.DENIED), Freshness.DENIED),
        (Reading(None, NOW_S, Absence.GONE), Freshness.GONE),
    ],
)
def test_a_reading_is_classified_by_what_it_is_and_when_it_was_taken(given: Reading, expected: Freshness) -> None:
    assert classify(given, NOW_S, max_age_s=20) is expected


def test_counts_of_several_queues_add_up() -> None:
    signals = read_signals(POOL, PoolState(), observe(queue(3, 2, 1), queue(30, 20, 10, name="bulk")))
    assert (signals.waiting, signals.in_flight, signals.delayed, signals.in_hand) == (33, 22, 11, 55)
    assert signals.counts is Freshness.FRESH


def test_one_denied_queue_of_two_leaves_a_lower_bound_and_says_which() -> None:
    signals = read_signals(POOL, PoolState(), observe(queue(3), queue(absence=Absence.DENIED, name="bulk")))
    assert signals.counts is Freshness.DENIED
    assert signals.waiting == 3
    assert signals.errors == ("bulk: the queue is denied",)


@pytest.mark.parametrize("absence", Absence)
def test_metrics_that_could_not_be_read_are_no_error_of_the_pool(absence: Absence) -> None:
    unread = Reading(None, NOW_S, absence, "CloudWatch said no")
    seen = replace(queue(3), age_s=unread, sent_per_s=unread, deleted_per_s=unread)
    signals = read_signals(POOL, PoolState(), observe(seen))
    assert (signals.counts, signals.age_s, signals.errors) == (Freshness.FRESH, None, ())


def test_a_stale_metric_is_no_metric() -> None:
    old = queue(5, age_s=90, sent_per_s=2, deleted_per_s=2, at_s=NOW_S - METRIC_MAX_AGE_S)
    signals = read_signals(POOL, PoolState(), observe(old))
    assert (signals.age_s, signals.sent_per_s, signals.deleted_per_s) == (None, None, None)


def test_the_age_is_the_oldest_queues_and_half_a_sum_of_rates_is_none() -> None:
    signals = read_signals(POOL, PoolState(), observe(queue(9, age_s=12, sent_per_s=3), queue(age_s=40)))
    assert (signals.age_s, signals.sent_per_s) == (40, None)


@pytest.mark.parametrize(
    ("absence", "expected"),
    [(Absence.DENIED, Freshness.DENIED), (Absence.GONE, Freshness.GONE), (Absence.UNREACHABLE, Freshness.MISSING)],
)
def test_a_fleet_store_that_fails_is_not_an_idle_fleet(absence: Absence, expected: Freshness) -> None:
    signals = read_signals(POOL, PoolState(), observe(fleet_absence=absence))
    assert (signals.fleet_state, signals.fleet) == (expected, None)
    assert signals.errors == ("fleet: the table is away",)


def test_a_pool_without_the_sdk_is_fine_without_reports() -> None:
    signals = read_signals(POOL, PoolState(), observe(fleet_absence=Absence.MISSING))
    assert (signals.fleet_state, signals.fleet, signals.errors) == (Freshness.FRESH, None, ())


REPORTED = PoolState(reported_at_s=NOW_S - 100)


@pytest.mark.parametrize(
    ("state", "reporting", "running", "expected"),
    [
        (PoolState(), 0, 5, Freshness.FRESH),
        (REPORTED, 0, 5, Freshness.STALE),
        (REPORTED, 0, 0, Freshness.FRESH),
        (PoolState(), 5, 5, Freshness.FRESH),
        (PoolState(), 2, 5, Freshness.STALE),
        (replace(REPORTED, raises=((NOW_S - 20, 3),)), 2, 5, Freshness.FRESH),
        (replace(REPORTED, raises=((NOW_S - 20, 2),)), 2, 5, Freshness.STALE),
        (replace(REPORTED, reported_at_s=NOW_S - 86_401), 0, 5, Freshness.FRESH),
    ],
)
def test_running_workers_that_are_silent_make_the_fleet_stale_once_any_has_reported(
    state: PoolState, reporting: int, running: int, expected: Freshness
) -> None:
    workers = tuple(worker(f"w{n}") for n in range(reporting))
    seen = observe(workers=workers, seen=capacity(running, running=running))
    assert read_signals(POOL, state, seen).fleet_state is expected


def test_an_error_is_said_once_though_three_counts_carry_it() -> None:
    gone = queue(absence=Absence.GONE)
    assert read_signals(POOL, PoolState(), observe(gone)).errors == ("orders: the queue is gone",)
    assert reading(None).absence is Absence.MISSING


def test_metrics_that_another_account_does_not_show_are_missing_and_the_decision_says_whose() -> None:
    far = replace(queue(9), age_s=Reading(None, NOW_S, Absence.UNSEEN, "metrics of account 2 are not seen"))
    seen = observe(queue(1, age_s=5), far)
    signals = read_signals(POOL, PoolState(), seen)

    assert (signals.unseen, signals.errors) == ("metrics of account 2 are not seen", ())
    assert (signals.age_s, signals.sent_per_s) == (5, None)
    step = signals_step(POOL, PoolState(), signals, NOW_S)
    assert step.note == "no worker reports; metrics of account 2 are not seen"
    assert read_signals(POOL, PoolState(), observe(queue(1))).unseen == ""
