"""Looking at a pool: what can't be read is there with its reason, and nothing is younger than the observation."""

import pytest

from tests.controller.pool_rig import Rig
from tidegate.controller.observe import age_metric, deleted_metric, observe, queue_metrics, quiet_metrics, sent_metric
from tidegate.core.absence import Absence
from tidegate.core.observation import QuietGroups, Reading
from tidegate.core.reports import WorkerReport, WorkerState, WorkFigures
from tidegate.errors import Denied, Gone, StateUnreadable, Throttled, TidegateError, Unreachable
from tidegate.ports import QueueCounts
from tidegate.testing import FakeQueueReader

FAILURES = [
    (Throttled("sqs:GetQueueAttributes", "orders", "RequestThrottled"), Absence.THROTTLED),
    (Denied("sqs:GetQueueAttributes", "orders", "AccessDenied"), Absence.DENIED),
    (Unreachable("sqs:GetQueueAttributes", "orders", "connection refused"), Absence.UNREACHABLE),
]
REPORT = WorkerReport(
    "w1", WorkerState.RUNNING, "", 100.0, 90.0, 95.0, slots=4, busy=1, recent=WorkFigures(5), total=WorkFigures(10)
)


class FailingFleet:
    def __init__(self, error: TidegateError) -> None:
        self.error = error

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        raise self.error


class OneWorker:
    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        return (REPORT,)


@pytest.mark.parametrize(("error", "absence"), FAILURES)
def test_a_failed_read_leaves_all_three_counts_absent_with_the_reason(error: TidegateError, absence: Absence) -> None:
    rig = Rig(counts=FakeQueueReader({"orders": error}))

    (queue,) = observe(rig.sources(), {}, rig.clock).queues

    assert [queue.visible, queue.in_flight, queue.delayed] == [Reading(None, rig.clock.now(), absence, str(error))] * 3


def test_one_unreadable_queue_leaves_the_other_queue_of_the_pool_alone() -> None:
    rig = Rig(counts=FakeQueueReader({"orders": QueueCounts(7, 2, 1)}))

    gone, there = observe(rig.sources(queues=("missing", "orders")), {}, rig.clock).queues

    assert gone.visible.absence is Absence.GONE
    assert (there.visible.value, there.in_flight.value, there.delayed.value) == (7, 2, 1)


def test_sums_of_a_minute_become_rates_and_the_age_stays_seconds() -> None:
    rig = Rig()
    readings = {
        age_metric("orders"): Reading(42, 60),
        sent_metric("orders"): Reading(120, 60),
        deleted_metric("orders"): Reading(90, 60),
    }

    (queue,) = observe(rig.sources(), readings, rig.clock).queues

    assert queue.age_s == Reading(42, 60)
    assert queue.sent_per_s == Reading(2.0, 60)
    assert queue.deleted_per_s == Reading(1.5, 60)


def test_a_fair_queues_quiet_groups_are_asked_for_and_seen_and_others_are_not() -> None:
    rig = Rig()
    noisy, visible, in_flight, age = quiet_metrics("orders")
    readings = {noisy: Reading(1, 60), visible: Reading(40, 60), in_flight: Reading(6, 60), age: Reading(9, 60)}

    (fair,) = observe(rig.sources(fair=True), readings, rig.clock).queues
    (plain,) = observe(rig.sources(), readings, rig.clock).queues

    assert fair.quiet == QuietGroups(*readings.values())
    assert plain.quiet is None
    assert len(queue_metrics("orders", fair=True)) == len(queue_metrics("orders")) + 4
    assert {metric.name for metric in queue_metrics("orders", fair=True)} >= {
        "ApproximateNumberOfNoisyGroups",
        "ApproximateAgeOfOldestMessageInQuietGroups",
    }


def test_an_absent_sum_keeps_its_reason() -> None:
    rig = Rig()
    denied = Reading(None, 60, Absence.DENIED, "no cloudwatch:GetMetricData")

    (queue,) = observe(rig.sources(), {sent_metric("orders"): denied}, rig.clock).queues

    assert queue.sent_per_s == denied


