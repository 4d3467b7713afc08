"""Before the first tick everything that a pool needs is read once, and each fault found is one line."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.controller.pool_rig import InlineExecutor, Rig
from tidegate.controller.preflight import Finding, check, lines
from tidegate.core.reports import WorkerReport
from tidegate.errors import Denied, Gone, Unreachable
from tidegate.ports import QueueCounts, StoredState
from tidegate.stores.memory import MemoryStore
from tidegate.testing import FakeQueueReader

NO_STOP = threading.Event()
NO_TABLE = Gone("dynamodb:GetItem", "table tidegate", "ResourceNotFoundException")
NO_QUEUE = Denied("sqs:GetQueueAttributes", "orders", "AccessDenied")
NO_SERVICE = Unreachable("ecs:DescribeServices", "prod/orders", "connection refused")


class NoTable(MemoryStore):
    def load(self, pool: str) -> StoredState:
        raise NO_TABLE

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        raise NO_TABLE


def test_a_pool_with_all_it_needs_has_no_findings_and_is_left_untouched() -> None:
    rig = Rig()

    assert check([rig.tick()], InlineExecutor(), NO_STOP) == []
    assert rig.store.load("orders") == StoredState()
    assert rig.capacity.writes == []


def test_every_fault_of_a_pool_is_found_and_not_only_the_first() -> None:
    rig = Rig(counts=FakeQueueReader({"orders": NO_QUEUE}), store=NoTable())
    rig.capacity.error = NO_SERVICE

    findings = check([rig.tick()], InlineExecutor(), NO_STOP)

    assert [finding.error for finding in findings] == [NO_QUEUE, NO_SERVICE, NO_TABLE]


def test_each_queue_of_a_pool_is_looked_for() -> None:
    rig = Rig()
    tick = rig.tick(sources=rig.sources(queues=("orders", "mail", "bills")))

    assert [
        finding.error.resource
        for finding in check([tick], InlineExecutor(), NO_STOP)
        if isinstance(finding.error, Gone)
    ] == [
        "mail",
        "bills",
    ]


def test_what_pools_have_in_common_is_said_once_with_all_their_names() -> None:
    findings = [
        Finding("orders", NO_TABLE),
        Finding("orders", NO_TABLE),
        Finding("orders", NO_QUEUE),
        Finding("mail", NO_TABLE),
    ]

    assert lines(findings) == [f"orders, mail: {NO_TABLE}", f"orders: {NO_QUEUE}"]


def test_unreadable_heartbeats_are_left_to_the_ticks() -> None:
    rig = Rig(fleet=NoTable())

    assert check([rig.tick()], InlineExecutor(), NO_STOP) == []


@pytest.mark.parametrize(
    ("every_s", "said"),
    [
        (None, []),
        (6.0, []),
        (7.0, ["one failed extension loses the lease"]),
        (12.0, ["leases lapse before they are extended"]),
    ],
)
def test_extensions_of_leases_are_held_against_each_queues_own_timeout(every_s: float | None, said: list[str]) -> None:
    rig = Rig(counts=FakeQueueReader({"orders": QueueCounts(0, 0, 0), "mail": QueueCounts(0, 0, 0)}))
    rig.counts.visibility_timeouts_s = {"orders": 12, "mail": 60}
    tick = rig.tick(sources=rig.sources(queues=("orders", "mail"), lease_heartbeat_s=every_s))

    findings = check([tick], InlineExecutor(), NO_STOP)

    assert all(finding.warning for finding in findings)
    assert [str(finding.error) for finding in findings] == [
        f"pools.orders.lease_heartbeat = '{every_s:g}s': too long for the visibility timeout of the queue orders, "
        f"which is 12s: {risk}; set it (and the workers) to 4s or less, or raise the queue's timeout"
        for risk in said
    ]


def test_a_queue_that_is_not_there_is_said_once_though_its_timeout_was_to_be_checked_too() -> None:
    rig = Rig(counts=FakeQueueReader({"orders": NO_QUEUE}))

    findings = check([rig.tick(sources=rig.sources(lease_heartbeat_s=5.0))], InlineExecutor(), NO_STOP)

    assert findings == [Finding("orders", NO_QUEUE)]


def test_all_reads_go_out_at_the_same_time_so_that_silent_endpoints_cost_once() -> None:
    class Meeting(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            all_there.wait()
            return super().counts(queue)

    all_there = threading.Barrier(3, timeout=10)
    rigs = [Rig(name, counts=Meeting({name: QueueCounts(0, 0, 0)})) for name in ("orders", "mail", "bills")]

    with ThreadPoolExecutor(12) as executor:
        assert check([rig.tick() for rig in rigs], executor, NO_STOP) == []


class Nonsense(FakeQueueReader):
    """Fails as nothing should: a fault of ours, or an answer that nobody thought of."""

    def counts(self, queue: str) -> QueueCounts:
        raise KeyError("Attri\nbutes")

    def visibility_timeout_s(self, queue: str) -> int:
        raise KeyError("Attributes")


def test_what_nobody_expected_of_one_pool_is_one_line_that_says_where_and_the_others_are_looked_at() -> None:
    odd, fine = Rig(counts=Nonsense()), Rig("mail")
    pools = [odd.tick(sources=odd.sources(lease_heartbeat_s=5.0)), fine.tick()]

    findings = check(pools, InlineExecutor(), NO_STOP)

    assert [finding.pool for finding in findings] == ["orders"]
    (line,) = lines(findings)
    assert line.startswith("orders: unexpected KeyError: 'Attri\\nbutes' in test_preflight.py, line ")
    assert line.endswith("; check that the endpoint speaks AWS's API, and report this if it does")


def test_after_a_stop_silent_endpoints_are_not_waited_for() -> None:
    class Silent(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            stop.set()
            answered.wait()
            raise NO_QUEUE

    stop, answered = threading.Event(), threading.Event()
    silent, gone = Rig(counts=Silent()), Rig("mail")
    gone.capacity.error = NO_SERVICE

    with ThreadPoolExecutor(1) as executor:
        findings = check([gone.tick(), silent.tick()], executor, stop)
        answered.set()

    assert findings == [Finding("mail", NO_SERVICE)]
