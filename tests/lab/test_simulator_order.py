"""Laws of the queue: in order where promised, nothing lost, nothing twice, no slot idle while a message waits."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.rig import scenario
from tidegate.lab.scenario import Scenario
from tidegate.lab.simulator_queue import Runs, SimulatedQueue

# Quarters of seconds are exact in binary: the reference may be compared without a tolerance.
quarters = st.integers(0, 400).map(lambda n: n / 4)
messages = st.lists(st.tuples(quarters, st.integers(1, 60).map(lambda n: n / 4)), min_size=1, max_size=40).map(sorted)


def serve(made: Scenario, slots: int, until_s: float = 1e6) -> Runs:
    queue = SimulatedQueue(made, frozenset(), seed=1)
    queue.open(range(slots))
    queue.run_until(until_s)
    return queue.take_runs()


def in_order(work: list[tuple[float, float]], slots: int) -> list[float]:
    """When each message starts, by the plainest rule there is: as soon as it is there and a slot is free."""
    free_s = [0.0] * slots
    starts_s = []
    for arrival_s, service_s in work:
        start_s = max(arrival_s, min(free_s))
        free_s[free_s.index(min(free_s))] = start_s + service_s
        starts_s.append(start_s)
    return starts_s


def by_message(runs: Runs) -> list[float]:
    starts_s: list[float] = runs.starts_s[np.argsort(runs.messages)].tolist()
    return starts_s


@given(messages, st.integers(1, 5))
def test_a_fifo_queue_is_served_exactly_in_order_and_as_early_as_can_be(
    work: list[tuple[float, float]], slots: int
) -> None:
    made = scenario([a for a, _ in work], [s for _, s in work])
    runs = serve(made, slots)
    assert by_message(runs) == in_order(work, slots)
    assert runs.messages.tolist() == sorted(runs.messages.tolist())


@given(st.lists(quarters, min_size=1, max_size=40).map(sorted), st.integers(1, 5), st.integers(1, 9))
def test_shards_change_who_starts_but_not_when_slots_start_something(
    arrivals_s: list[float], slots: int, shards: int
) -> None:
    """With equal service times starts fall at the same moments in any order: no slot idles while a message waits."""
    fifo = serve(scenario(arrivals_s, 7.5), slots)
    sharded = serve(scenario(arrivals_s, 7.5, order="sharded", shards=shards), slots)
    assert sharded.starts_s.tolist() == fifo.starts_s.tolist()
    assert sorted(sharded.messages.tolist()) == [*range(len(arrivals_s))]
    assert all(sharded.starts_s >= np.array(arrivals_s)[sharded.messages])


def test_within_a_shard_messages_keep_their_order_and_between_shards_they_do_not() -> None:
    runs = serve(scenario([0.0] * 64, 1.0, order="sharded", shards=8), slots=1)
    queue = SimulatedQueue(scenario([0.0] * 64, 1.0, order="sharded", shards=8), frozenset(), seed=1)
    order = runs.messages.tolist()
    for shard in range(8):
        own = [m for m in order if queue._shard_of[m] == shard]
        assert own == sorted(own)
    assert order != sorted(order)


def test_shards_that_hold_messages_are_read_at_random_each_as_often_as_any() -> None:
    made = scenario([0.0] * 16_000, 1.0, order="sharded", shards=8)
    queue = SimulatedQueue(made, frozenset(), seed=1)
    queue.open([0])
    queue.run_until(4_000.0)
    reads = Counter(queue._shard_of[message] for message in queue.take_runs().messages)
    assert [reads[shard] for shard in range(8)] == pytest.approx([500] * 8, abs=90)


def test_the_slot_that_idled_for_longest_takes_the_next_message() -> None:
    runs = serve(scenario([0, 1, 2, 10, 11, 12], [5, 3, 1, 1, 1, 1]), slots=3)
    assert runs.slots.tolist() == [0, 1, 2, 2, 1, 0]


operations = st.lists(
    st.tuples(st.sampled_from(["open", "close", "lose"]), st.integers(1, 200)), min_size=1, max_size=30
)


@given(messages, operations, st.sampled_from(["fifo", "sharded"]))
def test_whatever_happens_to_its_slots_every_message_is_done_exactly_once(
    work: list[tuple[float, float]], happens: list[tuple[str, int]], order: str
) -> None:
    made = scenario([a for a, _ in work], [s for _, s in work], order=order, spot_losses_per_hour=1, lease_s=5)
    queue = SimulatedQueue(made, frozenset(), seed=1)
    lost: Counter[int] = Counter()
    open_slots: list[int] = []
    closed_at_s: dict[int, float] = {}
    now_s, following = 0.0, 0
    for what, quarter_seconds in happens:
        now_s += quarter_seconds / 4
        queue.run_until(now_s)
        if what == "open":
            queue.open([following])
            open_slots.append(following)
            following += 1
        elif open_slots:
            slot = open_slots.pop(0)
            closed_at_s[slot] = now_s
            if what == "lose":
                lost.update(message for message, _ in queue.lose(range(slot, slot + 1)))
            else:
                assert queue.close([range(slot, slot + 1)])[0] >= now_s
    queue.open([following])
    queue.run_until(1e6)
    runs = queue.take_runs()
    assert queue.all_started
    assert Counter(runs.messages.tolist()) == Counter(range(len(work))) + lost
    assert all(runs.starts_s >= made.arrivals_s[runs.messages])
    assert all(start_s < closed_at_s.get(slot, 1e9) for start_s, slot in zip(runs.starts_s, runs.slots, strict=True))
    for slot in set(runs.slots.tolist()):
        own = runs.slots == slot
        assert all(runs.starts_s[own][1:] >= runs.ends_s[own][:-1])


@pytest.mark.parametrize("order", ["fifo", "sharded"])
def test_a_poison_message_runs_as_often_as_may_be_and_then_leaves(order: str) -> None:
    made = scenario([0.0, 1.0], 2.0, order=order, poison_share=0.5, retry_after_s=30.0, max_receives=4)
    queue = SimulatedQueue(made, frozenset({0}), seed=1)
    queue.open([0])
    queue.run_until(1e6)
    runs = queue.take_runs()
    assert runs.starts_s[runs.messages == 0].tolist() == [0, 32, 64, 96]
    assert runs.starts_s[runs.messages == 1].tolist() == [2]
    assert queue.take_returns().tolist() == [32, 64, 96]
    assert queue.all_started


def test_a_message_that_returns_goes_first_in_a_fifo_queue_and_last_in_its_shard() -> None:
    for order, expected in (("fifo", [0, 1, 0, 2]), ("sharded", [0, 1, 2, 0])):
        made = scenario([0, 0, 0], 10.0, order=order, shards=1, poison_share=1, retry_after_s=5, max_receives=2)
        queue = SimulatedQueue(made, frozenset({0}), seed=1)
        queue.open([0])
        queue.run_until(1e6)
        assert queue.take_runs().messages.tolist() == expected
