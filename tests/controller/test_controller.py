"""All pools together: no error and no slow answer of one pool reaches another."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.controller.pool_rig import InlineExecutor, LastMinuteExecutor, Rig, always, controller_of
from tidegate.controller.controller import METRICS, MOST_THREADS, Outcome
from tidegate.controller.observe import age_metric
from tidegate.core.condition import Condition, Pressure, condition_of
from tidegate.core.decide import decide as core_decide
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation, Reading
from tidegate.errors import Denied, Gone, StateUnreadable, Unreachable
from tidegate.ports import Metric, QueueCounts
from tidegate.testing import FakeMetricsReader, FakeQueueReader

WAIT_S = 10


def sharing(first: Rig, name: str, **changes: object) -> Rig:
    """Another pool that shares the first one's clock, metrics and events."""
    rig = Rig(name, clock=first.clock, metrics=first.metrics, events=first.events)
    for field, value in changes.items():
        setattr(rig, field, value)
    return rig


class Held(FakeQueueReader):
    """Answers nobody before `release` is set."""

    def __init__(self, release: threading.Event, *queues: str) -> None:
        super().__init__(dict.fromkeys(queues, QueueCounts(0, 0, 0)))
        self.release = release

    def counts(self, queue: str) -> QueueCounts:
        assert self.release.wait(WAIT_S)
        return super().counts(queue)


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
    release = threading.Event()
    slow = Rig("slow", counts=Held(release, "slow"))
    quick = sharing(slow, "quick")
    with ThreadPoolExecutor(3) as executor:
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
    with ThreadPoolExecutor(2) as executor:
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


def test_a_pools_state_is_an_event_when_it_changes_and_once_for_each_change() -> None:
    late = Pressure(0.0, 100.0, Condition.AT_CEILING)

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        decided, after = always(2)(pool, state, seen)
        pressure = pressures.pop(0)
        return replace(decided, state=condition_of(pressure)), replace(after, pressure=pressure)

    pressures = [None, late, late, None]
    rig = Rig(decide=decide)
    controller = controller_of([rig], InlineExecutor())
    for _ in range(4):
        controller.tick()

    assert rig.events.state_changes == [
        ("orders", Condition.NORMAL, Condition.AT_CEILING),
        ("orders", Condition.AT_CEILING, Condition.NORMAL),
    ]


def test_later_decisions_never_wait_for_cloudwatch() -> None:
    class Held(FakeMetricsReader):
        def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
            assert answer.wait(WAIT_S)
            return super().latest(metrics, now_s)

    answer = threading.Event()
    answer.set()
    rig = Rig(metrics=Held())
    with ThreadPoolExecutor(2) as executor:
        controller = controller_of([rig], executor)
        controller.tick()
        controller.finish()
        answer.clear()
        rig.clock.advance(60)

        (future,) = controller.tick()
        assert future.result(WAIT_S).ok, "decided while CloudWatch still owes its answer"
        answer.set()

    assert rig.events.failures == [], "CloudWatch was let answer in time"


class FailingMetrics(FakeMetricsReader):
    """Fails with any exception, a fault of our own too."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure

    def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
        raise self.failure


def test_a_failing_cloudwatch_is_said_once_a_minute_and_no_pool_has_failed_for_it() -> None:
    """Whatever the core makes of the readings: no pool's errors and no exit code tell of CloudWatch."""
    denied = Denied("cloudwatch:GetMetricData", "AWS/SQS", "AccessDenied")
    orders = Rig(metrics=FailingMetrics(denied), decide=core_decide)
    controller = controller_of([orders, sharing(orders, "mail", decide=core_decide)], InlineExecutor())

    outcomes = []
    for _ in range(7):
        outcomes += [future.result() for future in controller.tick()]
        orders.clock.advance(10)

    assert orders.events.metrics_failures == [(str(denied),)] * 2
    assert orders.events.failures == []
    assert len(outcomes) == 14
    assert all(outcome.ok for outcome in outcomes)


def test_a_fault_of_our_own_in_the_cloudwatch_pass_is_said_and_every_pool_still_decides() -> None:
    error = KeyError("a fault of our own")
    rig = Rig(metrics=FailingMetrics(error))

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


def test_many_silent_pools_keep_no_thread_from_another() -> None:
    release = threading.Event()
    counts = Held(release, *(f"silent-{n}" for n in range(60)))
    first = Rig("silent-0", counts=counts)
    silent = [sharing(first, f"silent-{n}", counts=counts) for n in range(1, 60)]
    with ThreadPoolExecutor(MOST_THREADS) as executor:
        *held, quick = controller_of([first, *silent, sharing(first, "quick")], executor).tick()

        assert quick.result(WAIT_S).ok
        assert not any(future.done() for future in held)
        release.set()


def test_the_cloudwatch_pass_never_waits_behind_pools() -> None:
    class Seen(FakeMetricsReader):
        def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
            readings = super().latest(metrics, now_s)
            if len(self.asked) == 2:
                second_pass.set()
            return readings

    release, second_pass = threading.Event(), threading.Event()
    rig = Rig(counts=Held(release, "orders"), metrics=Seen())
    with ThreadPoolExecutor(1) as executor, ThreadPoolExecutor(1) as background:
        controller = controller_of([rig], executor, background)
        (held,) = controller.tick()
        rig.clock.advance(60)
        controller.tick()

        assert second_pass.wait(WAIT_S)
        assert not held.done()
        release.set()
