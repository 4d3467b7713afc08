"""The retry budget: whatever fails and completes, in any window no more retries go than it has earned."""

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.workers.retry_budget import BURST, RetryCredit, RetryRule, earned, last_may_go, spent

RULE = RetryRule(ratio=0.1, floor_per_s=0.5)


class Shelf:
    """Messages that failed, in virtual time: when each is let go, and what was completed."""

    def __init__(self, rule: RetryRule, credit: float) -> None:
        self.rule = rule
        self.now_s = 0.0
        self.credit = RetryCredit(credit, 0.0)
        self.waiting: deque[float] = deque()
        self.let_go_s: list[float] = []
        self.completed_s: list[float] = []

    def pass_time(self, seconds: float) -> None:
        self.now_s += seconds
        while self.waiting and self.waiting[0] <= self.now_s:
            self.let_go_s.append(self.waiting.popleft())
        self.credit = earned(self.rule, self.credit, self.now_s)

    def fail(self) -> None:
        self.credit, wait_s = spent(self.rule, earned(self.rule, self.credit, self.now_s))
        if wait_s:
            self.waiting.append(self.now_s + wait_s)
        else:
            self.let_go_s.append(self.now_s)

    def complete(self, count: int) -> None:
        self.completed_s += [self.now_s] * count
        self.credit = earned(self.rule, self.credit, self.now_s, count)
        while self.waiting and last_may_go(self.rule, self.credit, self.before_last_s()):
            self.waiting.pop()
            self.let_go_s.append(self.now_s)

    def before_last_s(self) -> float | None:
        return self.waiting[-2] - self.now_s if len(self.waiting) > 1 else None


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("time"), st.floats(0.0, 30.0)),
        st.tuples(st.just("fail"), st.integers(1, 15)),
        st.tuples(st.just("complete"), st.integers(1, 60)),
    ),
    max_size=60,
)
RULES = st.builds(RetryRule, st.floats(0.0, 1.0), st.floats(0.01, 5.0))


def play(rule: RetryRule, events: list[tuple[str, float]], credit: float) -> Shelf:
    shelf = Shelf(rule, credit)
    for kind, number in events:
        if kind == "time":
            shelf.pass_time(number)
        elif kind == "complete":
            shelf.complete(int(number))
        else:
            for _ in range(int(number)):
                shelf.fail()
    return shelf


@given(rule=RULES, events=EVENTS, credit=st.floats(0.0, BURST))
def test_in_any_window_what_goes_is_within_burst_completions_and_floor(
    rule: RetryRule, events: list[tuple[str, float]], credit: float
) -> None:
    shelf = play(rule, events, credit)
    times_s = sorted(shelf.let_go_s)
    for first, begin_s in enumerate(times_s):
        for last in range(first, len(times_s)):
            end_s = times_s[last]
            done = sum(begin_s <= at_s <= end_s for at_s in shelf.completed_s)
            budget = rule.burst + rule.ratio * done + rule.floor_per_s * (end_s - begin_s)
            assert last - first + 1 <= budget + 1e-6


def test_a_retry_that_completions_call_forward_takes_nothing_from_those_that_keep_their_times() -> None:
    shelf = play(
        RetryRule(0.5, 1.0), [("time", 10.0), ("fail", 2), ("time", 1.5), ("fail", 11), ("complete", 1)], BURST
    )
    assert list(shelf.waiting) == [12.0, 13.0]
    shelf.complete(1)
    assert list(shelf.waiting) == [12.0]


@given(rule=RULES, events=EVENTS)
def test_every_retry_goes_in_the_end_and_none_is_lost(rule: RetryRule, events: list[tuple[str, float]]) -> None:
    shelf = play(rule, events, BURST)
    failed = sum(int(number) for kind, number in events if kind == "fail")
    shelf.pass_time(failed / rule.floor_per_s + 1.0)
    assert len(shelf.let_go_s) == failed


@given(rule=RULES, events=EVENTS)
def test_what_is_earned_is_used_while_anything_waits(rule: RetryRule, events: list[tuple[str, float]]) -> None:
    shelf = play(rule, events, BURST)
    owed = -shelf.credit.credit
    assert owed <= len(shelf.waiting) + 1e-6
    if len(shelf.waiting) > 1:
        assert rule.floor_per_s * (shelf.waiting[-2] - shelf.now_s) <= owed + 1e-6


def test_in_an_outage_retries_dry_up_to_the_floor_and_come_back_with_the_completions() -> None:
    shelf = Shelf(RULE, BURST)
    for _ in range(100):  # everything fails for 100 s
        shelf.fail()
        shelf.pass_time(1.0)
    assert len(shelf.let_go_s) == BURST + 50
    for _ in range(50):  # and then all is well, ten a second
        shelf.complete(10)
        shelf.pass_time(1.0)
    assert len(shelf.let_go_s) == 100


@pytest.mark.parametrize(("credit", "floor_per_s", "wait_s"), [(1.0, 0.0, 0.0), (0.5, 0.0, math.inf), (0.5, 0.5, 1.0)])
def test_without_a_floor_only_completions_let_a_retry_go(credit: float, floor_per_s: float, wait_s: float) -> None:
    assert spent(RetryRule(0.1, floor_per_s), RetryCredit(credit, 0.0))[1] == wait_s


def test_a_clock_that_goes_back_earns_nothing_and_costs_nothing() -> None:
    assert earned(RULE, RetryCredit(2.0, 100.0), 50.0) == RetryCredit(2.0, 50.0)


def test_a_quiet_time_saves_up_no_more_than_the_burst() -> None:
    assert earned(RULE, RetryCredit(0.0, 0.0), 1e6, 1_000_000).credit == BURST
