"""A step out or back that is being tried: what it shows, and what follows."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.downstream.hold import LONGEST_WAIT_S, next_hold
from tidegate.core.downstream.situation import Situation
from tidegate.core.downstream.state import Hold, Sign
from tidegate.core.downstream.stretch import Effect, Stretch

BASE = Hold(8, 8, Sign.NO_GAIN, "why", True, 0.0, 100.0, 100.0, 0.25, 0.0, knee=12, calm_s=4.0, base_s=4.4, above_s=6.0)
SLOW = (Sign.SLOW, "it is slow")
AT = Situation(now_s=100.0, running=8, better=8, need=30, least=1, most=60, interval_s=50.0, full=True, mean_s=4.4)
CALM = Stretch(1.1, 0.03)
OVERDONE = Stretch(1.6, 0.05)
TRYING = replace(BASE, cap=10)
TRIED = replace(AT, now_s=50.0, running=10)
EASING = replace(BASE, cap=6, above_s=8.0, next_s=300.0)
FEWER = replace(AT, running=6, mean_s=4.4)


def after(hold: Hold, at: Situation, sign: tuple[Sign, str] | None = None) -> Hold:
    later = next_hold(hold, sign, Effect.UNKNOWN, at)
    assert later is not None
    return later


@pytest.mark.parametrize(
    ("grown", "cap", "base", "share"),
    [
        (Stretch(1.02, 0.01), 11, 10, 0.5),
        (Stretch(1.08, 0.01), 11, 10, 0.25),
        (Stretch(1.13, 0.01), 11, 10, 0.25),
        (Stretch(1.3, 0.01), 8, 8, 0.1),
        (Stretch(1.15, 0.1), 10, 8, 0.25),
        (None, 10, 8, 0.25),
    ],
    ids=["nothing lost", "some lost", "half lost", "all lost", "not sure yet", "too few runs yet"],
)
def test_a_step_out_is_judged_by_how_much_longer_handlers_run_than_at_its_base(
    grown: Stretch | None, cap: int, base: int, share: float
) -> None:
    later = after(TRYING, replace(TRIED, grown=grown))
    assert (later.cap, later.base, later.share) == (cap, base, share)


def test_when_its_time_is_up_what_is_more_likely_decides() -> None:
    at = replace(TRIED, now_s=100.0, grown=Stretch(1.15, 0.1))
    assert after(TRYING, at).base == 10
    assert after(TRYING, replace(at, grown=Stretch(1.22, 0.1))).base == 8


def test_a_step_that_nobody_uses_proves_nothing() -> None:
    good = replace(TRIED, grown=Stretch(1.0, 0.01))
    for at in (replace(good, running=8), replace(good, used=False)):
        assert after(TRYING, at) == replace(TRYING, touched_s=at.now_s)


def test_slow_calls_are_no_verdict_on_a_step_that_can_be_compared() -> None:
    good = replace(TRIED, grown=Stretch(1.0, 0.01))
    assert after(TRYING, good, SLOW).base == 10
    assert after(replace(TRYING, base_s=None, sick=False), good, SLOW).cap == 8


def test_the_cap_comes_up_to_below_the_knee_at_once_and_the_knee_waits_for_its_time() -> None:
    below = after(replace(TRYING, knee=11), replace(TRIED, grown=Stretch(1.0, 0.01)))
    assert (below.cap, below.base, below.share, below.next_s) == (10, 10, 0.1, 150.0)
    at_knee = after(replace(below, next_s=90.0), replace(AT, running=10, calm=CALM))
    assert (at_knee.cap, at_knee.base) == (11, 10)


def test_a_knee_that_gains_is_none_and_one_that_does_not_is_tried_ever_later() -> None:
    knee = replace(BASE, cap=9, knee=9, share=0.1, wait_s=400.0)
    at = replace(TRIED, running=9)
    gained = after(knee, replace(at, grown=Stretch(1.0, 0.01)))
    assert (gained.base, gained.knee, gained.wait_s) == (9, None, 100.0)
    failed = after(knee, replace(at, grown=Stretch(1.2, 0.01)))
    assert (failed.cap, failed.knee, failed.wait_s) == (8, 9, 800.0)
    assert after(replace(knee, wait_s=LONGEST_WAIT_S), replace(at, grown=Stretch(1.2, 0.01))).wait_s == LONGEST_WAIT_S


def test_a_count_that_doubled_at_the_same_pace_and_reaches_the_ceiling_ends_the_hold() -> None:
    doubled = replace(TRYING, cap=40, base=20, share=1.0, knee=None)
    at = replace(TRIED, running=40, grown=Stretch(1.0, 0.01))
    assert next_hold(doubled, None, Effect.UNKNOWN, at) is None
    assert after(doubled, replace(at, most=200)).cap == 80


def test_no_step_is_made_from_a_base_that_is_not_measured() -> None:
    unknown = replace(BASE, base_s=None)
    assert after(unknown, replace(AT, calm=CALM)).cap == 8
    assert after(unknown, replace(AT, calm=CALM), SLOW).next_s == 150.0
    assert after(BASE, replace(AT, calm=CALM)).cap == 10
    assert after(BASE, replace(AT, calm=CALM), SLOW).cap == 10


@pytest.mark.parametrize("sign", [None, SLOW])
def test_where_far_too_much_is_asked_fewer_are_tried_before_more_are(sign: tuple[Sign, str] | None) -> None:
    for now_s in (50.0, 100.0):
        easing = after(BASE, replace(AT, now_s=now_s, calm=OVERDONE), sign)
        assert (easing.cap, easing.base, easing.above_s, easing.next_s) == (7, 8, 4.4, now_s + 300.0)
    assert after(BASE, replace(AT, calm=OVERDONE, steps_back=False), sign).cap == 10


@pytest.mark.parametrize("sign", [None, SLOW])
def test_no_step_follows_one_back_of_which_it_is_not_known_what_it_did(sign: tuple[Sign, str] | None) -> None:
    for calm in (OVERDONE, CALM):
        for now_s in (50.0, 100.0):
            later = after(BASE, replace(AT, now_s=now_s, calm=calm, undecided=True), sign)
            assert (later.cap, later.base, later.next_s) == (8, 8, max(100.0, now_s + 50.0))


@pytest.mark.parametrize(
    "changes", [{"need": 8}, {"full": False}, {"least": 8}], ids=["no more needed", "idle slots", "minimum"]
)
def test_fewer_are_not_tried_where_it_would_show_nothing(changes: dict[str, int | bool]) -> None:
    at = replace(AT, calm=OVERDONE, **changes)  # type: ignore[arg-type]  # fields of the situation
    assert after(BASE, at).next_s == 150.0
    early = after(BASE, replace(at, now_s=50.0))
    assert (early.cap, early.next_s) == (8, 100.0)


def test_fewer_that_are_served_sooner_stay_fewer_and_what_was_too_many_is_the_knee() -> None:
    later = after(EASING, replace(FEWER, eased=Stretch(1.6, 0.05)), SLOW)
    assert (later.cap, later.base, later.knee, later.base_s, later.next_s) == (6, 6, 8, 4.4, 200.0)


@pytest.mark.parametrize(("calm_s", "cap"), [(4.0, 10), (7.5, 9)], ids=["the work has changed", "about as before"])
def test_fewer_that_are_served_no_sooner_were_not_too_many(calm_s: float, cap: int) -> None:
    later = after(replace(EASING, calm_s=calm_s), replace(FEWER, eased=Stretch(1.0, 0.05)))
    assert (later.cap, later.base, later.calm_s, later.base_s, later.sick) == (cap, 8, 8.0, 8.0, False)


def test_a_step_back_that_shows_nothing_in_time_is_undone() -> None:
    waiting = after(EASING, FEWER)
    assert (waiting.cap, waiting.base) == (6, 8)
    assert after(EASING, replace(FEWER, eased=Stretch(1.24, 0.1))).cap == 6
    undone = after(EASING, replace(FEWER, now_s=300.0))
    assert (undone.cap, undone.base, undone.sick, undone.next_s) == (8, 8, False, 400.0)


def test_fewer_that_seem_to_be_served_later_are_not_settled_yet_and_decide_when_their_time_is_up() -> None:
    later = replace(FEWER, eased=Stretch(0.8, 0.05))
    assert after(EASING, later).cap == 6
    assert after(EASING, replace(later, now_s=300.0)).cap > 8


def test_a_step_that_is_known_to_buy_nothing_is_not_made_while_handlers_run_longer_than_when_calm() -> None:
    known = replace(AT, best=8, calm=Stretch(1.1, 0.03))
    waits = after(BASE, known)
    assert (waits.cap, waits.wait_s, waits.next_s) == (8, 100.0, 200.0)
    assert after(BASE, replace(known, now_s=50.0)).next_s == BASE.next_s
    calm = after(BASE, replace(known, calm=Stretch(1.02, 0.03)))
    assert (calm.cap, calm.base) == (9, 8)
    assert after(BASE, replace(known, calm=None)).cap == 9
    below = after(replace(BASE, knee=None), replace(known, best=9))
    assert (below.cap, below.base) == (9, 8)


def test_a_step_that_gained_is_the_last_where_more_are_known_to_buy_nothing() -> None:
    at = replace(TRIED, best=10, grown=Stretch(1.1, 0.01), calm=Stretch(1.1, 0.03))
    later = after(TRYING, at)
    assert (later.cap, later.base, later.next_s) == (10, 10, 150.0)


def test_calls_that_fail_end_a_step_back_where_it_is() -> None:
    later = after(EASING, FEWER, (Sign.FAILING, "it fails"))
    assert (later.cap, later.base, later.sign) == (6, 6, Sign.FAILING)


@given(st.floats(0.2, 5.0), st.floats(0.0, 1.0), st.floats(0.5, 4.0), st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_a_verdict_that_is_asked_to_be_surer_may_be_open_but_is_never_the_opposite(
    times: float, error: float, more: float, sigmas: float, further: float
) -> None:
    stretch = Stretch(times, error)
    surer = stretch.bought(more, sigmas + further)
    assert surer in (Effect.UNKNOWN, stretch.bought(more, sigmas))


@given(st.floats(1.05, 3.0))
def test_runs_longer_in_step_with_the_slots_leave_nothing_and_runs_as_long_leave_all(more: float) -> None:
    assert Stretch(more, 0.0).lost(more) == pytest.approx(1.0)
    assert math.isclose(Stretch(1.0, 0.0).lost(more), 0.0)
