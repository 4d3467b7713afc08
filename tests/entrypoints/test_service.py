"""`run` and `once` as a whole, over fakes: what is missing is said first, and only when nothing is left do they end."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.controller.pool_rig import Rig, always
from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.shadow import ShadowStore
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.entrypoints.service import STOP_SIGNALS, NotReady, serve, serve_once, until_signal
from tidegate.entrypoints.wiring import Wired
from tidegate.errors import Denied, Gone, Throttled
from tidegate.ports import QueueCounts
from tidegate.testing import FakeQueueReader

NO_SERVICE = Gone("ecs:DescribeServices", "prod/orders", "MISSING")
WAIT_S = 10


def wired(*rigs: Rig) -> Wired:
    metrics = MinuteMetrics(rigs[0].metrics, [])
    return Wired(tuple(rig.tick() for rig in rigs), metrics, rigs[0].clock, tick_s=10)


def nobody(line: str) -> None:
    raise AssertionError(f"nothing should be doubtful, this is: {line}")


def second(first: Rig) -> Rig:
    return Rig("mail", clock=first.clock, events=first.events)


def serve_for(seconds: float, *rigs: Rig, doubts: list[str] | None = None) -> list[str]:
    """What was said to be missing before the first tick; `doubts` gets what does not fit."""
    said: list[str] = []
    doubtful = [] if doubts is None else doubts
    stop = threading.Event()
    first = rigs[0]
    first.clock.at(first.clock.now() + seconds, stop.set)
    serve(wired(*rigs), first.events, said.append, doubtful.append, stop)
    return said


def test_pools_that_lack_nothing_are_served_until_the_stop() -> None:
    rig = Rig(decide=always(4))

    assert serve_for(5, rig) == []
    assert rig.capacity.writes == [4]


def test_one_pool_that_can_not_be_served_is_said_at_the_start_and_at_each_tick_and_the_other_is_served() -> None:
    orders = Rig()
    orders.capacity.error = NO_SERVICE

    said = serve_for(5, orders, second(orders))

    assert said == [f"orders: {NO_SERVICE}"]
    assert orders.events.failures == [("orders", NO_SERVICE)]
    assert [decided.pool for decided, _ in orders.events.decisions] == ["mail"]


def test_a_pool_that_fails_as_nobody_expected_is_said_and_the_other_is_served() -> None:
    class Nonsense(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            raise KeyError("QueueUrl")

    orders = Rig(counts=Nonsense())

    (said,) = serve_for(5, orders, second(orders))

    assert said.startswith("orders: unexpected KeyError: 'QueueUrl' in test_service.py, line ")
    assert [(pool, type(error)) for pool, error in orders.events.failures] == [("orders", KeyError)]
    assert [decided.pool for decided, _ in orders.events.decisions] == ["mail"]


def test_a_stop_while_endpoints_are_silent_ends_it_at_once_without_a_word_or_a_tick() -> None:
    class Silent(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            stop.set()
            answered.wait(WAIT_S)
            return super().counts(queue)

    stop, answered = threading.Event(), threading.Event()
    rig = Rig(counts=Silent())
    rig.capacity.error = NO_SERVICE

    serve(wired(rig), rig.events, nobody, nobody, stop)

    assert not answered.is_set()
    assert (rig.events.decisions, rig.events.failures) == ([], [])
    answered.set()


def test_when_no_pool_can_be_served_it_ends_with_a_line_for_each_fault() -> None:
    orders = Rig()
    mail = second(orders)
    orders.capacity.error = NO_SERVICE
    mail.counts.queues["mail"] = denied = Denied("sqs:GetQueueAttributes", "mail", "AccessDenied")

    with pytest.raises(NotReady) as raised:
        serve_for(5, orders, mail)

    assert str(raised.value).splitlines() == [f"orders: {NO_SERVICE}", f"mail: {denied}"]
    assert orders.events.failures == []


def test_being_throttled_at_the_start_is_said_and_no_reason_to_end() -> None:
    rig = Rig()
    rig.counts.queues["orders"] = throttled = Throttled("sqs:GetQueueAttributes", "orders", "RequestThrottled")

    assert serve_for(5, rig) == [f"orders: {throttled}"]
    assert len(rig.events.decisions) == 1


def test_once_serves_each_pool_once_and_tells_how_it_ended() -> None:
    orders = Rig(decide=always(4))
    mail = second(orders)
    mail.capacity.error = NO_SERVICE

    outcomes = serve_once(wired(orders, mail), orders.events, nobody)

    assert [(outcome.pool, outcome.ok) for outcome in outcomes] == [("orders", True), ("mail", False)]
    assert orders.capacity.writes == [4]


def test_once_ends_before_the_tick_when_no_pool_can_be_served() -> None:
    rig = Rig()
    rig.capacity.error = NO_SERVICE

    with pytest.raises(NotReady, match="prod/orders"):
        serve_once(wired(rig), rig.events, nobody)

    assert rig.events.failures == []


def test_a_dry_run_serves_without_changing_anything() -> None:
    rig = Rig(decide=always(4))
    dry = replace(wired(rig), pools=(rig.tick(store=ShadowStore(rig.store)),))

    (outcome,) = serve_once(dry, rig.events, nobody)

    assert outcome.decision is not None
    assert outcome.decision.desired == 4
    assert rig.events.decisions == [(outcome.decision, False)]
    assert rig.capacity.writes == []
    assert rig.store.load("orders").version == 0


def leasing(every_s: float) -> tuple[Rig, Wired]:
    """A pool whose workers extend leases of 30 s this often."""
    rig = Rig()
    made = wired(rig)
    return rig, replace(made, pools=(rig.tick(sources=rig.sources(lease_heartbeat_s=every_s)),))


def test_leases_that_lapse_are_said_before_the_first_tick_and_keep_no_pool_from_being_served() -> None:
    rig, made = leasing(30.0)
    stop, said = threading.Event(), list[str]()
    rig.clock.at(rig.clock.now() + 5, stop.set)

    serve(made, rig.events, nobody, said.append, stop)
    (outcome,) = serve_once(made, rig.events, said.append)

    assert outcome.ok
    assert len(rig.events.decisions) == 2
    assert said == [said[0]] * 2
    assert said[0].startswith("orders: pools.orders.lease_heartbeat = '30s': too long for the visibility timeout")


def test_dozens_of_pools_that_wait_keep_none_from_its_tick() -> None:
    def wait_for_the_last(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        assert last_decided.wait(WAIT_S), "the last pool got no thread"
        return always(2)(pool, state, seen)

    def last(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        last_decided.set()
        return always(2)(pool, state, seen)

    last_decided = threading.Event()
    first = Rig("pool-0", decide=wait_for_the_last)
    others = [Rig(f"pool-{n}", clock=first.clock, events=first.events) for n in range(1, 40)]
    for rig in others:
        rig.decide = wait_for_the_last
    others[-1].decide = last

    assert all(outcome.ok for outcome in serve_once(wired(first, *others), first.events, nobody))


@pytest.fixture
def handlers_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.integration
@pytest.mark.usefixtures("handlers_as_before")
@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_sets_the_stop_event_and_all_after_it_are_ignored_to_the_end(number: signal.Signals) -> None:
    def work(stop: threading.Event) -> str:
        os.kill(os.getpid(), number)
        return "finished" if stop.wait(WAIT_S) else "not told"

    assert until_signal(work) == "finished"
    assert {signal.getsignal(number) for number in STOP_SIGNALS} == {signal.SIG_IGN}


@pytest.mark.integration
def test_work_that_ends_while_its_wake_up_can_not_be_sent_is_over_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The socket is full when thousands of signals have come in."""

    def full_pair() -> tuple[socket.socket, socket.socket]:
        reader, writer = pair()
        writer.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                writer.send(b"\1")
        return reader, writer

    pair = socket.socketpair
    monkeypatch.setattr(socket, "socketpair", full_pair)

    assert until_signal(lambda stop: "done") == "done"
    assert caplog.records == []


def test_without_a_signal_the_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in STOP_SIGNALS]

    assert until_signal(lambda stop: stop.is_set()) is False
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


def test_what_the_work_raises_comes_out_and_the_handlers_are_put_back() -> None:
    def work(stop: threading.Event) -> None:
        raise NotReady("orders: nothing there")

    before = signal.getsignal(signal.SIGTERM)

    with pytest.raises(NotReady):
        until_signal(work)
    assert signal.getsignal(signal.SIGTERM) is before