def test_metrics_never_asked_for_are_missing_and_not_zero() -> None:
    rig = Rig()

    (queue,) = observe(rig.sources(), {}, rig.clock).queues

    for reading in (queue.age_s, queue.sent_per_s, queue.deleted_per_s):
        assert reading == Reading(None, rig.clock.now(), Absence.MISSING, "CloudWatch not asked yet")


def test_workers_that_report_are_in_the_observation() -> None:
    rig = Rig(fleet=OneWorker())

    fleet = observe(rig.sources(), {}, rig.clock).fleet

    assert fleet.workers == (REPORT,)
    assert fleet.absence is None


def test_without_a_store_the_fleet_is_missing_which_is_no_failure() -> None:
    fleet = observe(Rig().sources(), {}, Rig().clock).fleet

    assert fleet.absence is Absence.MISSING
    assert "table" in fleet.detail


@pytest.mark.parametrize(
    ("error", "absence"),
    [
        (Denied("dynamodb:Query", "tidegate", "AccessDenied"), Absence.DENIED),
        (StateUnreadable("worker w1", "not JSON"), Absence.INVALID),
    ],
)
def test_a_fleet_that_cannot_be_read_is_absent_with_the_reason(error: TidegateError, absence: Absence) -> None:
    rig = Rig(fleet=FailingFleet(error))

    fleet = observe(rig.sources(), {}, rig.clock).fleet

    assert (fleet.workers, fleet.absence, fleet.detail) == ((), absence, str(error))


def test_without_the_capacity_there_is_nothing_to_decide() -> None:
    rig = Rig()
    rig.capacity.error = Gone("ecs:DescribeServices", "prod/orders", "MISSING")

    with pytest.raises(Gone, match="prod/orders"):
        observe(rig.sources(), {}, rig.clock)


def test_no_reading_is_younger_than_the_observation_that_holds_it() -> None:
    class Slow(FakeQueueReader):
        def counts(self, queue: str) -> QueueCounts:
            rig.clock.advance(5)
            return super().counts(queue)

    rig = Rig()
    rig.counts = Slow({"orders": QueueCounts(1, 0, 0), "mail": QueueCounts(1, 0, 0)})
    start_s = rig.clock.now()

    seen = observe(rig.sources(queues=("orders", "mail")), {}, rig.clock)

    assert seen.capacity.taken_at_s == start_s
    assert [queue.visible.taken_at_s for queue in seen.queues] == [start_s, start_s + 5]
    assert seen.fleet.taken_at_s == seen.now_s == start_s + 10


SILENT = Unreachable("sqs:GetQueueAttributes", "orders", "read timeout")


def test_after_a_queue_without_an_answer_the_pools_other_queues_are_not_asked_and_are_never_zero() -> None:
    rig = Rig(fleet=OneWorker())
    rig.counts = FakeQueueReader({"first": QueueCounts(1, 0, 0), "orders": SILENT, "mail": QueueCounts(5, 0, 0)})

    first, orders, mail = observe(rig.sources(queues=("first", "orders", "mail")), {}, rig.clock).queues

    assert rig.counts.asked == ["first", "orders"]
    assert first.visible.value == 1
    assert orders.visible == Reading(None, rig.clock.now(), Absence.UNREACHABLE, str(SILENT))
    not_asked = Reading(None, rig.clock.now(), Absence.UNREACHABLE, "not asked: orders got no answer")
    assert [mail.visible, mail.in_flight, mail.delayed] == [not_asked] * 3


@pytest.mark.parametrize("error", [error for error, absence in FAILURES if absence is not Absence.UNREACHABLE])
def test_a_queue_that_was_refused_at_once_keeps_no_other_from_being_asked(error: TidegateError) -> None:
    rig = Rig(counts=FakeQueueReader({"orders": error, "mail": QueueCounts(5, 0, 0)}))

    _, mail = observe(rig.sources(queues=("orders", "mail")), {}, rig.clock).queues

    assert mail.visible.value == 5


def test_nothing_else_is_asked_when_the_capacity_gives_no_answer() -> None:
    rig = Rig()
    rig.capacity.error = Unreachable("ecs:DescribeServices", "prod/orders", "read timeout")

    with pytest.raises(Unreachable):
        observe(rig.sources(), {}, rig.clock)

    assert rig.counts.asked == []
