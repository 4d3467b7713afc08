"""Whose turn it is: shares by weight, nobody starves, idle queues are asked seldom while others are busy."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.worker.receive.rota import Rota, Turn

weights = st.lists(st.floats(0.1, 20), min_size=1, max_size=8)


def rounds(rota: Rota, count: int, came: int = 1) -> Counter[int]:
    """Polls one after the other, each of which brings `came` messages: how many messages each queue gave."""
    got: Counter[int] = Counter()
    for _ in range(count):
        turn = rota.next(0.0)
        assert turn is not None
        rota.asked(turn)
        rota.answered(turn, asked=10, came=came, now_s=0.0)
        got[rota.turns.index(turn)] += came
    return got


@given(weights)
def test_queues_that_all_hold_messages_give_them_in_the_ratio_of_their_weights(shares: list[float]) -> None:
    rota = Rota([Turn(weight) for weight in shares])
    got = rounds(rota, 2_000)
    for place, weight in enumerate(shares):
        assert got[place] == pytest.approx(2_000 * weight / sum(shares), abs=len(shares) + 1)


@given(weights)
def test_no_queue_waits_for_longer_than_the_others_turns(shares: list[float]) -> None:
    rota = Rota([Turn(weight) for weight in shares])
    got = rounds(rota, 2 + int(2 * sum(shares) / min(shares)))
    assert set(got) == set(range(len(shares)))


def test_a_queue_that_was_idle_has_saved_up_no_turns() -> None:
    busy, idle = Turn(1.0), Turn(1.0)
    rota = Rota([busy, idle])
    rounds(Rota([busy]), 1_000)
    rota.asked(idle)
    rota.answered(idle, asked=1, came=1, now_s=0.0)
    got = rounds(rota, 100)
    assert got[1] == pytest.approx(50, abs=2)


def test_more_polls_while_they_come_back_full_and_one_when_idle() -> None:
    turn = Turn(1.0, cap=4)
    rota = Rota([turn])
    for _ in range(10):
        rota.asked(turn)
        rota.answered(turn, asked=10, came=10, now_s=0.0)
    assert turn.most == 4
    rota.asked(turn)
    rota.answered(turn, asked=10, came=3, now_s=0.0)
    assert turn.most == 3
    rota.asked(turn)
    rota.answered(turn, asked=10, came=0, now_s=0.0)
    assert turn.most == 1


def test_an_empty_queue_rests_only_while_others_are_busy_and_never_for_long() -> None:
    busy, empty = Turn(1.0), Turn(1.0)
    rota = Rota([busy, empty])
    now_s = 0.0
    for _ in range(20):
        rota.asked(empty)
        rota.answered(empty, asked=1, came=0, now_s=now_s)
    assert rota.next(now_s) is not None
    assert empty.rests_until_s == float("-inf")
    rounds(Rota([busy]), 1)
    for _ in range(20):
        rota.asked(empty)
        rota.answered(empty, asked=1, came=0, now_s=now_s)
        assert 0 < empty.rests_until_s - now_s <= 4
        now_s = empty.rests_until_s
    assert rota.rest_s(now_s - 1) == pytest.approx(1)


def test_a_queue_whose_poll_failed_is_left_alone_until_then_and_the_others_go_on() -> None:
    failed, other = Turn(1.0), Turn(1.0)
    rota = Rota([failed, other])
    rota.asked(failed)
    rota.failed(failed, until_s=20.0)
    assert rota.next(10.0) is other
    assert rota.next(20.0) is failed
