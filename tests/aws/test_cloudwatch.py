"""CloudWatch's last complete minutes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.stub import Stubber
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.aws.moto_cloud import REGION
from tidegate.aws.clients import AwsClients
from tidegate.aws.cloudwatch import LOOK_BACK_S, CloudWatchMetrics
from tidegate.aws.metric_queries import QUERIES_PER_CALL
from tidegate.core.absence import Absence
from tidegate.core.observation import Reading
from tidegate.errors import Denied, Throttled
from tidegate.ports import Metric

NOON_S = 1_767_268_800.0
"""2026-01-01T12:00:00Z, on a minute."""

AGE = Metric("mail", "ApproximateAgeOfOldestMessage", "Maximum")
SENT = Metric("mail", "NumberOfMessagesSent", "Sum")


def utc(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)


def put(clients: AwsClients, metric: Metric, points: dict[float, float], region: str = REGION) -> None:
    """As SQS publishes: one sample a minute, stamped with the minute's start."""
    clients.cloudwatch(region).put_metric_data(
        Namespace="AWS/SQS",
        MetricData=[
            {
                "MetricName": metric.name,
                "Dimensions": [{"Name": "QueueName", "Value": metric.queue.rpartition("/")[2]}],
                "Timestamp": utc(at_s),
                "Value": value,
            }
            for at_s, value in points.items()
        ],
    )


def result(index: int, status: str = "Complete", points: Sequence[tuple[float, float]] = (), **more: Any) -> Any:
    """One entry of GetMetricData's answer."""
    return {
        "Id": f"m{index}",
        "Label": "x",
        "StatusCode": status,
        "Timestamps": [utc(at_s) for at_s, _ in points],
        "Values": [value for _, value in points],
        **more,
    }


def answered(
    clients: AwsClients, answers: Sequence[dict[str, Any]], metrics: Sequence[Metric]
) -> dict[Metric, Reading]:
    """What becomes of these answers to the calls that are made."""
    client = clients.cloudwatch(REGION)
    with Stubber(client) as stub:
        for answer in answers:
            stub.add_response("get_metric_data", answer)
        readings = CloudWatchMetrics(lambda _: client).latest(metrics, NOON_S)
        stub.assert_no_pending_responses()
    return dict(readings)


def test_the_newest_complete_minute_is_taken_and_speaks_of_its_end(clients: AwsClients) -> None:
    put(clients, AGE, {NOON_S - 180: 5.0, NOON_S - 120: 7.0, NOON_S - 60: 9.0})
    readings = CloudWatchMetrics(clients.cloudwatch).latest([AGE], NOON_S + 42)
    assert readings == {AGE: Reading(9.0, NOON_S)}


def test_the_minute_that_is_still_running_is_left_alone(clients: AwsClients) -> None:
    put(clients, AGE, {NOON_S - 60: 9.0, NOON_S: 1.0})
    assert CloudWatchMetrics(clients.cloudwatch).latest([AGE], NOON_S + 59.9)[AGE] == Reading(9.0, NOON_S)
    assert CloudWatchMetrics(clients.cloudwatch).latest([AGE], NOON_S + 60.0)[AGE] == Reading(1.0, NOON_S + 60)


def test_a_late_series_gives_its_newest_minute_with_that_minutes_time(clients: AwsClients) -> None:
    put(clients, AGE, {NOON_S - 600: 30.0})
    assert CloudWatchMetrics(clients.cloudwatch).latest([AGE], NOON_S)[AGE] == Reading(30.0, NOON_S - 540)


@pytest.mark.parametrize("points", [{}, {NOON_S - LOOK_BACK_S - 60: 30.0}])
def test_a_series_without_data_lately_is_missing_not_zero(clients: AwsClients, points: dict[float, float]) -> None:
    """An inactive queue publishes nothing:
    docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
    """
    if points:
        put(clients, AGE, points)
    reading = CloudWatchMetrics(clients.cloudwatch).latest([AGE], NOON_S)[AGE]
    assert (reading.value, reading.absence) == (None, Absence.MISSING)


def test_zero_is_a_value(clients: AwsClients) -> None:
    put(clients, SENT, {NOON_S - 60: 0.0})
    assert CloudWatchMetrics(clients.cloudwatch).latest([SENT], NOON_S)[SENT] == Reading(0.0, NOON_S)


def test_the_statistic_asked_for_is_the_one_given(clients: AwsClients) -> None:
    most, mean = Metric("mail", "Depth", "Maximum"), Metric("mail", "Depth", "Average")
    put(clients, most, {NOON_S - 60: 2.0})
    put(clients, most, {NOON_S - 30: 6.0})
    readings = CloudWatchMetrics(clients.cloudwatch).latest([most, mean], NOON_S)
    assert (readings[most].value, readings[mean].value) == (6.0, 4.0)


def test_more_than_500_series_are_asked_for_in_several_calls_and_each_gets_its_own_value(clients: AwsClients) -> None:
    """docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html"""
    metrics = [Metric(f"queue-{i}", "NumberOfMessagesSent", "Sum") for i in range(QUERIES_PER_CALL + 1)]
    for i in (0, QUERIES_PER_CALL - 1, QUERIES_PER_CALL):
        put(clients, metrics[i], {NOON_S - 60: float(i)})
    sizes: list[int] = []
    clients.cloudwatch(REGION).meta.events.register(
        "before-parameter-build.cloudwatch.GetMetricData",
        lambda params, **_: sizes.append(len(params["MetricDataQueries"])),
    )
    readings = CloudWatchMetrics(clients.cloudwatch).latest(metrics, NOON_S)
    assert sizes == [500, 1]
    found = {metric.queue: reading.value for metric, reading in readings.items() if reading.value is not None}
    assert found == {"queue-0": 0.0, "queue-499": 499.0, "queue-500": 500.0}
    assert len(readings) == 501


