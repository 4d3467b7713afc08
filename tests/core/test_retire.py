"""Scale-in that interrupts nothing: whom to retire, when to lower the count, and what a burst takes back."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, capacity, observe, worker
from tidegate.core.absence import Absence
from tidegate.core.model import Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.core.retire import (
    DEAF_AFTER_S,
    DRAIN_LIMIT_S,
    LEAVE_LIMIT_S,
    Outcome,
    is_gentle,
    leaving_hosts,
    not_left,
    retire,
    serving,
)


def protected(name: str, busy: int = 4, **changes: Any) -> WorkerReport:
    return worker(name, busy=busy, protected=True, **changes)


def drained(name: str, **changes: Any) -> WorkerReport:
    return worker(name, busy=0, state=WorkerState.RELEASED, **changes)


def seen(*workers: WorkerReport, desired: int | None = None, **changes: Any) -> Observation:
    count = len(workers) if desired is None else desired
    return observe(workers=workers, seen=capacity(count, **changes))


def step(wanted: int, before: tuple[Retired, ...], look: Observation, *, lower: bool = True) -> Outcome:
    return retire(wanted, before, look, gentle=is_gentle(look), lower=lower)


def ids(outcome: Outcome) -> set[str]:
    return {each.worker_id for each in outcome.retired}


BUSY = (protected("a", 4), protected("b", 1), protected("c", 3), protected("d", 0))


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


def test_a_deaf_worker_of_the_older_revision_does_not_hold_the_deployment_of_the_others_up() -> None:
    deaf = (Retired("old0", NOW_S - 900, renewal=True),)
    outcome = step(4, deaf, deploying(4, *OLD, desired=4), lower=False)
    assert len(outcome.retired) == 2


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


def deploying(outdated: int, *workers: WorkerReport, desired: int) -> Observation:
    return seen(*workers, desired=desired, running=len(workers), deploying=True, outdated=outdated)


OLD = tuple(protected(f"old{n}", started_at_s=NOW_S - 5000 + n) for n in range(4))
NEW = tuple(protected(f"new{n}", started_at_s=NOW_S - 60 + n) for n in range(4))


def test_a_deployment_retires_as_many_old_workers_as_new_ones_take_work_and_keeps_the_count() -> None:
    outcome = step(4, (), deploying(4, *OLD, *NEW[:2], desired=4), lower=False)
    assert len(outcome.retired) == 2
    assert all(each.renewal and each.worker_id.startswith("old") for each in outcome.retired)
    assert outcome.workers == 4
    assert outcome.notes == ("2 of the older revision retired to be replaced",)


def test_a_deployment_that_starts_nothing_before_something_has_gone_gets_one_worker_at_a_time() -> None:
    first = step(4, (), deploying(4, *OLD, desired=4), lower=False)
    assert len(first.retired) == 1
    again = step(4, first.retired, deploying(4, *OLD, desired=4), lower=False)
    assert again.retired == first.retired


def test_a_deployment_gets_through_where_new_workers_can_not_be_protected_yet() -> None:
    unprotected = tuple(replace(each, protected=False) for each in NEW[:2])
    assert len(step(4, (), deploying(4, *OLD, *unprotected, desired=4), lower=False).retired) == 2


def test_after_the_deployment_nobody_is_left_on_the_list() -> None:
    renewed = (Retired("old0", NOW_S - 60, renewal=True),)
    outcome = step(4, renewed, seen(OLD[0], *NEW[:3]))
    assert outcome == Outcome(4, ())


@dataclass
class World:
    """A service as ECS runs it: it stops unprotected workers that are too many, and starts those that are missing."""

    desired: int
    busy: dict[str, int] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    retired: tuple[Retired, ...] = ()
    now_s: float = NOW_S
    born: int = 0

    def __post_init__(self) -> None:
        self.follow()

    def holds_nothing(self, name: str) -> bool:
        return name in self.listed and self.busy[name] == 0

    def reports(self) -> tuple[WorkerReport, ...]:
        return tuple(
            drained(name, at_s=self.now_s)
            if self.holds_nothing(name)
            else replace(
                protected(name, busy, at_s=self.now_s),
                state=WorkerState.DRAINING if name in self.listed else WorkerState.RUNNING,
            )
            for name, busy in self.busy.items()
        )

    def tick(self, wanted: int) -> Outcome:
        look = observe(workers=self.reports(), seen=capacity(self.desired, running=len(self.busy)), at_s=self.now_s)
        assert is_gentle(look) == bool(self.busy)
        outcome = step(wanted, self.retired, look)
        assert outcome.workers >= sum(not self.holds_nothing(name) for name in self.busy)
        self.retired, self.desired = outcome.retired, outcome.workers
        self.listed = {each.worker_id for each in outcome.retired}
        return outcome

    def follow(self) -> None:
        """What the platform does; no worker that holds something is ever stopped."""
        for name in [name for name in self.busy if self.holds_nothing(name)]:
            if len(self.busy) > self.desired:
                del self.busy[name]
        while len(self.busy) < self.desired:
            self.born += 1
            self.busy[f"w{self.born}"] = 0
        self.now_s += 10

    def work(self, loads: list[int]) -> None:
        """Workers on the list only finish; the others take what comes."""
        for name, load in zip(list(self.busy), loads, strict=False):
            self.busy[name] = max(0, self.busy[name] - 1) if name in self.listed else load


WANTED = st.integers(0, 8)
LOADS = st.lists(st.integers(0, 4), min_size=8, max_size=16)


@given(start=st.integers(1, 8), steps=st.lists(st.tuples(WANTED, LOADS), min_size=1, max_size=25))
def test_whatever_is_wanted_the_count_never_falls_below_the_workers_that_hold_something(
    start: int, steps: list[tuple[int, list[int]]]
) -> None:
    """Else ECS would have to stop one of them, or block every deployment. Nothing new starts beside retired ones."""
    world = World(start)
    for wanted, loads in steps:
        before, count = world.retired, world.desired
        world.work(loads)
        outcome = world.tick(wanted)
        assert outcome.workers >= wanted
        if outcome.workers > count:
            assert outcome.waiting == 0, "something new was started while retired workers were there to take back"
        kept = {each.worker_id: each for each in before}
        assert all(each.left_at_s is None or world.holds_nothing(each.worker_id) for each in outcome.retired)
        assert all(kept[name].since_s == each.since_s for each in outcome.retired if (name := each.worker_id) in kept)
        world.follow()


@given(start=st.integers(1, 8), wanted=WANTED, loads=LOADS)
def test_with_a_constant_need_the_count_gets_there_and_the_list_gets_empty(
    start: int, wanted: int, loads: list[int]
) -> None:
    world = World(start)
    world.work(loads)
    for _ in range(12):
        world.tick(wanted)
        world.follow()
        world.work(loads)
    assert world.desired == wanted
    assert len(world.busy) == wanted
    assert world.tick(wanted).retired == ()


@pytest.mark.parametrize("wanted", [0, 1, 4, 7])
def test_as_many_take_work_as_are_wanted(wanted: int) -> None:
    outcome = step(wanted, (), seen(*BUSY))
    assert serving(outcome.retired, capacity(outcome.workers)) == wanted
