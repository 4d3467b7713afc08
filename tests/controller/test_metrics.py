"""CloudWatch is asked once a minute for everybody; a failure keeps what was known and says why there is no more."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.observe import age_metric, queue_metrics
from tidegate.core.absence import Absence
from tidegate.core.observation import Reading
from tidegate.errors import Throttled
from tidegate.ports import Metric
from tidegate.testing import FakeMetricsReader

MINUTE_0 = 1_700_000_040.0  # a whole minute
AGE, SENT, DELETED = queue_metrics("orders")
OTHER = age_metric("mail")
THROTTLED = Throttled("cloudwatch:GetMetricData", "3 metrics", "Rate exceeded")


def test_ten_second_ticks_ask_once_a_minute_right_after_the_boundary() -> None:
    reader = FakeMetricsReader()
    metrics = MinuteMetrics(reader, queue_metrics("orders"))

    for tick in range(13):
        metrics.refresh(MINUTE_0 + 25 + 10 * tick)

    assert [at_s - MINUTE_0 for _, at_s in reader.asked] == [25, 65, 125]


@given(st.lists(st.floats(0, 3600), min_size=1).map(sorted))
def test_no_minute_is_ever_asked_in_twice_and_none_with_a_tick_is_left_out(times_s: list[float]) -> None:
    reader = FakeMetricsReader()
    metrics = MinuteMetrics(reader, [AGE])

    for at_s in times_s:
        metrics.refresh(MINUTE_0 + at_s)

    minutes = [(MINUTE_0 + at_s) // 60 for at_s in times_s]
    assert [at_s // 60 for _, at_s in reader.asked] == sorted(set(minutes))


def test_all_pools_are_asked_for_in_one_call_and_each_series_once() -> None:
    reader = FakeMetricsReader()
    metrics = MinuteMetrics(reader, [*queue_metrics("orders"), *queue_metrics("mail"), *queue_metrics("orders")])

    metrics.refresh(MINUTE_0)

    ((asked, _),) = reader.asked
    assert asked == (*queue_metrics("orders"), *queue_metrics("mail"))


def test_what_was_read_is_remembered_until_the_next_pass() -> None:
    reader = FakeMetricsReader({AGE: Reading(42, MINUTE_0)})
    metrics = MinuteMetrics(reader, [AGE])
    metrics.refresh(MINUTE_0)
    reader.readings[AGE] = Reading(50, MINUTE_0 + 60)

    metrics.refresh(MINUTE_0 + 59)
    assert metrics.readings()[AGE] == Reading(42, MINUTE_0)

    metrics.refresh(MINUTE_0 + 60)
    assert metrics.readings()[AGE] == Reading(50, MINUTE_0 + 60)


def test_a_failure_keeps_good_readings_with_their_old_time_and_marks_the_rest_absent() -> None:
    reader = FakeMetricsReader({AGE: Reading(42, MINUTE_0)})
    metrics = MinuteMetrics(reader, [AGE, SENT])
    metrics.refresh(MINUTE_0)
    reader.error = THROTTLED

    troubles = metrics.refresh(MINUTE_0 + 60)

    assert troubles == (str(THROTTLED),)
    assert metrics.readings() == {
        AGE: Reading(42, MINUTE_0, detail=str(THROTTLED)),
        SENT: Reading(None, MINUTE_0 + 60, Absence.THROTTLED, str(THROTTLED)),
    }


FAILED = Reading(None, MINUTE_0 + 60, Absence.DENIED, "no permission in us-east-2")


@pytest.mark.parametrize("absence", [one for one in Absence if one not in (Absence.MISSING, Absence.UNSEEN)])
def test_a_part_that_fails_keeps_its_good_readings_as_a_whole_failure_does_and_is_said_once(absence: Absence) -> None:
    reader = FakeMetricsReader({AGE: Reading(42, MINUTE_0), SENT: Reading(7, MINUTE_0)})
    metrics = MinuteMetrics(reader, [AGE, SENT, DELETED, OTHER])
    metrics.refresh(MINUTE_0)
    failed = replace(FAILED, absence=absence)
    reader.readings = {AGE: failed, SENT: Reading(8, MINUTE_0 + 60), DELETED: failed}

    troubles = metrics.refresh(MINUTE_0 + 60)

    assert troubles == (failed.detail,)
    assert metrics.readings() == {
        AGE: Reading(42, MINUTE_0, detail=failed.detail),
        SENT: Reading(8, MINUTE_0 + 60),
        DELETED: failed,
        OTHER: Reading(None, MINUTE_0 + 60, Absence.MISSING, "no data"),
    }


def test_a_kept_reading_stays_through_several_failures_and_loses_its_trouble_when_it_is_read_again() -> None:
    reader = FakeMetricsReader({AGE: Reading(42, MINUTE_0)})
    metrics = MinuteMetrics(reader, [AGE])
    metrics.refresh(MINUTE_0)
    reader.readings = {AGE: FAILED}
    assert [metrics.refresh(MINUTE_0 + at_s) for at_s in (60, 120)] == [(FAILED.detail,)] * 2
    assert metrics.readings()[AGE] == Reading(42, MINUTE_0, detail=FAILED.detail)

    reader.readings = {AGE: Reading(50, MINUTE_0 + 180)}

    assert metrics.refresh(MINUTE_0 + 180) == ()
    assert metrics.readings()[AGE] == Reading(50, MINUTE_0 + 180)


def test_after_a_failure_the_next_try_is_a_minute_later() -> None:
    reader = FakeMetricsReader()
    reader.error = THROTTLED
    metrics = MinuteMetrics(reader, [AGE])

    troubles = [metrics.refresh(MINUTE_0 + at_s) for at_s in (0, 10, 60)]

    assert troubles == [(str(THROTTLED),), (), (str(THROTTLED),)]
    assert metrics.asked()


def test_a_queue_gone_quiet_replaces_its_last_value_by_missing() -> None:
    reader = FakeMetricsReader({AGE: Reading(42, MINUTE_0)})
    metrics = MinuteMetrics(reader, [AGE])
    metrics.refresh(MINUTE_0)
    reader.readings.clear()

    metrics.refresh(MINUTE_0 + 60)

    assert metrics.readings()[AGE].absence is Absence.MISSING


def test_a_clock_set_back_does_not_stop_the_asking() -> None:
    reader = FakeMetricsReader()
    metrics = MinuteMetrics(reader, [AGE])

    metrics.refresh(MINUTE_0)
    metrics.refresh(MINUTE_0 - 3600)

    assert len(reader.asked) == 2


def test_a_pass_under_way_is_not_started_a_second_time() -> None:
    class Held(FakeMetricsReader):
        def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
            begun.set()
            assert release.wait(10)
            return super().latest(metrics, now_s)

    begun, release = threading.Event(), threading.Event()
    reader = Held()
    metrics = MinuteMetrics(reader, [AGE])
    first = threading.Thread(target=metrics.refresh, args=(MINUTE_0,))
    first.start()
    assert begun.wait(10)

    assert metrics.refresh(MINUTE_0 + 60) == ()
    release.set()
    first.join(10)

    assert len(reader.asked) == 1
