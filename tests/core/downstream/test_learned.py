"""What the curve makes of signs and of a hold."""

from dataclasses import replace

import pytest

from tests.core.downstream.test_hold import HOLD
from tests.core.downstream.test_step_effect import level
from tests.core.downstream.test_worth import curve
from tests.core.observations import observe, queue
from tests.core.plant import POOL
from tidegate.core.downstream.learned import accepted, unlearned
from tidegate.core.downstream.signs import by_curve, effect_of, strongest
from tidegate.core.downstream.state import DependencyMemory, GuardMemory, Sign
from tidegate.core.downstream.stretch import Effect
from tidegate.core.downstream.worth import Worth

SLOW = (Sign.SLOW, "it is slow")
OVER = (Sign.NO_GAIN, "32 slots in use complete more than 48")
FAILING = (Sign.FAILING, "it fails")
KNEE = Worth(slots=32.0, knee=48.0)
BELOW = replace(KNEE, more=True)
BUYS = Worth(slots=60.0, buys=True)
SICK = {"payments": DependencyMemory(calls=100.0, time_sum_s=800.0, usual_s=3.0, slow=True)}
HELD = replace(HOLD, found_slots=48.0)


def memory(**changes: object) -> GuardMemory:
    return replace(GuardMemory(dependencies=SICK, level=level(8, 8.0, 4.0)), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sign", "it", "held", "need", "expected"),
    [
        (SLOW, KNEE, False, 20, SLOW),
        (SLOW, BELOW, False, 20, OVER),
        (SLOW, BELOW, False, 8, None),
        (SLOW, replace(BUYS, more=True), True, 20, None),
        (SLOW, Worth(slots=60.0), False, 8, None),
        (SLOW, Worth(slots=60.0), True, 8, SLOW),
        (FAILING, BELOW, False, 8, FAILING),
        (None, Worth(slots=60.0), False, 20, None),
        (None, KNEE, False, 8, None),
    ],
    ids=[
        "slow",
        "more complete more",
        "and no more are needed",
        "and under a hold",
        "not needed",
        "held",
        "failing",
        "no knee",
        "enough",
    ],
)
def test_slow_calls_are_no_sign_where_more_slots_complete_more_or_no_more_are_needed(
    sign: tuple[Sign, str] | None, it: Worth, held: bool, need: int, expected: tuple[Sign, str] | None
) -> None:
    known = memory(hold=HOLD if held else None)
    assert by_curve(sign, known, it, it.workers(4), need, running=8, pool=POOL) == expected


def test_more_than_completes_most_is_a_sign_by_itself() -> None:
    assert by_curve(None, memory(), KNEE, 8, need=9, running=8, pool=POOL) == OVER
    higher = memory(hold=replace(HOLD, base=9))
    assert by_curve(None, higher, KNEE, 8, need=9, running=8, pool=POOL) == OVER
    assert by_curve(None, higher, KNEE, 8, need=9, running=8, pool=replace(POOL, step_back=False)) is None
    assert by_curve(None, memory(hold=HOLD), KNEE, 8, need=9, running=8, pool=POOL) is None


def test_a_step_that_gained_nothing_by_one_comparison_is_overruled_by_the_curve_and_by_idle_slots() -> None:
    seen = memory(before=level(8, 8.0, 4.0), level=level(16, 8.0, 8.0))
    assert effect_of(GuardMemory(), BUYS, 64.0) is Effect.UNKNOWN
    assert effect_of(seen, Worth(), 64.0) is Effect.NO_GAIN
    assert effect_of(seen, KNEE, 64.0) is Effect.NO_GAIN
    assert effect_of(seen, BUYS, 64.0) is Effect.GAIN
    idle = replace(seen, level=level(16, 8.0, 8.0, open_slots=128))
    assert effect_of(idle, Worth(), 64.0) is Effect.NO_GAIN
    assert effect_of(idle, KNEE, 64.0) is Effect.GAIN


def test_slots_that_are_idle_because_their_workers_have_only_just_come_overrule_nothing() -> None:
    filling = memory(before=level(8, 8.0, 4.0), level=level(16, 8.0, 8.0, open_slots=128))
    assert effect_of(filling, KNEE, 128.0) is Effect.UNKNOWN
    assert effect_of(filling, BUYS, 128.0) is Effect.GAIN, "the curve needs no idle slots"


def test_slow_calls_are_usual_where_more_slots_still_buy() -> None:
    known = unlearned(memory(), BUYS, None, 4, 32.0)
    assert not known.dependencies["payments"].slow
    assert unlearned(memory(), KNEE, 8, 4, 32.0).dependencies["payments"].slow
    assert strongest(observe(queue()), known, Effect.UNKNOWN) is None


def test_a_hold_ends_where_as_many_slots_as_a_sign_was_found_at_are_seen_to_buy() -> None:
    helps, drowns = curve(10.0, 0.4), curve(30.0, 1.5)
    assert unlearned(memory(hold=HELD, curve=helps), BUYS, None, 4, 32.0).hold is None
    for stays in (
        memory(hold=HELD, curve=drowns),
        memory(hold=replace(HELD, found_slots=100.0), curve=helps),
        memory(hold=replace(HELD, found_slots=None), curve=helps),
        memory(hold=replace(HELD, sign=Sign.ALARM), curve=helps),
        memory(hold=HELD, curve=helps, level=None),
    ):
        assert unlearned(stays, Worth(), None, 4, 32.0).hold == stays.hold
    assert unlearned(memory(hold=HELD, curve=helps), KNEE, 8, 4, 32.0).hold == HELD


def test_a_hold_below_what_completes_most_is_lifted_to_that() -> None:
    low = memory(hold=replace(HELD, cap=4, base=4, base_s=4.0))
    lifted = unlearned(low, BELOW, 8, 4, 32.0).hold
    assert lifted is not None
    assert (lifted.cap, lifted.base, lifted.base_s) == (8, 8, None)
    assert unlearned(low, KNEE, 8, 4, 32.0).hold == low.hold
    assert unlearned(low, replace(BUYS, more=True), None, 4, 32.0).hold == low.hold
    higher = memory(hold=replace(HELD, cap=9, base=9))
    assert unlearned(higher, BELOW, 8, 4, 32.0).hold == higher.hold


@pytest.mark.parametrize(("best", "forgotten"), [(8, True), (10, False), (None, False)])
def test_a_step_that_helped_above_what_completed_most_ends_what_was_known_of_more(
    best: int | None, forgotten: bool
) -> None:
    known = memory(curve=replace(curve(30.0, 1.5), load=40.0))
    trying = replace(HOLD, cap=10, base=8)
    later = accepted(known, trying, replace(trying, base=10), best)
    assert (later.curve == known.curve) is not forgotten
    assert accepted(known, trying, replace(trying, cap=8), best).curve == known.curve
    assert accepted(known, None, None, best) == known
