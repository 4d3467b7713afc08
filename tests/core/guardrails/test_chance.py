"""What chance explains of a need moves nothing until it has lasted; what it does not is answered at once."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.closed_loop import WAIT, World
from tests.core.observations import NOW_S
from tidegate.core.decision import Reason
from tidegate.core.guardrails.chance import lasts_s, patient_rise, worth_a_step
from tidegate.core.guardrails.limits import PATIENCE_AT_MOST_S
from tidegate.core.limit import Limit
from tidegate.core.observation import Observation


@pytest.mark.parametrize(
    ("workers", "lows", "watched_s", "excess", "expected"),
    [
        (12, ((NOW_S - 10, 10), (NOW_S, 12)), 3600, 0.2, 12),
        (12, ((NOW_S - 10, 10), (NOW_S, 12)), 3600, math.inf, 12),
        (11, ((NOW_S - 310, 9), (NOW_S - 290, 11), (NOW_S, 11)), 3600, 0.1, 11),
        (11, ((NOW_S - 290, 10), (NOW_S, 11)), 3600, 0.1, 10),
        (11, ((NOW_S - 1210, 9), (NOW_S - 1190, 11), (NOW_S, 11)), 3600, 0.05, 11),
        (11, ((NOW_S - 1190, 10), (NOW_S, 11)), 3600, 0.05, 10),
        (12, ((NOW_S - 1300, 11), (NOW_S, 12)), 1100, 0.05, 10),
        (11, ((NOW_S - 1790, 10), (NOW_S, 11)), 3600, 0.0, 10),
        (9, ((NOW_S, 9),), 900, -0.1, 9),
    ],
)
def test_out_at_once_for_more_than_chance_and_for_less_only_when_it_lasts(
    workers: int, lows: tuple[tuple[float, int], ...], watched_s: float, excess: float, expected: int
) -> None:
    assert patient_rise(workers, 10, lows, watched_s, excess, error=0.05, calm=1.0).workers == expected


@given(st.floats(1e-9, 10), st.floats(1.0, 10), st.floats(0, 1), st.floats(0, 1))
def test_the_larger_the_excess_and_the_surer_the_need_the_sooner_it_is_met_and_in_half_an_hour_at_the_latest(
    excess: float, times: float, error: float, calm: float
) -> None:
    lasting_s = lasts_s(excess, error, calm)
    assert lasts_s(excess * times, error, calm) <= lasting_s <= PATIENCE_AT_MOST_S
    assert lasts_s(excess, error * times, calm) >= lasting_s >= lasts_s(excess, error, calm / times)


def test_busy_slots_leave_a_large_step_down_or_none() -> None:
    assert worth_a_step(Limit(95, Reason.BUSY_FLOOR), 100, band=4.0).workers == 95
    assert worth_a_step(Limit(98, Reason.BUSY_FLOOR), 100, band=4.0).workers == 100
    assert worth_a_step(Limit(98, Reason.BUSY_FLOOR), 100, band=0.0).workers == 98
    assert worth_a_step(Limit(98), 100, band=4.0).workers == 98


def counted_a_third_off(draws: random.Random, seen: Observation) -> Observation:
    (queue,) = seen.queues
    value = round((queue.visible.value or 0) * draws.uniform(0.7, 1.3))
    return replace(seen, queues=(replace(queue, visible=replace(queue.visible, value=value)),))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_backlog_into_which_hardly_any_come_sends_workers_home_while_it_shrinks(seed: int) -> None:
    """The rate's error is then a hundred times the rate, and hardly anything of what the backlog needs."""
    draws = random.Random(seed)
    pool = replace(WAIT, target_wait_s=1800, max_workers=60, stop_timeout_s=900)
    world = World(pool, lambda t: 2.0 if t < 1800 else 0.05, 60.0, 60.0, 30, protected=True)
    world.look = lambda _, seen: counted_a_third_off(draws, seen)
    world.run(1800)
    world.dump(1000)
    doubted, at_half = [], 0
    while world.sent_s:
        world.run(10)
        needed = next(step for step in world.last.steps if step.name == "size").values["workers"]
        doubted.append(world.state.needs[-1][1] - int(needed or 0))
        at_half = at_half or (world.taking if len(world.sent_s) <= 500 else 0)
    assert max(doubted) <= 8, "workers that chance may have hidden"
    assert at_half <= 22
    assert world.late == 0
