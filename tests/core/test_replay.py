"""What was decided once is decided again; under other settings a pool goes its own way at the recorded sights."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tests.core.test_decide_laws import observations, pools, states
from tidegate.core.decide import decide
from tidegate.core.decision import Decision, Step
from tidegate.core.model import Override, OverrideKind, Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.replay import Difference, Sums, first_difference, recompute, sum_up, what_if
from tidegate.core.stored.codec import from_json, to_json
from tidegate.core.stored.recording import Record


def ticks(pool: Pool, state: PoolState, sights: list[Observation]) -> list[Record]:
    """What a controller would record of a tick every ten seconds, each as it comes back from the disk."""
    records = []
    for number, seen in enumerate(sights):
        at_s = NOW_S + 10 * number
        seen = replace(seen, now_s=at_s, capacity=replace(seen.capacity, taken_at_s=at_s))
        decision, after = decide(pool, state, seen)
        records.append(from_json(Record, to_json(Record(pool, state, seen, decision))))
        state = after
    return records


def rising(*waiting: int, pool: Pool = POOL, desired: int = 1) -> list[Record]:
    """A pool that does as it is told, in front of so many waiting messages."""
    state, records = PoolState(), []
    for number, count in enumerate(waiting):
        at_s = NOW_S + 10 * number
        seen = observe(queue(count, at_s=at_s), desired=desired, at_s=at_s)
        decision, after = decide(pool, state, seen)
        records.append(Record(pool, state, seen, decision))
        state, desired = after, decision.desired
    return records


@settings(max_examples=60, deadline=None)
@given(pools, states, st.lists(observations(), min_size=1, max_size=8))
def test_every_recorded_decision_is_made_again_to_the_last_word(
    pool: Pool, state: PoolState, sights: list[Observation]
) -> None:
    for record in ticks(pool, state, sights):
        again = recompute(record)
        assert again == record.decision
        assert first_difference(record.decision, again) is None


@settings(max_examples=60, deadline=None)
@given(pools, states, st.lists(st.integers(0, 5000), min_size=1, max_size=8))
def test_the_same_settings_would_have_asked_for_the_same(pool: Pool, state: PoolState, waiting: list[int]) -> None:
    pool, desired = replace(pool, tick_s=10.0), 3
    records = []
    for number, count in enumerate(waiting):
        at_s = NOW_S + 10 * number
        seen = observe(queue(count, at_s=at_s), desired=desired, at_s=at_s)
        decision, after = decide(pool, state, seen)
        records.append(Record(pool, state, seen, decision))
        state, desired = after, decision.desired
    assert [(tick.recorded, tick.instead) for tick in what_if(records, lambda same: same)] == [
        (record.decision, record.decision) for record in records
    ]


def decided(*steps: Step, **outcome: object) -> Decision:
    (record,) = rising(100)
    return replace(record.decision, steps=steps, **outcome)  # type: ignore[arg-type]  # each test gives what fits


@pytest.mark.parametrize(
    ("recorded", "recomputed", "difference"),
    [
        (
            decided(Step("size", {"slots": 48.0, "rate": 2.0}), Step("ramp", {"after": 12})),
            decided(Step("size", {"slots": 47.0, "rate": 2.0}), Step("ramp", {"after": 11})),
            Difference("size", "slots", 48.0, 47.0),
        ),
        (
            decided(Step("size", {}, "as it was")),
            decided(Step("size", {}, "otherwise")),
            Difference("size", "note", "as it was", "otherwise"),
        ),
        (
            decided(Step("size", {"rate": 1.0})),
            decided(Step("size", {"rate": 1.0, "more": True})),
            Difference("size", "more", None, True),
        ),
        (decided(Step("size")), decided(Step("ramp")), Difference("size", "step", "size", "ramp")),
        (decided(Step("size")), decided(), Difference("size", "step", "size", "(none)")),
        (decided(desired=3), decided(desired=4), Difference("decision", "desired", 3, 4)),
        (
            decided(errors=("mail: gone",)),
            decided(errors=("mail: gone", "fleet: denied")),
            Difference("decision", "errors", "mail: gone", "mail: gone; fleet: denied"),
        ),
    ],
)
def test_the_first_difference_names_the_step_the_value_and_both_sides(
    recorded: Decision, recomputed: Decision, difference: Difference
) -> None:
    assert first_difference(recorded, recomputed) == difference


def test_a_changed_pool_goes_on_from_what_it_asked_for_itself() -> None:
    records = rising(0, 400, 400, 400)
    slower = list(what_if(records, lambda pool: replace(pool, ramp_share=0.0, ramp_workers=1)))
    assert [tick.instead.desired for tick in slower] == [1, 2, 3, 4]
    assert [tick.instead.current for tick in slower] == [1, 1, 2, 3]
    assert [tick.recorded for tick in slower] == [record.decision for record in records]


def test_the_operators_hand_is_the_recorded_one() -> None:
    frozen = Override(OverrideKind.FREEZE, "ada", since_s=NOW_S)
    first, second = rising(0, 400)
    records = [first, replace(second, before=replace(second.before, override=frozen))]
    assert [tick.instead.desired for tick in what_if(records, lambda pool: pool)] == [1, 1]


def test_pools_are_told_apart() -> None:
    mail = replace(POOL, name="mail", max_workers=2)
    mixed = [each for pair in zip(rising(0, 400), rising(0, 400, pool=mail), strict=True) for each in pair]
    sums = sum_up(what_if(mixed, lambda pool: pool))
    assert {name: recorded.most for name, (recorded, _) in sums.items()} == {"orders": 12, "mail": 2}


def test_counts_hold_until_the_next_tick_but_not_through_a_gap() -> None:
    first, second, third = rising(0, 0, 0)
    late = replace(third, observation=replace(third.observation, now_s=NOW_S + 5000))
    late = replace(late, decision=recompute(late))
    spans = sorted(tick.span_s for tick in what_if([first, second, late], lambda pool: pool))
    assert spans == [10.0, 10.0, 30.0]


def test_the_sums_are_those_of_the_desired_counts() -> None:
    records = rising(0, 400)
    recorded, instead = sum_up(what_if(records, lambda pool: replace(pool, max_workers=5)))["orders"]
    up = records[1].decision.desired
    assert (recorded.worker_hours, instead.worker_hours) == pytest.approx(((1 + up) * 10 / 3600, 6 * 10 / 3600))
    assert replace(recorded, worker_hours=0.0) == Sums(decisions=2, raises=1, most=up)
    assert replace(instead, worker_hours=0.0) == Sums(decisions=2, raises=1, most=5)


def test_a_record_of_workers_with_all_their_figures_survives_json() -> None:
    seen = observe(queue(7), workers=(worker("w1", busy=2, completions=5, waits=(1, 2)),), desired=2)
    record = Record(POOL, PoolState(), seen, decide(POOL, PoolState(), seen)[0])
    assert from_json(Record, to_json(record)) == record
