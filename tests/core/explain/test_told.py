"""A decision tells itself when it is asked, and nobody can see that it was not told before."""

import pickle
from copy import copy
from dataclasses import fields, replace

import pytest

from tests.core.observations import POOL, STEADY_12, observe, queue, worker
from tidegate.core.condition import Condition
from tidegate.core.decide import decide
from tidegate.core.decision import Action, Decision, Health, Reason, Step, Told, decided
from tidegate.core.model import PoolState
from tidegate.core.stored.codec import from_json, to_json


def a_decision() -> Decision:
    return decide(POOL, PoolState(samples=STEADY_12), observe(queue(9000), workers=(worker("w1", busy=4),)))[0]


def as_it_is(decision: Decision) -> Decision:
    """Made at once, with all that it says."""
    return Decision(**{field.name: getattr(decision, field.name) for field in fields(Decision)})


def test_it_equals_one_that_is_made_with_all_it_says() -> None:
    assert a_decision() == as_it_is(a_decision())
    assert as_it_is(a_decision()) == a_decision()
    assert repr(a_decision()) == repr(as_it_is(a_decision()))


def test_it_is_stored_copied_and_changed_with_all_it_says() -> None:
    whole = as_it_is(a_decision())
    assert to_json(a_decision()) == to_json(whole)
    assert from_json(Decision, to_json(a_decision())) == whole
    assert pickle.loads(pickle.dumps(a_decision())) == whole  # noqa: S301  # as the lab hands them between processes
    assert copy(a_decision()) == whole
    assert replace(a_decision(), desired=7) == replace(whole, desired=7)


@pytest.mark.parametrize("name", Told._fields)
def test_it_is_told_once_whatever_is_asked_first(name: str) -> None:
    told = Told("steady at 2 workers", (Step("size"),), Health(watched_s=60.0))
    asked: list[str] = []

    def tell() -> Told:
        asked.append(name)
        return told

    decision = decided("orders", 1.0, 2, 2, Reason.STEADY, (), Condition.NORMAL, tell)
    assert (decision.action, asked) == (Action.HOLD, [])
    assert getattr(decision, name) == getattr(told, name)
    assert (decision.sentence, decision.steps, decision.health) == told
    assert asked == [name]


def test_it_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="Decision has no advice"):
        getattr(a_decision(), "advice")  # noqa: B009  # a type checker refuses it as well
