"""When the guard's cap is set, raised and lifted."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tidegate.core.downstream.hold import FORGOTTEN_S, LONGEST_WAIT_S, next_hold
from tidegate.core.downstream.situation import Situation
from tidegate.core.downstream.state import Hold, Sign
from tidegate.core.downstream.stretch import Effect

HOLD = Hold(8, 8, Sign.NO_GAIN, "why", True, 0.0, 100.0, 100.0, 0.25, 0.0)
AT = Situation(now_s=50.0, running=10, better=10, need=30, least=1, most=60, interval_s=50.0)
NO_GAIN = (Sign.NO_GAIN, "it gained nothing")
SLOW = (Sign.SLOW, "it is slow")
FAILING = (Sign.FAILING, "it fails")


def test_the_first_sign_caps_at_what_runs_or_at_what_was_better_but_never_below_the_least() -> None:
    hold = next_hold(None, SLOW, Effect.UNKNOWN, AT)
    assert hold == Hold(10, 10, Sign.SLOW, "it is slow", True, 50.0, 150.0, 100.0, 0.25, 50.0, found_slots=0.0)
    assert next_hold(None, NO_GAIN, Effect.NO_GAIN, replace(AT, better=6)) == replace(
        hold, cap=6, base=6, sign=Sign.NO_GAIN, why="it gained nothing"
    )
    capped = next_hold(None, NO_GAIN, Effect.NO_GAIN, replace(AT, better=6, least=7))
    assert capped is not None
    assert capped.cap == 7


TRYING = replace(HOLD, cap=10)
UP = {"now_s": 100.0}
"""The time to wait is up."""


@pytest.mark.parametrize(
    ("hold", "sign", "effect", "at", "expected"),
    [
        (HOLD, None, Effect.UNKNOWN, {}, {"cap": 8, "sick": True}),
        (HOLD, None, Effect.UNKNOWN, UP, {"cap": 10, "base": 8, "sick": False, "next_s": 250.0}),
        (HOLD, None, Effect.UNKNOWN, {**UP, "measured": False}, {"cap": 8, "next_s": 150.0}),
    ],
    ids=["too early", "time is up", "nothing to compare a step with yet"],
)
def test_after_a_step_that_gained_nothing_another_is_tried_when_its_time_has_come(
    hold: Hold, sign: tuple[Sign, str] | None, effect: Effect, at: dict[str, float], expected: dict[str, object]
) -> None:
    assert after(hold, sign, effect, at, expected) == expected


@pytest.mark.parametrize(
    ("sign", "effect", "at", "expected"),
    [
        (None, Effect.GAIN, {}, {"cap": 15, "base": 10, "share": 0.5, "sick": False, "next_s": 200.0}),
        (NO_GAIN, Effect.NO_GAIN, {}, {"cap": 8, "sick": True, "wait_s": 200.0, "next_s": 250.0}),
        (None, Effect.UNKNOWN, {**UP, "running": 8}, {"cap": 10, "base": 8, "next_s": 150.0}),
        (None, Effect.UNKNOWN, UP, {"cap": 15, "base": 10, "share": 0.5, "next_s": 250.0}),
        (None, Effect.UNKNOWN, {**UP, "strained": True}, {"cap": 8, "sick": True, "wait_s": 200.0}),
        (SLOW, Effect.UNKNOWN, UP, {"cap": 8, "sign": Sign.SLOW, "wait_s": 200.0, "next_s": 300.0}),
        (SLOW, Effect.UNKNOWN, {**UP, "running": 8}, {"cap": 10, "sign": Sign.SLOW}),
        (FAILING, Effect.UNKNOWN, {}, {"cap": 8, "sign": Sign.FAILING, "next_s": 150.0}),
    ],
    ids=[
        "gained",
        "gained nothing",
        "not needed",
        "no harm",
        "in doubt, and slow",
        "still slow",
        "unused",
        "fails now",
    ],
)
def test_a_step_that_is_tried_goes_on_when_it_gains_and_is_taken_back_for_longer_when_not(
    sign: tuple[Sign, str] | None, effect: Effect, at: dict[str, float], expected: dict[str, object]
) -> None:
    assert after(TRYING, sign, effect, at, expected) == expected


def test_the_wait_between_tries_has_an_end() -> None:
    long = replace(HOLD, wait_s=3000.0)
    assert after(long, NO_GAIN, Effect.NO_GAIN, {}, {"wait_s": 0, "next_s": 0}) == {
        "wait_s": LONGEST_WAIT_S,
        "next_s": 50.0 + LONGEST_WAIT_S,
    }


def test_nothing_is_tried_while_calls_fail_and_recovery_starts_when_they_do_not() -> None:
    failing = replace(HOLD, sign=Sign.FAILING)
    assert after(failing, FAILING, Effect.UNKNOWN, {"now_s": 500.0}, {"cap": 0, "next_s": 0}) == {
        "cap": 8,
        "next_s": 600.0,
    }
    assert after(failing, None, Effect.UNKNOWN, {}, {"cap": 0, "sick": 0, "next_s": 0}) == {
        "cap": 8,
        "sick": False,
        "next_s": 100.0,
    }


def test_slow_calls_are_tried_after_a_while() -> None:
    assert after(HOLD, SLOW, Effect.UNKNOWN, {}, {"cap": 0, "sign": 0}) == {"cap": 8, "sign": Sign.SLOW}
    assert after(HOLD, SLOW, Effect.UNKNOWN, UP, {"cap": 0, "next_s": 0}) == {"cap": 10, "next_s": 250.0}


def test_a_relapse_goes_back_to_the_last_good_count_and_waits_longer() -> None:
    recovering = replace(HOLD, sick=False, cap=20, base=14)
    relapsed = after(
        recovering, FAILING, Effect.UNKNOWN, {"running": 20, "better": 20}, {"cap": 0, "sick": 0, "wait_s": 0}
    )
    assert relapsed == {"cap": 14, "sick": True, "wait_s": 200.0}


def after(
    hold: Hold,
    sign: tuple[Sign, str] | None,
    effect: Effect,
    at: Mapping[str, float],
    asked: Mapping[str, object],
) -> dict[str, object]:
    """What the hold of the next tick has for the names in `asked`."""
    later = next_hold(hold, sign, effect, replace(AT, **at))  # type: ignore[arg-type]  # fields of the situation
    return {name: getattr(later, name) for name in asked}


def test_a_cap_ends_when_it_has_reached_the_ceiling_or_held_nothing_for_hours() -> None:
    assert next_hold(replace(HOLD, cap=80, base=60), None, Effect.UNKNOWN, AT) is None
    idle = replace(AT, need=3, now_s=FORGOTTEN_S + 1)
    assert next_hold(replace(HOLD, sick=True, next_s=1e9), None, Effect.UNKNOWN, idle) is None
    assert next_hold(HOLD, None, Effect.UNKNOWN, replace(AT, need=3)) == HOLD
    assert next_hold(None, None, Effect.GAIN, AT) is None
