"""Permits: never more granted than there are, fair shares within a lease, turns where there are too few."""

from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tidegate.core.workers.permits import CLOCKS_S, FLEET, Claim, Demand, Holder, Permits, released, renewed

LEASE_S = 30.0
BEAT_S = 10.0


def held(permits: Permits, name: str = FLEET) -> dict[str, int]:
    return {worker: holder.claims[name].held for worker, holder in permits.holders.items() if name in holder.claims}


def ask(permits: Permits, worker: str, want: int, *, limit: int, now_s: float = 0.0, in_use: int = 0) -> Permits:
    return renewed(permits, worker, {FLEET: Demand(limit, in_use, want)}, now_s, LEASE_S).permits


def rounds(permits: Permits, wants: Mapping[str, int], *, limit: int, now_s: float, beats: int = 2) -> Permits:
    """Every worker renews once a beat, with nothing in use."""
    for beat in range(beats):
        for worker, want in wants.items():
            permits = ask(permits, worker, want, limit=limit, now_s=now_s + beat * BEAT_S)
    return permits


@pytest.mark.parametrize(
    ("limit", "wants", "shares"),
    [
        (6, {"a": 4}, {"a": 4}),
        (6, {"a": 9}, {"a": 6}),
        (6, {"a": 4, "b": 4}, {"a": 3, "b": 3}),
        (6, {"a": 4, "b": 4, "c": 4, "d": 4}, {"a": 2, "b": 2, "c": 1, "d": 1}),
        (10, {"a": 1, "b": 9, "c": 9}, {"a": 1, "b": 5, "c": 4}),
        (10, {"a": 2, "b": 3, "c": 4}, {"a": 2, "b": 3, "c": 4}),
        (2, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 0}),
        (5, {"a": 0, "b": 8}, {"a": 0, "b": 5}),
    ],
)
def test_the_fair_share_is_max_min(limit: int, wants: Mapping[str, int], shares: Mapping[str, int]) -> None:
    assert held(rounds(Permits(), wants, limit=limit, now_s=0.0)) == shares


def test_a_newcomer_gets_its_fair_share_once_the_others_have_renewed() -> None:
    before = rounds(Permits(), {"a": 4, "b": 4}, limit=6, now_s=0.0)
    after = ask(before, "c", 4, limit=6, now_s=12.0)
    assert held(after)["c"] == 0
    for worker in "abc":
        after = ask(after, worker, 4, limit=6, now_s=20.0)
    assert held(after) == {"a": 2, "b": 2, "c": 2}


def test_only_idle_permits_are_given_back_and_no_more_are_started() -> None:
    permits = ask(Permits(), "a", 6, limit=6)
    permits = ask(permits, "b", 6, limit=6)
    renewal = renewed(permits, "a", {FLEET: Demand(limit=6, in_use=5, want=6)}, BEAT_S, LEASE_S)
    assert held(renewal.permits)["a"] == 5
    assert renewal.allowed[FLEET] == 3


def test_a_dead_workers_permits_come_back_when_its_lease_and_the_margin_of_the_clocks_are_over() -> None:
    permits = ask(Permits(), "dead", 6, limit=6)
    over_s = LEASE_S + CLOCKS_S
    assert held(ask(permits, "b", 6, limit=6, now_s=over_s - 0.1)) == {"dead": 6, "b": 0}
    assert held(ask(permits, "b", 6, limit=6, now_s=over_s)) == {"b": 6}


def test_a_worker_whose_lease_had_lapsed_keeps_what_nobody_took_and_never_what_others_have() -> None:
    permits = ask(Permits(), "a", 6, limit=6)
    alone = renewed(permits, "a", {FLEET: Demand(6, in_use=4, want=6)}, 500.0, LEASE_S)
    assert held(alone.permits) == {"a": 6}
    taken = ask(permits, "b", 4, limit=6, now_s=500.0)
    back = renewed(taken, "a", {FLEET: Demand(6, in_use=4, want=6)}, 501.0, LEASE_S)
    assert held(back.permits) == {"b": 4, "a": 2}


def test_what_is_released_is_free_at_once() -> None:
    permits = ask(ask(Permits(), "a", 6, limit=6), "b", 6, limit=6)
    assert held(ask(released(permits, "a"), "b", 6, limit=6)) == {"b": 6}


def test_what_is_asked_for_no_more_is_given_back() -> None:
    permits = renewed(Permits(), "a", {"x": Demand(2, 0, 2), "y": Demand(2, 0, 2)}, 0.0, LEASE_S).permits
    assert held(renewed(permits, "a", {"x": Demand(2, 0, 2)}, 1.0, LEASE_S).permits, "y") == {}


def test_with_fewer_permits_than_workers_everybody_has_its_turn() -> None:
    wants, permits, turns = dict.fromkeys("abcde", 4), Permits(), set()
    for beat in range(30):
        permits = rounds(permits, wants, limit=2, now_s=beat * BEAT_S, beats=1)
        turns |= {worker for worker, count in held(permits).items() if count}
    assert turns == set("abcde")


