"""Workers that run and of which nothing is heard: they hold a scale-in up for a while, and not for ever."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import HELD, NOW_S, POOL, capacity, observe, queue, worker
from tests.core.retire.retiring import drained, protected
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Decision, Reason
from tidegate.core.memory import Silence
from tidegate.core.model import PoolState, Retired
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.core.signals.astray import SILENT_LIMIT_S
from tidegate.core.signals.read import Freshness, Signals, read_signals
from tidegate.core.signals.silence import YOUNG_S, learn_silence, said_of

LONG_AGO_S = NOW_S - SILENT_LIMIT_S - 1


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_so_many_have_been_silent_as_have_been_at_least_so_many_all_that_time(counts: list[int]) -> None:
    silence: Silence = ()
    for tick, silent in enumerate(counts):
        silence = learn_silence(silence, silent, tick * 10.0)
        for enough in range(1, silent + 1):
            since = max((n for n in range(tick + 1) if counts[n] < enough), default=-1) + 1
            longer = sum(count for since_s, count in silence if since_s <= since * 10.0)
            shorter = sum(count for since_s, count in silence if since_s < since * 10.0)
            assert shorter < enough <= longer
    assert sum(count for _, count in silence) == counts[-1]


def look(state: PoolState, running: int, *workers: WorkerReport) -> Signals:
    return read_signals(POOL, state, observe(workers=workers, seen=capacity(running)))


def reporting(count: int) -> tuple[WorkerReport, ...]:
    return tuple(worker(f"w{n}", busy=2, completions=8) for n in range(count))


@pytest.mark.parametrize(
    ("silence", "reports", "expected", "unheard"),
    [
        ((), 4, Freshness.STALE, 0),
        (((NOW_S - SILENT_LIMIT_S, 1),), 4, Freshness.STALE, 0),
        (((NOW_S - SILENT_LIMIT_S - 1, 1),), 4, Freshness.FRESH, 1),
        (((LONG_AGO_S, 1),), 4, Freshness.FRESH, 1),
        (((LONG_AGO_S, 2),), 3, Freshness.FRESH, 2),
        (((LONG_AGO_S, 1),), 5, Freshness.FRESH, 0),
        (((LONG_AGO_S, 5),), 0, Freshness.STALE, 0),
    ],
)
def test_beside_others_that_report_who_is_silent_for_a_quarter_of_an_hour_is_reckoned_and_holds_nothing_up(
    silence: Silence, reports: int, expected: Freshness, unheard: int
) -> None:
    signals = look(PoolState(reported_at_s=NOW_S - 10, silence=silence), 5, *reporting(reports))
    assert (signals.fleet_state, signals.hearing.unheard) == (expected, unheard)


def test_workers_that_were_asked_for_lately_are_waited_for_and_not_reckoned() -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 2),), raises=((NOW_S - 100, 2),))
    hearing = look(state, 5, *reporting(3)).hearing
    assert (hearing.unheard, hearing.stale, hearing.mixed_at_s) == (0, False, None)


def test_one_that_reported_lately_is_waited_for_as_its_next_report_tells_all() -> None:
    for ago_s, unheard in ((100.0, 0), (SILENT_LIMIT_S + 1, 1)):
        state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 1),))
        signals = look(state, 4, *reporting(3), worker("lapsed", at_s=NOW_S - ago_s))
        assert signals.hearing.unheard == unheard


def test_the_farewell_of_a_worker_is_no_silence_of_another() -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 1),))
    gone = worker("gone", at_s=NOW_S - 100, state=WorkerState.STOPPED)
    assert look(state, 4, *reporting(3), gone).hearing.unheard == 1


@pytest.mark.parametrize(
    ("silence", "lapsed_ago_s", "expected", "unheard"),
    [
        (((NOW_S - YOUNG_S, 2),), None, Freshness.FRESH, 0),
        (((NOW_S - YOUNG_S - 1, 2),), None, Freshness.FRESH, 2),
        (((NOW_S - YOUNG_S - 1, 2),), 40.0, Freshness.STALE, 1),
    ],
)
def test_where_silent_workers_are_usual_a_new_one_is_one_of_them_and_only_who_reported_is_missed(
    silence: Silence, lapsed_ago_s: float | None, expected: Freshness, unheard: int
) -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=silence, mixed_at_s=NOW_S - 7200)
    lapsed = () if lapsed_ago_s is None else (worker("lapsed", at_s=NOW_S - lapsed_ago_s),)
    signals = look(state, 5, *reporting(3), *lapsed)
    assert (signals.fleet_state, signals.hearing.unheard) == (expected, unheard)
    assert signals.hearing.mixed_at_s == NOW_S


@pytest.mark.parametrize(("start_ups_s", "unheard"), [((), 2), ((30.0, 240.0), 0), ((30.0, 199.0), 2)])
def test_where_silent_workers_are_usual_one_that_may_be_starting_still_is_not_taken_to_work(
    start_ups_s: tuple[float, ...], unheard: int
) -> None:
    """It runs, as the platform has it, and loads a model for minutes before its first report."""
    state = PoolState(reported_at_s=NOW_S - 10, silence=((NOW_S - 200, 2),), mixed_at_s=NOW_S - 60)
    assert look(replace(state, start_ups_s=start_ups_s), 5, *reporting(3)).hearing.unheard == unheard


def test_where_silent_workers_are_usual_they_are_sized_by_counts_when_no_other_is_left() -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=((NOW_S - 90, 2),), mixed_at_s=NOW_S - 90)
    signals = look(state, 2)
    assert (signals.fleet, signals.fleet_state) == (None, Freshness.FRESH)


def test_that_they_are_usual_is_forgotten_after_a_day_without_any() -> None:
    state = PoolState(reported_at_s=NOW_S - 10, mixed_at_s=NOW_S - 86_401)
    assert look(state, 5, *reporting(3)).fleet_state is Freshness.STALE


def test_a_pool_without_reports_remembers_how_long_its_workers_run_so_that_the_first_report_speaks_for_itself() -> None:
    before = look(PoolState(), 6)
    assert (before.fleet_state, before.hearing.silence, before.hearing.unheard) == (Freshness.FRESH, ((NOW_S, 6),), 0)
    signals = look(PoolState(silence=((LONG_AGO_S, 6),)), 6, *reporting(1))
    assert (signals.fleet_state, signals.hearing.unheard) == (Freshness.FRESH, 5)


def test_reports_that_can_not_be_read_neither_begin_a_silence_nor_end_it() -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 1),), mixed_at_s=NOW_S - 60)
    signals = read_signals(POOL, state, observe(fleet_absence=Absence.THROTTLED, seen=capacity(5)))
    known = signals.hearing
    assert (known.silence, known.mixed_at_s, known.unheard) == (state.silence, state.mixed_at_s, 0)
    assert known.mixed
    long_ago = replace(state, mixed_at_s=NOW_S - 86_401)
    assert not read_signals(POOL, long_ago, observe(fleet_absence=Absence.THROTTLED, seen=capacity(5))).hearing.mixed


def test_one_that_is_retired_is_given_up_by_the_list_and_takes_no_work_that_could_be_reckoned() -> None:
    listed = Retired("x", NOW_S - 2000, silent_since_s=LONG_AGO_S)
    state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 1),), retired=(listed,))
    signals = look(state, 3, *reporting(2))
    assert (signals.fleet_state, signals.hearing.unheard) == (Freshness.FRESH, 0)


def test_what_is_said_of_them_tells_how_many_what_is_made_of_it_and_what_to_do() -> None:
    assert said_of(0, 6, 6) == ""
    assert said_of(2, 3, 6).startswith("3 of 6 running workers report; what 2 others do "), "one is waited for"
    assert said_of(3, 3, 6) == (
        "3 of 6 running workers report; what the others do is reckoned from these, and they go by the plain change of "
        "the count: give them the SDK, let them write the fleet table, or stop what hangs (tidegate health)"
    )


class Service:
    """An ECS service whose workers are protected but for those that have let go; `silent` ones run and never report.

    Like ECS it stops no protected one when the count falls, and those it may stop at once.
    """

    def __init__(self, names: str, silent: str, protected_too: bool = False) -> None:
        self.silent, self.running, self.desired = silent, list(names), len(names)
        self.protected_too = protected_too
        self.state = replace(HELD, reported_at_s=NOW_S)

    def ticks(self, begin: int, end: int) -> Decision:
        """The decision of the last of them."""
        return [self.tick(number) for number in range(begin, end)][-1]

    def tick(self, number: int) -> Decision:
        now_s, listed = NOW_S + 10.0 * number, {each.worker_id for each in self.state.retired}
        reports = tuple(
            drained(name, at_s=now_s) if name in listed else protected(name, 0, at_s=now_s)
            for name in self.running
            if name not in self.silent
        )
        there = capacity(self.desired, running=len(self.running), at_s=now_s)
        decision, self.state = decide(
            POOL, self.state, observe(queue(0, at_s=now_s), workers=reports, seen=there, at_s=now_s)
        )
        self.desired = decision.desired
        for name in [each.worker_id for each in self.state.retired if each.left_at_s == now_s]:
            self.running.remove(name)
        while len(self.running) > self.desired and not self.protected_too and self.running[-1] in self.silent:
            self.running.pop()
        return decision


def test_an_idle_pool_with_a_worker_that_hangs_keeps_still_for_a_quarter_of_an_hour_and_then_lets_it_go_first() -> None:
    service = Service("abcdex", silent="x")
    ticks = round(SILENT_LIMIT_S / 10)
    waits = [service.tick(number) for number in range(ticks + 1)]
    assert {decision.desired for decision in waits} == {6}
    assert waits[-1].reason is Reason.SIGNAL_STALE
    first = service.tick(ticks + 1)
    assert "5 of 6 running workers report; what the others do is reckoned from these" in first.sentence
    last = service.ticks(ticks + 2, ticks + 10)
    assert (last.desired, len(service.running)) == (1, 1)
    assert service.running[0] in "abcde"


def test_one_that_only_can_not_report_is_spared_by_the_platform_and_holds_nothing_up() -> None:
    service = Service("abcdex", silent="x", protected_too=True)
    ticks = round(SILENT_LIMIT_S / 10)
    last = service.ticks(0, ticks + 12)
    assert (last.desired, last.reason) == (1, Reason.MINIMUM)
    assert sorted(service.running)[1:] == ["x"], "beside one that reports"


def test_one_that_is_spared_by_the_platform_when_the_count_falls_for_it_does_not_hold_the_pool_up_for_ever() -> None:
    """Its protection goes on, so another that had let go was taken in its place: it is silent, and off the list."""
    listed = Retired("x", NOW_S - 2000, left_at_s=NOW_S - 310, silent_since_s=NOW_S - 1300)
    service = Service("abcx", silent="x", protected_too=True)
    service.desired = 3
    service.state = replace(service.state, retired=(listed,), silence=((NOW_S - 1300, 1),))
    first = service.tick(0)
    assert "x was not removed by the platform and works on" in first.sentence
    last = service.ticks(1, 10)
    assert not service.state.retired or service.state.retired[0].worker_id != "x"
    assert sorted(service.running)[1:] == ["x"]
    assert last.reason is not Reason.SIGNAL_STALE
