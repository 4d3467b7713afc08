"""Workers that run and of which nothing is heard: they hold a scale-in up for a while, and not for ever."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import HELD, NOW_S, POOL, capacity, observe, queue, worker
from tests.core.retiring import drained, protected
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Decision, Reason
from tidegate.core.memory import Silence
from tidegate.core.model import PoolState, Retired
from tidegate.core.retire_astray import SILENT_LIMIT_S
from tidegate.core.signals import Freshness, read_signals
from tidegate.core.silence import learn_silence, said_of, settled

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


@pytest.mark.parametrize(
    ("silence", "reporting", "expected", "silent"),
    [
        ((), 4, Freshness.STALE, 0),
        (((NOW_S - SILENT_LIMIT_S, 1),), 4, Freshness.STALE, 0),
        (((LONG_AGO_S, 1),), 4, Freshness.FRESH, 1),
        (((LONG_AGO_S, 1),), 3, Freshness.STALE, 1),
        (((LONG_AGO_S, 2),), 3, Freshness.FRESH, 2),
        (((LONG_AGO_S, 1),), 5, Freshness.FRESH, 0),
        (((LONG_AGO_S, 5),), 0, Freshness.STALE, 0),
    ],
)
def test_after_a_quarter_of_an_hour_silent_ones_are_done_without_as_long_as_others_report(
    silence: Silence, reporting: int, expected: Freshness, silent: int
) -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=silence)
    reports = tuple(worker(f"w{n}") for n in range(reporting))
    signals = read_signals(POOL, state, observe(workers=reports, seen=capacity(5)))
    assert (signals.fleet_state, signals.silent) == (expected, silent)


def test_reports_that_can_not_be_read_neither_begin_a_silence_nor_end_it() -> None:
    state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 1),))
    signals = read_signals(POOL, state, observe(fleet_absence=Absence.THROTTLED, seen=capacity(5)))
    assert (signals.silence, signals.silent) == (state.silence, 0)


def test_one_that_is_retired_is_given_up_by_the_list_and_not_kept_on_top_as_well() -> None:
    listed = Retired("x", NOW_S - 2000, silent_since_s=LONG_AGO_S)
    state = PoolState(reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 1),), retired=(listed,))
    signals = read_signals(POOL, state, observe(workers=(worker("a"), worker("b")), seen=capacity(3)))
    assert (signals.fleet_state, signals.silent) == (Freshness.FRESH, 0)


def test_what_is_said_of_them_tells_how_many_how_long_and_what_to_do() -> None:
    assert said_of(0, (), NOW_S) == ""
    assert settled(((LONG_AGO_S, 2), (NOW_S, 1)), NOW_S) == 2
    assert said_of(2, ((NOW_S - 1200, 2), (NOW_S, 1)), NOW_S) == (
        "2 workers run and have not reported for 20 min: counted as no capacity, they stay on top; "
        "stop what hangs (tidegate health), or let it write the fleet table"
    )
    assert said_of(1, ((NOW_S - 960, 1),), NOW_S).startswith("1 worker runs and has not reported for 16 min: ")


def test_silent_workers_stay_on_top_of_busy_ones_where_nobody_is_protected() -> None:
    state = replace(HELD, silence=((LONG_AGO_S, 2),), reported_at_s=NOW_S)
    busy = tuple(worker(f"w{n}", busy=2) for n in range(6))
    decision, _ = decide(POOL, state, observe(queue(0, in_flight=12), workers=busy, seen=capacity(8)))
    assert (decision.desired, decision.reason) == (3 + 2, Reason.BUSY_FLOOR)


class Service:
    """An ECS service whose workers are protected but for those that have let go; `silent` ones run and never report."""

    def __init__(self, names: str, silent: str) -> None:
        self.silent, self.running, self.desired = silent, list(names), len(names)
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
        return decision


def test_an_idle_pool_with_a_worker_that_hangs_keeps_still_for_a_quarter_of_an_hour_and_then_scales_in_around_it() -> (
    None
):
    service = Service("abcdex", silent="x")
    ticks = round(SILENT_LIMIT_S / 10)
    waits = [service.tick(number) for number in range(ticks + 1)]
    assert {decision.desired for decision in waits} == {6}
    assert waits[-1].reason is Reason.SIGNAL_STALE
    decision = service.ticks(ticks + 1, ticks + 10)
    assert decision.desired == 2, "the minimum, and the silent one"
    assert len(service.running) == 2
    assert "x" in service.running
    assert "1 worker runs and has not reported for 16 min" in decision.sentence


def test_one_that_is_spared_by_the_platform_when_the_count_falls_for_it_does_not_hold_the_pool_up_for_ever() -> None:
    """Its protection goes on, so another that had let go was taken in its place: it is silent, and off the list."""
    listed = Retired("x", NOW_S - 2000, left_at_s=NOW_S - 310, silent_since_s=NOW_S - 1300)
    service = Service("abcx", silent="x")
    service.desired = 3
    service.state = replace(service.state, retired=(listed,), silence=((NOW_S - 1300, 1),))
    first = service.tick(0)
    assert "x was not removed by the platform and works on" in first.sentence
    last = service.ticks(1, 10)
    assert not service.state.retired or service.state.retired[0].worker_id != "x"
    assert (last.desired, sorted(service.running)[-1]) == (2, "x")
    assert last.reason is not Reason.SIGNAL_STALE
