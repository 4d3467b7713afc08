"""How long workers are kept that are not needed is learned from what each time would have cost."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.closed_loop import PLAIN, WAIT
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.holding import SHARES, hold_s, learn_hold
from tidegate.core.guardrails import limits
from tidegate.core.model import Holding, Pool

START_UP = Estimate(120.0, "measured")
PATIENT = replace(WAIT, target_wait_s=600)
"""Its target outlasts a blind window; that of `WAIT` does not."""


def lived(pool: Pool, lull_s: int, rounds: int = 20) -> float:
    """The hold time of a pool that needs nine workers for ten minutes and then one for `lull_s`, again and again."""
    needs: tuple[tuple[float, int], ...] = ()
    known, now_s = Holding(), 0.0
    for _ in range(rounds):
        for need, length_s in ((9, 600), (1, lull_s)):
            for _ in range(length_s // 10):
                now_s += 10.0
                needs = limits.remember_need(needs, now_s, need, limits.PATIENCE_AT_MOST_S)
                known = learn_hold(known, needs, 50, 10.0, START_UP.value)
    return hold_s(pool, START_UP, known)


@pytest.mark.parametrize(
    ("lull_s", "expected_s"),
    [
        (20, 60.0),  # all three have them when they are needed again
        (50, 60.0),
        (110, 120.0),  # as long as a start-up takes: kept for it all
        (300, 30.0),  # nothing but a short time is worth paying for
    ],
)
def test_workers_are_kept_for_lulls_that_are_cheaper_than_a_start_up_and_for_no_others(
    lull_s: int, expected_s: float
) -> None:
    assert lived(PATIENT, lull_s) == pytest.approx(expected_s, abs=1)


@pytest.mark.parametrize("lull_s", [20, 110, 300])
def test_where_a_missed_worker_makes_messages_late_they_are_kept_for_all_of_a_start_up(lull_s: int) -> None:
    assert lived(WAIT, lull_s) == 120.0


@pytest.mark.parametrize(
    ("pool", "expected_s"), [(replace(PATIENT, hold_s=45.0), 45.0), (replace(PLAIN, target_wait_s=600), 120.0)]
)
def test_a_hold_that_is_set_and_the_plain_formula_learn_nothing(pool: Pool, expected_s: float) -> None:
    assert lived(pool, 300) == expected_s


def test_a_young_pool_begins_with_half_of_a_start_up() -> None:
    assert hold_s(PATIENT, START_UP, Holding()) == 60.0


@pytest.mark.parametrize(("target_s", "expected_s"), [(120, 120.0), (600, 60.0)])
def test_while_nobody_knows_how_long_workers_take_to_start_it_is_taken_to_be_two_minutes(
    target_s: float, expected_s: float
) -> None:
    pool = replace(WAIT, target_wait_s=target_s)
    assert hold_s(pool, Estimate(60.0, "unmeasured"), Holding()) == expected_s


def test_what_was_needed_above_the_ceiling_is_on_no_bill() -> None:
    before = Holding((5, 5, 5), (0.0, 0.0, 0.0))
    assert learn_hold(before, ((0.0, 80),), 5, 10.0, 120.0) == Holding((5, 5, 5), (50.0, 50.0, 50.0))


@pytest.mark.parametrize("other", [Holding(), Holding((9, 9), (1.0, 2.0)), Holding((9, 9, 9), (1.0, 2.0))])
def test_a_state_that_knew_other_shares_begins_anew(other: Holding) -> None:
    assert learn_hold(other, ((0.0, 4),), 5, 10.0, 120.0) == Holding((4, 4, 4), (0.0, 0.0, 0.0))


@given(
    st.lists(st.tuples(st.floats(0, 4000), st.integers(0, 500)), min_size=1, max_size=20),
    st.floats(0, 3600),
    st.integers(0, 100),
)
def test_longer_times_never_keep_fewer_workers(steps: list[tuple[float, int]], start_up_s: float, most: int) -> None:
    needs: tuple[tuple[float, int], ...] = ()
    known, now_s = Holding(), 0.0
    for after_s, need in steps:
        now_s += after_s
        needs = limits.remember_need(needs, now_s, need, limits.PATIENCE_AT_MOST_S)
        known = learn_hold(known, needs, most, after_s, start_up_s)
        kept = dict(zip(SHARES, known.kept, strict=True))
        assert kept[0.25] <= kept[0.5] <= kept[1.0] <= most
        assert min(known.bills) >= 0
