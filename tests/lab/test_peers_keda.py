import random

import pytest

from tests.lab.sights import Present, scenario, seen
from tidegate.lab.peers.keda import Keda

PRESENT = Present()


def fresh(queue_length: float = 5.0, min_workers: int = 0, max_workers: int = 1000) -> Keda:
    peer = Keda(queue_length)
    peer.reset(scenario(min_workers=min_workers, max_workers=max_workers), random.Random(1))
    return peer


@pytest.mark.parametrize(
    ("current", "visible", "in_flight", "wanted"),
    [
        (10, 60, 40, 20),  # ceil(100 / 5)
        (10, 61, 40, 20),  # 21 is more than the double: at most ×2 a sync
        (2, 40, 10, 6),  # at most four pods a sync where that is more than the double
        (10, 30, 24, 10),  # ratio 1.08: within the tolerance
        (10, 31, 25, 12),  # ratio 1.12: ceil(56 / 5)
        (10, 25, 21, 10),  # ratio 0.92
    ],
)
def test_the_hpa_asks_for_messages_over_queue_length(current: int, visible: int, in_flight: int, wanted: int) -> None:
    assert fresh().desired(seen(15, current, visible=visible, in_flight=in_flight), PRESENT) == wanted


def test_it_goes_down_to_the_highest_recommendation_of_five_minutes() -> None:
    peer = fresh()
    assert peer.desired(seen(0, 10, visible=50), PRESENT) == 10
    assert peer.desired(seen(15, 10, visible=30), PRESENT) == 10
    for at_s in range(30, 300, 15):
        assert peer.desired(seen(at_s, 10, visible=10), PRESENT) == 10
    assert (
        peer.desired(seen(300, 10, visible=10), PRESENT) == 6
    )  # the ten of second 0 is gone, the six of second 15 not
    assert peer.desired(seen(315, 6, visible=10), PRESENT) == 2


def test_keda_starts_the_first_worker_and_the_hpa_the_others() -> None:
    peer = fresh()
    assert peer.desired(seen(0, 0, visible=100), PRESENT) == 1
    assert peer.desired(seen(15, 1, visible=100), PRESENT) == 5


def test_a_message_that_comes_between_two_polls_waits_for_the_next_one() -> None:
    peer = fresh()
    assert peer.desired(seen(0, 0), PRESENT) == 0
    assert peer.desired(seen(15, 0, visible=3), PRESENT) == 0
    assert peer.desired(seen(30, 0, visible=3), PRESENT) == 1


def test_the_last_worker_goes_after_the_cooldown_and_no_sooner() -> None:
    peer = fresh()
    assert peer.desired(seen(0, 1, visible=1), PRESENT) == 1
    assert [peer.desired(seen(at_s, 1), PRESENT) for at_s in range(15, 300, 15)] == [1] * 19
    assert peer.desired(seen(300, 1), PRESENT) == 0


def test_a_minimum_above_zero_is_never_left() -> None:
    peer = fresh(min_workers=2)
    assert {peer.desired(seen(at_s, 2), PRESENT) for at_s in range(0, 1200, 15)} == {2}


def test_the_maximum_holds() -> None:
    assert fresh(max_workers=12).desired(seen(0, 10, visible=500), PRESENT) == 12


def test_an_unreadable_count_changes_nothing() -> None:
    assert fresh().desired(seen(0, 7, visible=None), PRESENT) == 7
    assert fresh().desired(seen(0, 7, in_flight=None), PRESENT) == 7
