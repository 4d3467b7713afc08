"""Retired workers that don't do as they were told, or of whom nothing is heard."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, capacity, observe
from tests.core.retiring import BUSY, drained, ids, protected, seen, step
from tidegate.core.absence import Absence
from tidegate.core.model import Retired
from tidegate.core.reports import WorkerState
from tidegate.core.retire import DEAF_AFTER_S, DRAIN_LIMIT_S, LEAVE_LIMIT_S, Outcome


def test_a_retired_worker_that_died_is_forgotten_and_another_goes_in_its_stead() -> None:
    """The platform starts one in its place, since the count was not lowered for it."""
    outcome = step(2, (Retired("x", NOW_S - 60), Retired("d", NOW_S - 60)), seen(*BUSY))
    assert ids(outcome) == {"d", "b"}
    assert "1 retired fell silent, which the platform makes up for" in outcome.notes


def test_one_that_stopped_after_the_count_was_lowered_for_it_is_forgotten_without_a_word() -> None:
    outcome = step(3, (Retired("x", NOW_S - 60, NOW_S - 20),), seen(*BUSY[:3]))
    assert outcome == Outcome(3, ())


def test_one_that_hangs_is_given_up_on_after_twelve_hours_and_said_by_name() -> None:
    hangs = Retired("b", NOW_S - DRAIN_LIMIT_S - 1)
    draining = (BUSY[0], replace(BUSY[1], state=WorkerState.DRAINING), *BUSY[2:])
    outcome = step(3, (hangs,), seen(*draining))
    assert ids(outcome) == {"d"}
    assert "b did not drain within 12 hours and is given up on" in outcome.notes
    assert ids(step(3, (replace(hangs, since_s=NOW_S - DRAIN_LIMIT_S),), seen(*draining))) == {"b"}


def test_one_that_the_platform_spared_works_on_after_five_minutes() -> None:
    left = Retired("d", NOW_S - 900, left_at_s=NOW_S - LEAVE_LIMIT_S - 1)
    look = seen(BUSY[0], BUSY[2], drained("d"), desired=3)
    outcome = step(3, (left,), look)
    assert outcome.retired == ()
    assert "d was not removed by the platform and works on" in outcome.notes
    more = replace(look, capacity=replace(look.capacity, running=4))
    assert step(3, (left,), more).retired == (left,), "the platform is still at it"


def test_one_that_never_hears_that_it_is_retired_counts_as_working_and_another_goes_in_its_stead() -> None:
    told = Retired("d", NOW_S - DEAF_AFTER_S)
    assert ids(step(3, (told,), seen(*BUSY))) == {"d"}, "it has a minute to hear it"
    outcome = step(3, (replace(told, since_s=NOW_S - DEAF_AFTER_S - 1),), seen(*BUSY))
    assert ids(outcome) == {"d", "b"}
    assert (outcome.workers, outcome.waiting) == (4, 1)
    assert "d was told to retire and works on: look whether it can read the fleet table" in outcome.notes


def test_one_that_hears_late_drains_after_all_and_the_one_in_its_stead_comes_back() -> None:
    before = (Retired("d", NOW_S - 900, deaf=True), Retired("b", NOW_S - 60))
    retiring = replace(BUSY[1], state=WorkerState.DRAINING)
    outcome = step(3, before, seen(BUSY[0], retiring, BUSY[2], drained("d")))
    assert ids(outcome) == {"d"}
    assert (outcome.workers, outcome.left, outcome.taken_back) == (3, 1, 1)


def test_one_that_never_heard_of_it_is_taken_off_the_list_as_soon_as_more_are_needed() -> None:
    deaf = Retired("d", NOW_S - 900, deaf=True)
    assert step(5, (deaf,), seen(*BUSY)).retired == ()


@pytest.mark.parametrize("absence", [Absence.THROTTLED, Absence.DENIED, Absence.UNREACHABLE, Absence.GONE])
def test_reports_that_can_not_be_read_say_nothing_of_the_workers_and_the_list_stays(absence: Absence) -> None:
    listed = (Retired("b", NOW_S - 60), Retired("d", NOW_S - 60))
    blind = observe(seen=capacity(4))
    blind = replace(blind, fleet=replace(blind.fleet, absence=absence))
    assert step(2, listed, blind, lower=False) == Outcome(
        4, listed, 2, notes=("2 retired and not seen now: none is stopped",)
    )
    burst = step(6, listed, blind, lower=False)
    assert (burst.workers, burst.retired, burst.taken_back) == (6, (), 2)
    gone = (Retired("d", NOW_S - 60, left_at_s=NOW_S - 20),)
    assert step(4, gone, blind, lower=False) == Outcome(4, gone)


def test_many_names_are_cut_short() -> None:
    workers = [protected(f"w{n}") for n in range(6)]
    hang = tuple(Retired(f"w{n}", NOW_S - DRAIN_LIMIT_S - 1) for n in range(5))
    (note,) = step(6, hang, seen(*workers)).notes
    assert note == "w0, w1, w2 and 2 more did not drain within 12 hours and is given up on"


def test_workers_that_never_reported_go_first_as_they_hold_nothing() -> None:
    outcome = step(2, (), seen(*BUSY[:3], desired=5))
    assert (outcome.workers, ids(outcome)) == (3, {"b"})
