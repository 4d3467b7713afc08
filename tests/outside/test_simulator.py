"""The outsider's world itself: it is worth as much as it is like a queue."""

import math
import random
from dataclasses import dataclass, replace

import pytest

from tests.outside.ours import Ours
from tests.outside.rivals import Keda
from tests.outside.scenario import Faults, Scenario, Signals
from tests.outside.sqs import FifoQueue, Message, RandomQueue, StandardQueue
from tests.outside.traffic import constant, exponential, fixed, poisson
from tests.outside.world import World
from tidegate import Pool


@dataclass
class Fixed:
    """A fleet that never changes."""

    workers: int
    every_s: float = 60.0
    kind: bool = True

    def tick(self, world: World) -> None:
        world.set_desired(self.workers)


def scenario(rate_per_s: float, service_s: float, hours: float, workers: int, slots: int = 1) -> Scenario:
    traffic = poisson(constant(rate_per_s), hours * 3600, exponential(service_s))
    return Scenario("plain", Pool("own", 60.0, workers, workers, slots_per_worker=slots), traffic, hours)


def erlang_c(load: float, slots: int) -> float:
    blocked = 1.0
    for n in range(1, slots + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked / (1 - load / slots * (1 - blocked))


@pytest.mark.parametrize(("load", "slots"), [(3.0, 4), (8.0, 10)])
def test_a_fixed_fleet_lets_as_many_wait_as_erlang_c_says(load: float, slots: int) -> None:
    world = World(scenario(load / 2, 2.0, 8.0, slots), Fixed(slots))
    world.run()
    waits = [(one.started_s or math.inf) - one.due_s for one in world.messages]
    found = sum(wait > 1e-9 for wait in waits) / len(waits)
    assert found == pytest.approx(erlang_c(load, slots), abs=0.04)
    mean_s = sum(waits) / len(waits)
    assert mean_s == pytest.approx(erlang_c(load, slots) * 2.0 / (slots - load), rel=0.25)


def test_every_message_is_worked_on_once_and_paid_for_whatever_happens() -> None:
    stormy = Faults(failed_starts=0.2, spot_losses_per_hour=4.0, deploys_s=(600.0,))
    made = replace(
        scenario(3.0, 2.0, 0.5, 1, slots=2),
        pool=Pool("own", 60.0, 1, 30, slots_per_worker=2),
        faults=stormy,
        signals=Signals(reporting=0.5),
    )
    world = World(made, Ours())
    result = world.run()
    assert all(one.started_s is not None for one in world.messages)
    assert world.queue.is_empty
    assert not world.crew.busy
    assert result.cost >= 1.0


def test_one_seed_is_one_outcome_and_every_policy_gets_the_same_messages() -> None:
    made = scenario(3.0, 2.0, 0.2, 4, slots=2)
    assert World(made, Ours(), 3).run() == World(made, Ours(), 3).run()
    ours, theirs = World(made, Ours(), 3), World(made, Keda(4.0), 3)
    assert [(one.comes_s, one.service_s) for one in ours.messages] == [
        (one.comes_s, one.service_s) for one in theirs.messages
    ]


def test_what_is_picked_at_random_is_all_there_and_in_no_order() -> None:
    queue = RandomQueue(random.Random(1), hosts=1)
    sent = [Message(float(n), float(n), 1.0) for n in range(100)]
    for message in sent:
        queue.send(message)
    assert queue.oldest_age_s(200.0, ()) == 200.0
    got = list(iter(queue.receive, None))
    assert sorted(got, key=lambda one: one.sent_s) == sent
    assert got != sent


def test_a_group_of_a_fifo_queue_is_in_order_and_never_in_two_hands() -> None:
    queue = FifoQueue(random.Random(1))
    sent = [Message(float(n), float(n), 1.0, group=n % 2) for n in range(6)]
    for message in sent:
        queue.send(message)
    first, second = queue.receive(), queue.receive()
    assert (first, second, queue.receive()) == (sent[0], sent[1], None)
    assert first is not None
    queue.come_back(first)
    assert queue.receive() is first
    queue.delete(first)
    assert queue.receive() is sent[2]


def test_a_standard_queues_order_is_loose_and_its_counts_are_those_of_a_while_ago() -> None:
    queue = StandardQueue(random.Random(1), noise=0.0)
    for n in range(200):
        queue.send(Message(float(n), float(n), 1.0))
    assert queue.counts().visible == 0
    for host in range(queue.hosts):
        queue.publish(host)
    assert queue.counts().visible == 200
    received = [queue.receive() for _ in range(200)]
    came_s = [one.comes_s for one in received if one is not None]
    assert sorted(came_s) == list(map(float, range(200)))
    assert came_s != sorted(came_s)
    assert queue.counts().in_flight == 0


def test_a_message_that_keeps_failing_leaves_the_age_and_a_redriven_one_brings_its_own() -> None:
    queue = StandardQueue(random.Random(1))
    poison = Message(0.0, 0.0, 1.0)
    queue.send(poison)
    for receives in range(3):
        assert queue.oldest_age_s(100.0, ()) == 100.0
        assert queue.receive() is poison
        queue.come_back(poison)
        assert poison.receives == receives + 1
    assert queue.oldest_age_s(100.0, ()) is None
    queue.send(Message(90.0, 90.0, 1.0, aged_s=500.0))
    assert queue.oldest_age_s(100.0, ()) == 510.0


def test_a_worker_without_the_sdk_that_outlasts_its_stop_timeout_is_killed_and_its_message_comes_back() -> None:
    made = Scenario(
        "killed",
        Pool("own", 60.0, 0, 3, stop_timeout_s=5.0),
        poisson(constant(0.02), 600, fixed(100.0)),
        hours=1 / 6,
        signals=Signals(reporting=0.0),
    )

    @dataclass
    class Flapping(Fixed):
        kind: bool = False

        def tick(self, world: World) -> None:
            world.set_desired(3 if world.now_s % 120 or world.now_s > 600 else 0)

    world = World(made, Flapping(3))
    result = world.run()
    assert result.interrupted > 0
    assert world.queue.deleted + sum(minute.deleted for minute in world.minutes) == len(world.messages)