def test_permits_do_not_change_hands_while_everybody_has_some() -> None:
    wants, now_s = dict.fromkeys("abcd", 4), 0.0
    seen = []
    permits = rounds(Permits(), {"d": 4, "b": 4, "a": 4, "c": 4}, limit=6, now_s=now_s)
    for beat in range(2, 20):
        permits = rounds(permits, wants, limit=6, now_s=beat * BEAT_S, beats=1)
        seen.append(held(permits))
    assert all(before == after for before, after in pairwise(seen[1:]))


def test_a_lower_limit_takes_nothing_from_what_runs_and_lets_nothing_start() -> None:
    permits = ask(Permits(), "a", 6, limit=6)
    renewal = renewed(permits, "a", {FLEET: Demand(limit=2, in_use=5, want=6)}, BEAT_S, LEASE_S)
    assert held(renewal.permits) == {"a": 5}
    assert renewal.allowed == {FLEET: 2}


WANTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 12), min_size=1)


@given(wants=WANTS, limit=st.integers(1, 30))
def test_after_two_idle_rounds_everything_wanted_is_granted_as_far_as_there_is(
    wants: dict[str, int], limit: int
) -> None:
    granted = held(rounds(Permits(), wants, limit=limit, now_s=0.0))
    assert sum(granted.values()) == min(limit, sum(wants.values()))
    assert all(granted[worker] <= want for worker, want in wants.items())
    short = [granted[worker] for worker, want in wants.items() if granted[worker] < want]
    assert not short or max(granted.values()) <= min(short) + 1


@given(wants=WANTS, limit=st.integers(1, 30), now_s=st.floats(0, 100))
def test_the_same_permits_give_the_same_renewal(wants: dict[str, int], limit: int, now_s: float) -> None:
    permits = rounds(Permits(), wants, limit=limit, now_s=0.0)
    demands = {FLEET: Demand(limit, 0, 3)}
    backwards = Permits({name: permits.holders[name] for name in reversed(list(permits.holders))})
    assert renewed(permits, "a", demands, now_s, LEASE_S) == renewed(backwards, "a", demands, now_s, LEASE_S)


class Fleet(RuleBasedStateMachine):
    """Workers that start handlers within what they are allowed, renew at any time, die, come back and leave.

    What the table grants never exceeds the limit, and neither do the handlers of those whose lease runs.
    """

    LIMIT = 5

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.permits = Permits()
        self.busy: dict[str, int] = {}
        self.allowed: dict[str, int] = {}
        self.until_s: dict[str, float] = {}

    @rule(seconds=st.floats(0, 50))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds

    @rule(worker=st.sampled_from("abcd"), want=st.integers(0, 8))
    def renews(self, worker: str, want: int) -> None:
        busy = self.busy.get(worker, 0)
        demands = {FLEET: Demand(self.LIMIT, busy, want)}
        renewal = renewed(self.permits, worker, demands, self.now_s, LEASE_S)
        self.permits, self.allowed[worker] = renewal.permits, renewal.allowed[FLEET]
        self.until_s[worker] = self.now_s + LEASE_S
        assert self.allowed[worker] <= renewal.permits.holders[worker].claims[FLEET].held <= self.LIMIT

    @precondition(lambda self: self.allowed)
    @rule(data=st.data())
    def starts_handlers_while_its_lease_runs(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.allowed)))
        if self.now_s < self.until_s[worker]:
            self.busy[worker] = max(self.busy.get(worker, 0), self.allowed[worker])

    @precondition(lambda self: self.busy)
    @rule(data=st.data())
    def a_handler_ends(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.busy)))
        self.busy[worker] = max(0, self.busy[worker] - 1)

    @precondition(lambda self: self.busy)
    @rule(data=st.data())
    def leaves(self, data: st.DataObject) -> None:
        worker = data.draw(st.sampled_from(sorted(self.busy)))
        self.permits = released(self.permits, worker)
        for kept in (self.busy, self.allowed, self.until_s):
            kept.pop(worker, None)

    @invariant()
    def never_more_is_granted_than_there_is(self) -> None:
        live = [one for one in self.permits.holders.values() if self.now_s < one.until_s + CLOCKS_S]
        assert sum(one.claims[FLEET].held for one in live) <= self.LIMIT

    @invariant()
    def what_a_worker_may_start_it_holds(self) -> None:
        for worker, allowed in self.allowed.items():
            if self.now_s < self.until_s[worker]:
                assert allowed <= held(self.permits)[worker]


TestFleet = Fleet.TestCase


def test_a_worker_that_only_asks_to_be_counted_holds_nothing() -> None:
    permits = renewed(Permits(), "a", {}, 0.0, LEASE_S).permits
    assert permits.holders == {"a": Holder(LEASE_S, {})}
    assert ask(permits, "b", 6, limit=6).holders["b"].claims == {FLEET: Claim(6, 6)}
