"""Scale-in that interrupts nothing: whom to retire, when to lower the count, and what a burst takes back."""

from typing import Any

import pytest

from tests.core.observations import NOW_S, capacity, observe, worker
from tests.core.retire.retiring import BUSY, drained, ids, protected, seen, step
from tidegate.core.model import Retired
from tidegate.core.retire.choice import Outcome, is_gentle, leaving_hosts, not_left, serving, unspared


def test_the_least_busy_are_retired_and_the_count_stays_until_they_have_drained() -> None:
    outcome = step(2, (), seen(*BUSY))
    assert ids(outcome) == {"b", "d"}
    assert outcome.workers == 4
    assert outcome.notes == ("2 retired and not stopped before they hold nothing (1 busy)",)


def test_of_equally_busy_workers_the_newest_goes() -> None:
    workers = [protected(name, 2, started_at_s=NOW_S - age_s) for name, age_s in (("a", 50), ("b", 5), ("c", 500))]
    assert ids(step(2, (), seen(*workers))) == {"b"}


def test_the_count_falls_by_those_that_have_drained_and_by_no_more() -> None:
    retired = (Retired("b", NOW_S - 60), Retired("d", NOW_S - 60))
    outcome = step(2, retired, seen(BUSY[0], BUSY[1], BUSY[2], drained("d")))
    assert (outcome.workers, outcome.left, outcome.waiting) == (3, 1, 1)
    assert leaving_hosts(outcome.retired, seen(drained("d", host="i-d")).fleet, NOW_S) == ("i-d",)


def test_one_that_the_count_was_lowered_for_stays_retired_and_is_not_counted_twice() -> None:
    """buildkite-agent-scaler #350: a double decrement."""
    left = (Retired("d", NOW_S - 60, left_at_s=NOW_S - 10),)
    outcome = step(3, left, seen(BUSY[0], BUSY[1], BUSY[2], drained("d"), desired=3))
    assert (outcome.workers, outcome.left, outcome.retired) == (3, 0, left)
    assert serving(left, capacity(3)) == 3


def test_a_burst_takes_back_the_last_retired_first_and_starts_nothing_new_meanwhile() -> None:
    retired = (Retired("b", NOW_S - 60), Retired("d", NOW_S - 10))
    outcome = step(3, retired, seen(*BUSY))
    assert (ids(outcome), outcome.workers, outcome.taken_back) == ({"b"}, 4, 1)


def test_a_burst_beyond_all_that_is_there_takes_back_everybody_and_then_asks_for_more() -> None:
    retired = (Retired("b", NOW_S - 60), Retired("d", NOW_S - 60, left_at_s=NOW_S - 1))
    outcome = step(6, retired, seen(*BUSY, desired=3))
    assert (outcome.workers, outcome.retired) == (6, ())


def test_a_drained_worker_waits_while_the_count_must_not_fall() -> None:
    outcome = step(1, (Retired("d", NOW_S - 60),), seen(BUSY[0], drained("d")), lower=False)
    assert (outcome.workers, outcome.left, outcome.waiting) == (2, 0, 1)


def test_a_group_that_is_told_names_is_told_only_names() -> None:
    outcome = step(2, (), seen(*BUSY[:3], desired=5, removes_by_name=True))
    assert (outcome.workers, len(outcome.retired)) == (5, 3)


def test_with_an_unprotected_worker_about_the_change_is_plain_and_nobody_is_retired() -> None:
    look = seen(*BUSY[:3], worker("u", busy=2))
    assert not is_gentle(look)
    assert step(2, (), look) == Outcome(2, ())


def test_those_that_drain_already_work_on_when_protection_turns_out_to_be_missing() -> None:
    outcome = step(2, (Retired("b", NOW_S - 60),), seen(*BUSY[:3], worker("u", busy=2)))
    assert (outcome.workers, outcome.retired, outcome.taken_back) == (4, (), 1)


def test_a_pool_without_reports_is_changed_plainly() -> None:
    look = observe(seen=capacity(4))
    assert not is_gentle(look)
    assert step(1, (), look).workers == 1


def test_an_unprotected_worker_is_no_matter_to_a_platform_that_is_told_names() -> None:
    look = seen(worker("a", busy=2, host="i-a"), worker("b", busy=1, host="i-b"), removes_by_name=True)
    assert is_gentle(look)
    assert ids(step(1, (), look)) == {"b"}
    assert not is_gentle(seen(worker("a", busy=2, host="i-a"), worker("b", busy=1), removes_by_name=True))


def test_a_count_that_could_not_be_lowered_leaves_its_workers_waiting() -> None:
    left = (Retired("b", 1.0, left_at_s=9.0), Retired("d", 1.0, left_at_s=5.0))
    assert not_left(left, 9.0) == (Retired("b", 1.0), Retired("d", 1.0, left_at_s=5.0))


@pytest.mark.parametrize("wanted", [0, 1, 4, 7])
def test_as_many_take_work_as_are_wanted(wanted: int) -> None:
    outcome = step(wanted, (), seen(*BUSY))
    assert serving(outcome.retired, capacity(outcome.workers)) == wanted


BEYOND = seen(*BUSY, desired=2, running=4)


def test_workers_that_run_beyond_a_lowered_count_are_retired_and_the_count_does_not_fall_for_them_again() -> None:
    outcome = step(2, (), BEYOND)
    assert (outcome.workers, ids(outcome)) == (2, {"d", "b"})
    assert outcome.notes == ("2 run beyond the desired count and are retired",)
    assert step(2, outcome.retired, BEYOND) == Outcome(2, outcome.retired)


def test_workers_that_run_beyond_the_count_and_are_needed_stay() -> None:
    assert step(4, (), BEYOND) == Outcome(4, ())
    assert ids(step(3, (), BEYOND)) == {"d"}


@pytest.mark.parametrize(
    "changes",
    [{"running": 2}, {"running": 4, "deploying": True}, {"running": 4, "removes_by_name": True}],
    ids=["only reports show it", "a deployment runs more", "nobody is stopped for an unchanged count"],
)
def test_workers_beyond_the_count_are_left_alone_where_it_is_not_certain_or_no_use(changes: dict[str, Any]) -> None:
    assert step(2, (), seen(*BUSY, desired=2, **changes)) == Outcome(2, ())


def test_workers_beyond_the_count_stay_while_it_must_not_fall() -> None:
    assert step(2, (), BEYOND, lower=False) == Outcome(2, ())


def test_what_keeps_a_scale_in_from_being_gentle_is_said_with_the_fix_and_how_many_it_concerns() -> None:
    assert unspared(seen(desired=3)) == ""
    bare = unspared(seen(protected("a"), worker("b", busy=1), drained("c")))
    assert bare == (
        "1 of 3 workers are not protected, so the platform could stop a busy one and none is stopped while any is "
        "busy: allow their task role ecs:UpdateTaskProtection and ecs:GetTaskProtection, else set a longer "
        "stop_timeout here and on the platform"
    )
    nameless = unspared(seen(worker("a", busy=2, host="i-a"), worker("b", busy=1), removes_by_name=True))
    assert nameless.startswith("1 of 2 workers do not tell which instance is theirs, so the platform could stop ")
    assert "let them read it (IMDSv2, in a container with a hop limit of 2)" in nameless
