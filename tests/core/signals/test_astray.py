"""Retired workers that don't do as they were told, or of whom nothing is heard."""

from dataclasses import replace

import pytest

from tests.core.observations import HELD, NOW_S, POOL, capacity, observe, queue, worker
from tests.core.retire.retiring import BUSY, drained, ids, protected, seen, step
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.model import Retired
from tidegate.core.reports import WorkerState
from tidegate.core.retire.choice import Outcome, leaving_hosts
from tidegate.core.signals.astray import DEAF_AFTER_S, DRAIN_LIMIT_S, LEAVE_LIMIT_S, SILENT_LIMIT_S


def test_a_retired_worker_that_died_is_forgotten_and_another_goes_in_its_stead() -> None:
    """The platform starts one in its place, since the count was not lowered for it."""
    outcome = step(2, (Retired("x", NOW_S - 60), Retired("d", NOW_S - 60)), seen(*BUSY))
    assert ids(outcome) == {"d", "b"}
    assert "1 retired fell silent, which the platform makes up for" in outcome.notes


def test_one_that_stopped_after_the_count_was_lowered_for_it_is_forgotten_without_a_word() -> None:
    outcome = step(3, (Retired("x", NOW_S - 60, NOW_S - 20),), seen(*BUSY[:3]))
    assert outcome == Outcome(3, ())


def test_one_that_hangs_is_removed_after_twelve_hours_and_said_by_name() -> None:
    hangs = Retired("b", NOW_S - DRAIN_LIMIT_S - 1)
    draining = (BUSY[0], replace(BUSY[1], state=WorkerState.DRAINING, host="i-b"), *BUSY[2:])
    outcome = step(3, (hangs,), seen(*draining))
    assert (outcome.workers, outcome.left, outcome.retired) == (3, 1, (replace(hangs, left_at_s=NOW_S),))
    assert outcome.notes == ("b hangs (12 hours without an end) and is removed without having drained",)
    assert leaving_hosts(outcome.retired, seen(*draining).fleet, NOW_S) == ("i-b",)
    waits = step(3, (replace(hangs, since_s=NOW_S - DRAIN_LIMIT_S),), seen(*draining))
    assert (waits.workers, waits.left) == (4, 0)


def test_one_that_hangs_waits_while_the_count_must_not_fall_and_is_taken_back_when_more_are_needed() -> None:
    hangs = (Retired("b", NOW_S - DRAIN_LIMIT_S - 1),)
    draining = (BUSY[0], replace(BUSY[1], state=WorkerState.DRAINING), *BUSY[2:])
    assert step(3, hangs, seen(*draining), lower=False).workers == 4
    assert step(4, hangs, seen(*draining)).retired == ()


def test_one_of_the_older_revision_that_hangs_is_given_up_on() -> None:
    """The platform is to replace it, and the count stays: nothing more can be done from here."""
    old = Retired("b", NOW_S - DRAIN_LIMIT_S - 1, renewal=True)
    draining = (BUSY[0], replace(BUSY[1], state=WorkerState.DRAINING), *BUSY[2:])
    outcome = step(4, (old,), seen(*draining, deploying=True), lower=False)
    assert "b did not drain within 12 hours and is given up on" in outcome.notes


SILENT = Retired("x", NOW_S - 900, silent_since_s=NOW_S - SILENT_LIMIT_S)


def test_one_that_falls_silent_while_the_platform_runs_it_stays_on_the_list_and_is_no_capacity() -> None:
    look = seen(*BUSY[:3], desired=4)
    outcome = step(3, (Retired("x", NOW_S - 60),), look)
    assert outcome.retired == (Retired("x", NOW_S - 60, silent_since_s=NOW_S),)
    assert (outcome.workers, outcome.waiting, outcome.taken_back) == (4, 1, 0)
    assert outcome.notes == ("1 retired and not stopped before it holds nothing (0 busy, 1 silent)",)
    assert step(3, (SILENT,), look).retired == (SILENT,), "a quarter of an hour is not over yet"
    assert step(5, (SILENT,), look).taken_back == 0, "it does not hear that it may come back"
    again = replace(protected("x"), state=WorkerState.DRAINING)
    assert step(3, (SILENT,), seen(*BUSY[:3], again)).retired == (replace(SILENT, silent_since_s=None),)


