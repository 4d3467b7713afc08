"""What a worker reports: counts, sums, waits, and spans that lose nothing when a heartbeat fails."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.core.reports import WAIT_BOUNDS_S, ClassFigures, WorkerState, WorkFigures
from tidegate.core.signals.skew import CLOCKS_APART_S
from tidegate.errors import Throttled, Unreachable
from tidegate.testing import FakeWorkQueue, RecordedHeartbeats
from tidegate.worker.message import Message
from tidegate.worker.telemetry.counts import Telemetry, figures_since


class Wall:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("wait_s", "bucket"),
    [(0.0, 0), (0.05, 0), (0.06, 1), (1.0, 4), (10.0, 9), (21_600.0, 24), (30_000.0, 25), (-3.0, 0)],
)
def test_a_wait_falls_into_the_bucket_whose_upper_edge_it_does_not_exceed(wait_s: float, bucket: int) -> None:
    """A negative wait is two clocks apart: it counts as none."""
    wall = Wall()
    telemetry = Telemetry("w1", 4, 10.0, wall)
    telemetry.started(sent_at_s=wall.now_s - wait_s, receive_count=1)
    waits = telemetry.report(WorkerState.RUNNING, "", busy=1).total.waits
    assert [index for index, count in enumerate(waits) if count] == [bucket]
    assert len(waits) == len(WAIT_BOUNDS_S) + 1


@pytest.mark.parametrize(
    ("receives", "waits"), [((1, 1, 2, 3), {4: 2}), ((2, 3), {}), ((3, 1), {4: 1})], ids=["both", "again only", "late"]
)
def test_only_a_first_receive_counts_as_a_wait_because_a_backoff_is_none(
    receives: tuple[int, ...], waits: dict[int, int]
) -> None:
    wall = Wall()
    telemetry = Telemetry("w1", 4, 10.0, wall)
    for receive_count in receives:
        telemetry.started(wall.now_s - 1.0, receive_count)
    total = telemetry.report(WorkerState.RUNNING, "", busy=0).total
    assert {index: count for index, count in enumerate(total.waits) if count} == waits
    assert total.starts == len(receives)
    assert total.redeliveries == sum(count > 1 for count in receives)


def test_recent_covers_the_span_since_the_last_report_that_arrived() -> None:
    wall = Wall()
    telemetry = Telemetry("w1", 4, 10.0, wall)
    telemetry.finished(2.0, completed=True)
    wall.now_s += 10
    lost = telemetry.report(WorkerState.RUNNING, "", busy=0)
    telemetry.finished(3.0, completed=False)
    wall.now_s += 10
    arrived = telemetry.report(WorkerState.RUNNING, "", busy=0)
    telemetry.delivered(arrived)
    wall.now_s += 10
    telemetry.started(wall.now_s, receive_count=2)
    after = telemetry.report(WorkerState.RUNNING, "", busy=0)
    assert (lost.recent.span_s, lost.recent.completions) == (10.0, 1)
    assert (arrived.recent.span_s, arrived.recent.completions, arrived.recent.failures) == (20.0, 1, 1)
    assert (arrived.recent.service_time_sum_s, arrived.recent.service_time_square_sum_s2) == (5.0, 13.0)
    assert (after.recent.span_s, after.recent.completions, after.recent.redeliveries) == (10.0, 0, 1)
    assert (after.total.span_s, after.total.completions, after.total.starts) == (30.0, 1, 1)


@given(
    st.lists(st.tuples(st.sampled_from(["start", "again", "complete", "fail", "lose", "late", "report", "deliver"])))
)
def test_the_recents_that_arrived_add_up_to_the_total(events: list[tuple[str]]) -> None:
    wall = Wall()
    telemetry = Telemetry("w1", 4, 10.0, wall)
    arrived = []
    for (event,) in [*events, ("deliver",)]:
        wall.now_s += 1
        match event:
            case "start" | "again":
                telemetry.started(wall.now_s - 1, receive_count=1 + (event == "again"))
            case "complete" | "fail":
                telemetry.finished(1.0, completed=event == "complete")
            case "lose":
                telemetry.lease_lost()
            case "late":
                telemetry.uncertain_delete()
            case "report":
                telemetry.report(WorkerState.RUNNING, "", busy=0)
            case _:
                arrived.append(telemetry.report(WorkerState.RUNNING, "", busy=0))
                telemetry.delivered(arrived[-1])
    total = arrived[-1].total
    for name in ("span_s", "starts", "completions", "failures", "leases_lost", "uncertain_deletes"):
        assert sum(getattr(report.recent, name) for report in arrived) == getattr(total, name)
    assert sum(sum(report.recent.waits) for report in arrived) == events.count(("start",))


@pytest.mark.looptime
async def test_the_first_report_goes_out_with_the_first_poll_and_then_on_the_beat(work: Work) -> None:
    async with working(work) as bench:
        await asyncio.sleep(35)
        reports = bench.sink.reports
        assert [round(report.reported_at_s) for report in reports] == [0, 10, 20, 30]
        assert reports[0].first_receive_at_s == pytest.approx(0.0, abs=0.01)
        assert reports[0].state is WorkerState.RUNNING
        assert bench.sink.pools[0] == "orders"
        kept_s = 3 * PLAN.heartbeat_s + CLOCKS_APART_S
        assert bench.sink.expiries_s[0] - reports[0].reported_at_s == kept_s


@pytest.mark.looptime
async def test_a_report_says_when_a_receive_call_was_last_answered_which_a_refused_one_is_not(work: Work) -> None:
    async with working(work) as bench:
        await asyncio.sleep(2 * PLAN.poll_wait_s + 1)
        bench.queue.fail("receive", *[Throttled("sqs:ReceiveMessage", "orders", "slow down")] * 1_000)
        cut_at_s = asyncio.get_running_loop().time()
        await asyncio.sleep(40)
        first, last = bench.sink.reports[0].answered_at_s, bench.sink.reports[-1].answered_at_s
        assert first is None  # with the first poll, before its answer
        assert last is not None
        assert cut_at_s <= last <= cut_at_s + PLAN.poll_wait_s  # by the poll that was out


@pytest.mark.looptime
async def test_a_sink_that_fails_stops_nothing_and_its_figures_come_later(caplog: pytest.LogCaptureFixture) -> None:
    work, sink = Work(takes_s=1.0), RecordedHeartbeats()
    sink.error = sink_down = Unreachable("dynamodb:PutItem", "fleet", "down")
    async with working(work, sink=sink) as bench:
        for _ in range(3):
            bench.queue.send()
        await until(lambda: len(work.finished) == 3)
        await asyncio.sleep(30)
        sink.error = None
        await until(lambda: sink.reports)
        assert sink.reports[0].recent.completions == 3
    said = [record.getMessage() for record in caplog.records if "heartbeat to the fleet" in record.getMessage()]
    assert set(said) == {f"heartbeat to the fleet failed, the next one carries its figures: {sink_down}"}


@pytest.mark.looptime
async def test_a_sink_that_hangs_holds_up_neither_work_nor_leaving(
    work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    class Hangs(RecordedHeartbeats):
        async def put(self, pool: str, report: object, expires_at_s: float) -> None:
            await asyncio.Event().wait()

    async with working(work, sink=Hangs()) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        asked_at_s = asyncio.get_running_loop().time()
        await bench.stop()
        assert asyncio.get_running_loop().time() - asked_at_s <= PLAN.poll_wait_s + 1.1
    assert "figures: the heartbeat on orders got no answer: none within 1 s" in caplog.text


@pytest.mark.looptime
async def test_busy_slots_service_times_and_waits_are_measured() -> None:
    work = Work(takes_s=4.0)
    async with working(work, plan=replace(PLAN, slots=1)) as bench:
        for _ in range(3):
            bench.queue.send()
        await asyncio.sleep(10.5)
        report = bench.sink.reports[-1]
        assert (report.busy, report.slots) == (1, 1)
        assert (report.total.starts, report.total.completions) == (3, 2)
        assert report.total.service_time_sum_s == pytest.approx(8.0, abs=0.01)
        assert report.total.service_time_square_sum_s2 == pytest.approx(32.0, abs=0.1)
        edges = [WAIT_BOUNDS_S[index] for index, count in enumerate(report.total.waits) if count]
        assert edges == [0.05, 5, 10]
        assert [each.recent.completions for each in bench.sink.reports] == [0, 2]
        await bench.stop()
        assert sum(each.recent.completions for each in bench.sink.reports) == 3


@pytest.mark.looptime
async def test_a_worker_that_never_got_to_its_queue_reports_nothing(work: Work) -> None:
    queue = FakeWorkQueue()
    queue.fail("attributes", *[Unreachable("sqs:GetQueueAttributes", "orders", "down")] * 1000)
    async with working(work, queue) as bench:
        with pytest.raises(Unreachable):
            await bench.serving
        assert bench.sink.reports == []


def test_a_message_never_shows_its_body() -> None:
    message = Message("m1", "card 4111", {}, {"card": {"StringValue": "4111"}}, 1, 0.0)
    assert "4111" not in repr(message)


def test_what_is_new_is_told_for_each_class_and_a_class_without_news_is_left_out() -> None:
    mail, resize = ClassFigures(5, 4, 1, 2.0, 1.0, (5,)), ClassFigures(1, 1, 0, 30.0, 900.0, (0, 1))
    earlier = WorkFigures(span_s=10.0, starts=6, classes={"mail": mail, "resize": resize})
    later = replace(
        earlier,
        starts=9,
        classes={"mail": replace(mail, starts=7, completions=6, service_time_sum_s=3.0), "resize": resize}
        | {"export": ClassFigures(1, waits=(1,))},
    )
    news = figures_since(earlier, later)
    assert news.starts == 3
    assert news.classes == {"mail": ClassFigures(2, 2, 0, 1.0, 0.0), "export": ClassFigures(1, waits=(1,))}
