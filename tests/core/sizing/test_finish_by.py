"""A bulk pool is empty by its time with the least constant count, or says early that it can't be."""

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.closed_loop import PLAIN, World
from tidegate.core.decision import Reason
from tidegate.core.estimation.committed import Committed
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.load import Load
from tidegate.core.model import Pool
from tidegate.core.observation import Observation
from tidegate.core.sizing.finish_by import finish_in_time

BULK = replace(PLAIN, min_workers=0, service_time_hint_s=16.0, start_up_hint_s=60.0)
HOURS_S = 3600.0


def until(deadline_s: float, world: World) -> World:
    """The settings say at each tick what is left until the deadline, or the next day's."""

    def remaining(world: World, seen: Observation) -> Observation:
        left_s = (deadline_s - world.elapsed_s) % 86_400.0
        world.pool = replace(world.pool, finish_in_s=left_s, target_wait_s=max(left_s, 1.0))
        return seen

    world.look = remaining
    return world


@pytest.mark.parametrize("ramp_workers", [1, 4, 100])
def test_it_finishes_in_time_with_the_least_constant_count(ramp_workers: int) -> None:
    pool = replace(BULK, ramp_workers=ramp_workers, ramp_share=0.0, tick_s=20.0)
    world = until(2 * HOURS_S, World(pool, service_s=16.0, start_up_s=60.0, workers_at_first=0))
    world.dump(9000)
    least = 9000 * 16.0 / 4 / (2 * HOURS_S - 60.0)
    while world.sent_s and world.elapsed_s < 3 * HOURS_S:
        world.run(20)
    assert world.elapsed_s + 16.0 <= 2 * HOURS_S
    assert max(world.counts) == math.ceil(least)
    assert min(world.counts[10:-30]) >= math.ceil(least) - 1
    assert sum(d.desired != d.current for d in world.decisions[10:]) <= 3
    assert "messages in 1h" in world.decisions[100].sentence
    world.run(300)
    assert world.last.desired == 0


def test_what_arrives_on_the_way_is_counted_in_and_late_work_is_tomorrows() -> None:
    pool = replace(BULK, tick_s=20.0)
    world = until(HOURS_S, World(pool, lambda _: 0.5, service_s=16.0, start_up_s=60.0, workers_at_first=1)).run(900)
    # half a message a second of 16 s: eight slots, two workers, from the first minutes on
    assert world.last.desired in (2, 3)
    world.run(HOURS_S - 900)
    assert len(world.sent_s) < 60
    world.run(600)
    assert world.last.desired >= 1
    assert "in 23h" in world.last.sentence


def test_what_can_not_be_done_under_the_ceiling_is_said_at_once() -> None:
    world = until(HOURS_S, World(replace(BULK, max_workers=5, ramp_workers=10), service_s=16.0, workers_at_first=1))
    world.dump(9000)
    world.run(20)
    assert world.last.reason is Reason.MAXIMUM
    assert "can't be done in time: 8992 messages in 59m40s need 11 workers and 5 are allowed" in world.last.sentence
    assert "which would take 2h54s" in world.last.sentence


def test_delayed_messages_are_part_of_the_work() -> None:
    world = until(HOURS_S, World(BULK, service_s=16.0, delayed=900, workers_at_first=1)).run(20)
    assert world.last.desired == 2


def load(waiting: float, service_s: float = 16.0, running: int = 0) -> Load:
    return Load(
        arrivals=Estimate(0.0, "counts"),
        waiting=waiting,
        head_age=Estimate(0.0, "empty"),
        service_time=Estimate(service_s, "workers"),
        variation=1.0,
        start_up=Estimate(60.0, "measured"),
        slots_per_worker=4,
        committed=Committed(running),
    )


def test_a_surplus_of_a_tenth_stays_and_a_larger_one_goes() -> None:
    assert finish_in_time(BULK, load(9000, running=12), HOURS_S, 12, 100).workers == 12
    assert finish_in_time(BULK, load(9000, running=20), HOURS_S, 20, 100).workers == 11


def test_handlers_too_short_to_measure_need_one_worker_and_an_empty_queue_none() -> None:
    assert finish_in_time(BULK, load(9000, service_s=0.0), HOURS_S, 0, 100).workers == 1
    assert finish_in_time(BULK, load(0), HOURS_S, 3, 100).workers == 0


def test_with_less_time_left_than_a_start_up_nobody_new_is_asked_for() -> None:
    assert finish_in_time(BULK, load(9000, running=2), 50.0, 2, 100).workers <= 2


@example(waiting=510_632.0, more=2_908.0, left_s=468.0, running=0)  # so many that steps out take longer than there is
@given(st.floats(0, 1e6), st.floats(0, 1e5), st.floats(60, 86_400), st.integers(0, 50))
def test_more_work_never_needs_fewer_workers(waiting: float, more: float, left_s: float, running: int) -> None:
    pool: Pool = BULK
    before = finish_in_time(pool, load(waiting, running=running), left_s, running, 1000).step.values["needed"]
    after = finish_in_time(pool, load(waiting + more, running=running), left_s, running, 1000).step.values["needed"]
    assert isinstance(before, int)
    assert isinstance(after, int)
    assert after >= before
