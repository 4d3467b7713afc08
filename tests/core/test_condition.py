"""At the ceiling with messages late for more than a minute: a state, the shed flag, and never a higher count."""

from dataclasses import replace

from tests.core.observations import NOW_S, observe, queue
from tests.core.plant import POOL, Plant
from tidegate.core.absence import Absence
from tidegate.core.condition import Condition, Pressure, condition_of, pressed
from tidegate.core.decide import decide
from tidegate.core.model import PoolState
from tidegate.core.observation import Alarm


def overloaded(**pool: object) -> Plant:
    """Forty messages a second of two seconds each need 80 slots; ten workers have 40."""
    return Plant(replace(POOL, **{"max_workers": 10, **pool}), arrivals_per_s=40.0)  # type: ignore[arg-type]


def test_late_at_the_ceiling_for_more_than_a_minute_is_a_state_that_sheds_and_asks_for_no_more() -> None:
    plant = overloaded()
    decisions = plant.run(600)
    states = [decision.state for decision in decisions]
    first = states.index(Condition.AT_CEILING)
    assert set(states[first:]) == {Condition.AT_CEILING}
    assert first * POOL.tick_s >= POOL.target_wait_s, "late for a minute, after the target and what is in hand"
    assert max(decision.desired for decision in decisions) == 10
    assert plant.state.directive.shed
    assert "producers are told to send less" in decisions[-1].sentence


def test_it_is_over_a_minute_after_nothing_is_late_any_more() -> None:
    plant = overloaded()
    plant.run(600)
    plant.arrivals_per_s = 1.0
    decisions = plant.run(1200)
    assert decisions[-1].state is Condition.NORMAL
    assert not plant.state.directive.shed
    assert plant.state.pressure is None


def test_under_the_guards_cap_it_is_a_state_of_its_own() -> None:
    plant = overloaded(max_workers=60, hold_on_alarms=("pay",))
    for _ in range(40):
        plant.alarms = (Alarm("pay", "ALARM", plant.now_s),)
        (decision,) = plant.run(10)
        if decision.state is not Condition.NORMAL:
            break
    assert plant.decisions[-1].state is Condition.DOWNSTREAM
    assert plant.state.directive.shed


def test_a_bulk_pool_that_has_until_the_morning_is_not_late() -> None:
    plant = overloaded(finish_in_s=10 * 3600.0)
    assert {decision.state for decision in plant.run(600)} == {Condition.NORMAL}


def test_a_queue_that_cannot_be_read_changes_nothing_for_three_minutes() -> None:
    state = PoolState(pressure=Pressure(NOW_S - 300, NOW_S - 10, Condition.AT_CEILING), ticked_at_s=NOW_S - 10)
    decision, after = decide(POOL, state, observe(queue(absence=Absence.THROTTLED), desired=7))
    assert (decision.state, after.pressure) == (Condition.AT_CEILING, state.pressure)
    later = observe(queue(absence=Absence.THROTTLED, at_s=NOW_S + 171), desired=7, at_s=NOW_S + 171)
    assert decide(POOL, state, later)[0].state is Condition.NORMAL


def test_a_gap_starts_the_minute_anew_and_short_relief_does_not() -> None:
    early = Pressure(0.0, 100.0, Condition.AT_CEILING)
    assert pressed(early, 281.0, Condition.AT_CEILING) == Pressure(281.0, 281.0, Condition.AT_CEILING)
    assert pressed(early, 160.0, Condition.NORMAL) == early
    assert pressed(early, 161.0, Condition.NORMAL) is None
    assert pressed(None, 5.0, Condition.NORMAL) is None
    assert pressed(early, 110.0, Condition.DOWNSTREAM) == Pressure(0.0, 110.0, Condition.DOWNSTREAM)
    assert condition_of(Pressure(0.0, 60.0, Condition.AT_CEILING)) is Condition.NORMAL
    assert condition_of(None) is Condition.NORMAL
