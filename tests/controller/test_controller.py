"""All pools together: no error and no slow answer of one pool reaches another."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.controller.pool_rig import InlineExecutor, LastMinuteExecutor, Rig, always, controller_of
from tidegate.controller.controller import METRICS, Outcome, thread_count
from tidegate.controller.observe import age_metric
from tidegate.core.model import Decision, Observation, Pool, PoolState, Reading
from tidegate.errors import Denied, Gone, StateUnreadable, Throttled, Unreachable
from tidegate.ports import Metric, QueueCounts
from tidegate.testing import FakeMetricsReader, FakeQueueReader

WAIT_S = 10


def sharing(first: Rig, name: str, **changes: object) -> Rig:
    """Another pool that shares the first one's clock, metrics and events."""
    rig = Rig(name, clock=first.clock, metrics=first.metrics, events=first.events)
    for field, value in changes.items():
        setattr(rig, field, value)
    return rig


@pytest.mark.parametrize(
    "error",
    [
        Gone("ecs:DescribeServices", "prod/orders", "MISSING"),
        Denied("ecs:DescribeServices", "prod/orders", "AccessDenied"),
        Unreachable("ecs:DescribeServices", "prod/orders", "connection refused"),
        StateUnreadable("state of pool orders", "not JSON"),
        ZeroDivisionError("a fault of our own"),
    ],
)
def test_whatever_one_pool_raises_the_other_is_served_and_the_error_said(error: Exception) -> None:
    def broken(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        raise error

    orders = Rig(decide=broken)
    mail = sharing(orders, "mail", decide=always(4))

    outcomes = [future.result() for future in controller_of([orders, mail], InlineExecutor()).tick()]

    assert orders.events.failures == [("orders", error)]
    assert [decided.pool for decided, _ in orders.events.decisions] == ["mail"]
    assert outcomes[0] == Outcome("orders", error=error)
    assert [outcome.ok for outcome in outcomes] == [False, True]
    assert mail.capacity.writes == [4]


def test_a_pool_that_waits_for_a_slow_endpoint_delays_no_other_and_its_missed_ticks_are_said() -> None:
    class Held(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            assert release.wait(WAIT_S)
            return super().counts(queue)

    release = threading.Event()
    slow = Rig("slow", counts=Held({"slow": QueueCounts(0, 0, 0)}))
    quick = sharing(slow, "quick")
    with ThreadPoolExecutor(thread_count(2)) as executor:
        controller = controller_of([slow, quick], executor)
        in_hand, served = controller.tick()
        served.result(WAIT_S)
        for _ in range(2):
            (served,) = controller.tick()
            assert served.result(WAIT_S).pool == "quick"

        assert not in_hand.done()
        assert slow.events.overruns == [("slow", 1), ("slow", 2)]
        release.set()
        assert {outcome.pool for outcome in controller.finish()} == {"slow", "quick"}
        assert len(controller.tick()) == 2, "a pool that is done takes part again"
        controller.finish()

    assert [decided.pool for decided, _ in slow.events.decisions].count("slow") == 2


def test_the_count_of_missed_ticks_starts_again_after_a_tick() -> None:
    class Held(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            assert gates.pop(0).wait(WAIT_S)
            return super().counts(queue)

    first, second = threading.Event(), threading.Event()
    gates = [first, second]
    slow = Rig("slow", counts=Held({"slow": QueueCounts(0, 0, 0)}))
    with ThreadPoolExecutor(thread_count(1)) as executor:
        controller = controller_of([slow], executor)
        for gate in (first, second):
            controller.tick()
            controller.tick()
            gate.set()
            controller.finish()

    assert slow.events.overruns == [("slow", 1), ("slow", 1)]


def test_the_first_decisions_wait_for_cloudwatch_and_see_what_it_said() -> None:
    ages: list[float | None] = []

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        ages.append(seen.queues[0].age_s.value)
        return always(2)(pool, state, seen)

    rig = Rig(decide=decide)
    rig.metrics.readings[age_metric("orders")] = Reading(42, rig.clock.now())

    (future,) = controller_of([rig], LastMinuteExecutor()).tick()
    future.result()

    assert ages == [42]


def test_later_decisions_never_wait_for_cloudwatch() -> None:
    class Held(FakeMetricsReader):
        def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
            assert answer.wait(WAIT_S)
            return super().latest(metrics, now_s)

    answer = threading.Event()
    answer.set()
    rig = Rig(metrics=Held())
    with ThreadPoolExecutor(thread_count(1)) as executor:
        controller = controller_of([rig], executor)
        controller.tick()
        controller.finish()
        answer.clear()
        rig.clock.advance(60)

        (future,) = controller.tick()
        assert future.result(WAIT_S).ok, "decided while CloudWatch still owes its answer"
        answer.set()

    assert rig.events.failures == [], "CloudWatch was let answer in time"


@pytest.mark.parametrize(
    "error", [Throttled("cloudwatch:GetMetricData", "3 metrics", "Rate exceeded"), KeyError("a fault of our own")]
)
def test_a_failing_cloudwatch_is_said_and_every_pool_still_decides(error: Exception) -> None:
    class Failing(FakeMetricsReader):
        def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
            raise error

    rig = Rig(metrics=Failing())

    controller_of([rig], InlineExecutor()).tick()

    assert rig.events.failures == [(METRICS, error)]
    assert len(rig.events.decisions) == 1


def test_a_decision_made_around_something_broken_is_not_ok() -> None:
    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        decided, after = always(2)(pool, state, seen)
        return replace(decided, errors=("orders: the queue is gone",)), after

    rig = Rig(decide=decide)

    (future,) = controller_of([rig], InlineExecutor()).tick()

    assert not future.result().ok


def test_a_sink_that_fails_stops_the_controller_loudly() -> None:
    rig = Rig()
    controller = controller_of([rig], InlineExecutor())

    def broken(decision: Decision, wrote: bool) -> None:
        raise BrokenPipeError

    rig.events.decided = broken  # type: ignore[method-assign]  # the one fault no fake offers
    controller.tick()

    with pytest.raises(BrokenPipeError):
        controller.tick()
    with pytest.raises(BrokenPipeError):
        controller.finish()


@pytest.mark.parametrize(("pools", "threads"), [(1, 2), (4, 5), (15, 16), (500, 16)])
def test_threads_suffice_for_few_pools_and_stay_few_for_many(pools: int, threads: int) -> None:
    assert thread_count(pools) == threads