def test_no_metrics_is_no_call(clients: AwsClients) -> None:
    assert answered(clients, [], []) == {}


def test_queues_of_several_regions_are_asked_each_in_its_own(clients: AwsClients) -> None:
    here = Metric("https://sqs.eu-west-1.amazonaws.com/123456789012/mail", AGE.name, AGE.statistic)
    there = Metric("https://sqs.us-east-2.amazonaws.com/123456789012/mail", AGE.name, AGE.statistic)
    put(clients, here, {NOON_S - 60: 1.0}, "eu-west-1")
    put(clients, there, {NOON_S - 60: 2.0}, "us-east-2")
    readings = CloudWatchMetrics(clients.cloudwatch).latest([here, there], NOON_S)
    assert (readings[here].value, readings[there].value) == (1.0, 2.0)


def test_pages_are_put_together_and_the_newest_point_wins_in_whatever_order_they_come(clients: AwsClients) -> None:
    pages: list[dict[str, Any]] = [
        {
            "MetricDataResults": [result(0, "PartialData", [(NOON_S - 120, 2.0), (NOON_S - 60, 1.0)])],
            "NextToken": "more",
        },
        {"MetricDataResults": [result(0, points=[(NOON_S - 180, 3.0)]), result(1)]},
    ]
    readings = answered(clients, pages, [AGE, SENT])
    assert readings[AGE] == Reading(1.0, NOON_S)
    assert readings[SENT].absence is Absence.MISSING


@pytest.mark.parametrize(
    ("status", "absence"),
    [("Forbidden", Absence.DENIED), ("InternalError", Absence.UNREACHABLE), ("PartialData", Absence.UNREACHABLE)],
)
def test_a_series_that_could_not_be_read_is_told_from_one_without_data(
    clients: AwsClients, status: str, absence: Absence
) -> None:
    """Status codes: docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataResult.html"""
    troubled = result(0, status, Messages=[{"Code": "Oops", "Value": "try later"}])
    reading = answered(clients, [{"MetricDataResults": [troubled]}], [AGE])[AGE]
    assert (reading.value, reading.absence) == (None, absence)
    assert "try later" in reading.detail


def test_a_value_counts_even_when_the_rest_of_its_series_failed(clients: AwsClients) -> None:
    partial = result(0, "InternalError", [(NOON_S - 60, 4.0)])
    assert answered(clients, [{"MetricDataResults": [partial]}], [AGE])[AGE] == Reading(4.0, NOON_S)


def test_a_refused_call_raises(clients: AwsClients) -> None:
    client = clients.cloudwatch(REGION)
    with Stubber(client) as stub:
        stub.add_client_error("get_metric_data", "AccessDenied", "no", 403)
        with pytest.raises(Denied, match="allow cloudwatch:GetMetricData"):
            CloudWatchMetrics(lambda _: client).latest([AGE], NOON_S)


def test_one_region_that_fails_takes_nothing_from_the_others(clients: AwsClients) -> None:
    there = Metric("arn:aws:sqs:us-east-2:123456789012:mail", AGE.name, AGE.statistic)
    put(clients, AGE, {NOON_S - 60: 1.0})
    with Stubber(clients.cloudwatch("us-east-2")) as stub:
        stub.add_client_error("get_metric_data", "Throttling", "slow down", 400)
        readings = CloudWatchMetrics(clients.cloudwatch).latest([AGE, there], NOON_S)
    assert readings[AGE].value == 1.0
    assert readings[there].absence is Absence.THROTTLED
    assert "slow down" in readings[there].detail


def test_when_every_region_fails_the_first_failure_is_raised(clients: AwsClients) -> None:
    there = Metric("arn:aws:sqs:us-east-2:123456789012:mail", AGE.name, AGE.statistic)
    with Stubber(clients.cloudwatch()) as here_stub, Stubber(clients.cloudwatch("us-east-2")) as there_stub:
        here_stub.add_client_error("get_metric_data", "Throttling", "slow down", 400)
        there_stub.add_client_error("get_metric_data", "AccessDenied", "no", 403)
        with pytest.raises(Throttled):
            CloudWatchMetrics(clients.cloudwatch).latest([AGE, there], NOON_S)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(now_s=st.floats(1.7e9, 2.0e9))
def test_the_window_asked_for_ends_on_the_last_full_minute(clients: AwsClients, now_s: float) -> None:
    """Aligned, so that CloudWatch does not round it for us:
    docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
    """
    asked: list[dict[str, Any]] = []
    client = clients.cloudwatch(REGION)
    name = "before-parameter-build.cloudwatch.GetMetricData"
    client.meta.events.register(name, lambda params, **_: asked.append(params), unique_id="window")
    with Stubber(client) as stub:
        stub.add_response("get_metric_data", {"MetricDataResults": []})
        CloudWatchMetrics(lambda _: client).latest([AGE], now_s)
    client.meta.events.unregister(name, unique_id="window")
    start_s, end_s = asked[0]["StartTime"].timestamp(), asked[0]["EndTime"].timestamp()
    assert end_s % 60 == 0
    assert now_s - 60 < end_s <= now_s
    assert end_s - start_s == LOOK_BACK_S
