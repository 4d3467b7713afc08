"""The health block: how often a pool changes and turns, how long it is at its ceiling, and what that advises."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.closed_loop import PLAIN, World
from tests.core.observations import NOW_S
from tidegate.core.decision import Reason
from tidegate.core.explain.health import CHANGES_KEPT, COUNTS_KEPT, health_of, learn_health
from tidegate.core.memory import HealthMemory
from tidegate.core.stored.codec import from_json, to_json


def learned(
    memory: HealthMemory, at_s: float, current: int, desired: int, elapsed_s: float, *, pinned: bool = False
) -> HealthMemory:
    return learn_health(memory, NOW_S + at_s, current, desired, elapsed_s, pinned=pinned)


def watch(*steps: tuple[int, int, Reason], every_s: float = 60.0) -> HealthMemory:
    memory = HealthMemory()
    for n, (current, desired, reason) in enumerate(steps):
        memory = learned(memory, n * every_s, current, desired, every_s, pinned=reason is Reason.MAXIMUM)
    return memory


def test_changes_a_minute_and_turns_an_hour_are_counted() -> None:
    memory = watch(*[(2, 3, Reason.NEED), (3, 2, Reason.NEED)] * 8)
    health = health_of(memory, PLAIN, NOW_S + 15 * 60)
    assert health.changes_per_min == 1.1
    assert health.reversals_per_h == 15
    assert "turned 15 times in an hour: a longer `hold` would save starts" in health.advice
    later = health_of(learned(memory, 7200, 2, 2, 60.0), PLAIN, NOW_S + 7200)
    assert (later.changes_per_min, later.reversals_per_h) == (0.0, 0)


def test_the_share_of_time_at_the_ceiling_is_told_and_advised_on() -> None:
    pinned = health_of(watch(*[(5, 5, Reason.MAXIMUM)] * 120), PLAIN, NOW_S + 7200)
    assert pinned.pinned_share == pytest.approx(0.865, abs=0.01)
    assert pinned.advice[0].startswith("at the ceiling for 86% of the last hour: raise what binds")
    assert health_of(watch(*[(5, 5, Reason.STEADY)] * 120), PLAIN, NOW_S).pinned_share == 0.0


def test_a_pool_that_always_settles_at_one_count_is_told_that_a_fixed_pool_is_simpler() -> None:
    young = watch(*[(3, 3, Reason.STEADY)] * 60, every_s=300.0)
    assert not health_of(young, PLAIN, NOW_S).advice
    old = watch(*[(3, 3, Reason.STEADY)] * 300, every_s=300.0)
    health = health_of(old, PLAIN, NOW_S)
    assert (health.usual_count, health.usual_share) == (3, 1.0)
    assert health.advice == ("100% of the time at 3 workers: a fixed pool of 3 is simpler",)
    assert not health_of(old, replace(PLAIN, min_workers=3, max_workers=3), NOW_S).advice


def test_a_pool_that_has_not_been_watched_has_no_usual_count() -> None:
    assert health_of(HealthMemory(), PLAIN, NOW_S).usual_count is None


def test_what_was_noticed_comes_first() -> None:
    assert health_of(HealthMemory(), PLAIN, NOW_S, ("a queue is odd",)).advice == ("a queue is odd",)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), st.floats(0, 1e6)), max_size=60))
def test_memory_is_bounded_and_survives_json(steps: list[tuple[int, int, float]]) -> None:
    memory, now_s = HealthMemory(), 0.0
    for current, desired, elapsed_s in steps * 4:
        now_s += elapsed_s
        memory = learned(memory, now_s, current, desired, elapsed_s)
    assert len(memory.changes) <= CHANGES_KEPT
    assert len(memory.time_at_s) <= COUNTS_KEPT
    assert 0 <= memory.pinned <= 1
    assert from_json(HealthMemory, to_json(memory)) == memory


def test_every_decision_carries_its_health() -> None:
    world = World(PLAIN, lambda _: 12.0, workers_at_first=3).run(600)
    world.dump(3000)
    world.run(60)
    health = world.last.health
    assert health.changes_per_min > 0
    assert (health.usual_count, health.watched_s) == (3, 650.0)


def test_three_days_at_a_count_are_remembered_and_older_ones_fade() -> None:
    memory = HealthMemory()
    for at_s in range(0, 8 * 86_400, 300):
        memory = learned(memory, at_s, 2 if at_s < 3 * 86_400 else 5, 5, 300.0)
    assert memory.time_at_s["2"] < 0.25 * memory.time_at_s["5"]
    assert 2.8 * 86_400 < sum(memory.time_at_s.values()) <= 3 * 86_400