def test_one_that_stays_silent_is_removed_the_plain_way_after_a_quarter_of_an_hour() -> None:
    overdue = replace(SILENT, silent_since_s=NOW_S - SILENT_LIMIT_S - 1)
    outcome = step(3, (overdue,), seen(*BUSY[:3], desired=4))
    assert (outcome.workers, outcome.left) == (3, 1)
    assert outcome.notes == ("x hangs (silent while it runs) and is removed without having drained",)
    gone = step(3, outcome.retired, seen(*BUSY[:3], desired=3))
    assert gone == Outcome(3, ()), "the platform has stopped it"


def test_a_silent_one_that_the_platform_spares_leaves_the_list_and_its_silence_counts_again() -> None:
    left = replace(SILENT, left_at_s=NOW_S - LEAVE_LIMIT_S - 1)
    outcome = step(3, (left,), seen(*BUSY[:3], desired=3, running=4))
    assert outcome.retired == ()
    assert "x was not removed by the platform and works on" in outcome.notes


def test_silent_and_endless_ones_are_told_apart_where_they_are_removed_together() -> None:
    silent = replace(SILENT, silent_since_s=NOW_S - SILENT_LIMIT_S - 1)
    draining = (BUSY[0], replace(BUSY[1], state=WorkerState.DRAINING), BUSY[2])
    (note,) = step(2, (Retired("b", NOW_S - DRAIN_LIMIT_S - 1), silent), seen(*draining, desired=4)).notes
    assert note == "b, x hangs (12 hours without an end, 1 of them silent) and is removed without having drained"


def test_a_silent_one_is_forgotten_where_it_can_not_be_named_or_others_are_not_protected() -> None:
    """A group would choose another in its place, and so may a service whose workers are not spared."""
    group = seen(*(replace(each, host=f"i-{each.worker_id}") for each in BUSY[:3]), desired=4, removes_by_name=True)
    assert step(4, (SILENT,), group).retired == ()
    plain = step(4, (SILENT,), seen(*BUSY[:2], worker("u", busy=2), desired=4))
    assert plain == Outcome(4, ())


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
    deaf = tuple(Retired(f"w{n}", NOW_S - DEAF_AFTER_S - 1) for n in range(5))
    note, *_ = step(1, deaf, seen(*workers)).notes
    assert note.startswith("w0, w1, w2 and 2 more was told to retire and works on")


def test_workers_that_never_reported_go_first_as_they_hold_nothing() -> None:
    outcome = step(2, (), seen(*BUSY[:3], desired=5))
    assert (outcome.workers, ids(outcome)) == (3, {"b"})


def test_a_pool_whose_retired_worker_hangs_as_a_whole_scales_in_all_the_same() -> None:
    """It runs and is silent, so nothing could be trusted for ever: none of the others was let go either."""
    state, desired, said = HELD, 4, []
    for tick in range(150):
        now_s = NOW_S + 10 * tick
        names = [name for name in "abc" if name not in {each.worker_id for each in state.retired if each.left_at_s}]
        listed = {each.worker_id for each in state.retired}
        reports = [protected(name, 0, at_s=now_s) for name in names if name not in listed]
        reports += [drained(name, at_s=now_s) for name in names if name in listed]
        if "x" not in listed:
            reports.append(protected("x", 0, at_s=now_s, started_at_s=now_s))  # the newest: it is retired first
        running = desired if tick else 4
        look = observe(
            queue(0, at_s=now_s),
            workers=tuple(reports),
            seen=capacity(desired, running=running, at_s=now_s),
            at_s=now_s,
        )
        decision, state = decide(POOL, state, look)
        desired = decision.desired
        said.append(decision.sentence)
    assert desired == 1
    assert any("x hangs (silent while it runs) and is removed without having drained" in each for each in said)
