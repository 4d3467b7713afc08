"""CloudWatch's past, series by series and page by page."""

from datetime import timedelta
from typing import Any

import pytest
from botocore.stub import Stubber

from tests.aws.moto_cloud import REGION
from tests.aws.test_cloudwatch import AGE, NOON_S, SENT, put, result, utc
from tidegate.aws.clients import AwsClients
from tidegate.aws.history import VALUES_PER_PAGE, CloudWatchHistory
from tidegate.errors import Denied, Unreachable
from tidegate.ports import Metric

HOUR_S = 3600.0


def answered(clients: AwsClients, *pages: dict[str, Any]) -> dict[Metric, dict[float, float]]:
    """What becomes of these pages, the first asked for SENT and AGE of an hour."""
    client = clients.cloudwatch(REGION)
    with Stubber(client) as stub:
        for page in pages:
            stub.add_response("get_metric_data", page)
        found = CloudWatchHistory(lambda _: client).history([SENT, AGE], NOON_S - HOUR_S, NOON_S, 60)
        stub.assert_no_pending_responses()
    return {metric: dict(values) for metric, values in found.items()}


def test_each_minute_with_data_is_there_by_its_start_and_the_others_are_left_out(clients: AwsClients) -> None:
    put(clients, SENT, {NOON_S - 3600: 5.0, NOON_S - 3540: 7.0, NOON_S - 60: 9.0, NOON_S: 11.0, NOON_S - 3660: 3.0})
    put(clients, AGE, {NOON_S - 600: 30.0})
    found = CloudWatchHistory(clients.cloudwatch).history([SENT, AGE], NOON_S - HOUR_S, NOON_S, 60)
    assert found == {
        SENT: {NOON_S - 3600: 5.0, NOON_S - 3540: 7.0, NOON_S - 60: 9.0},
        AGE: {NOON_S - 600: 30.0},
    }


def test_longer_periods_add_up(clients: AwsClients) -> None:
    put(clients, SENT, {NOON_S - 600: 5.0, NOON_S - 540: 7.0, NOON_S - 60: 9.0})
    found = CloudWatchHistory(clients.cloudwatch).history([SENT], NOON_S - 600, NOON_S, 300)
    assert found == {SENT: {NOON_S - 600: 12.0, NOON_S - 300: 9.0}}


def test_a_queue_is_asked_for_in_its_own_region(clients: AwsClients) -> None:
    far = Metric("https://sqs.us-east-2.amazonaws.com/123456789012/mail", "NumberOfMessagesSent", "Sum")
    put(clients, far, {NOON_S - 60: 4.0}, region="us-east-2")
    found = CloudWatchHistory(clients.cloudwatch).history([SENT, far], NOON_S - 600, NOON_S, 60)
    assert found == {SENT: {}, far: {NOON_S - 60: 4.0}}


def test_pages_are_put_together(clients: AwsClients) -> None:
    found = answered(
        clients,
        {"MetricDataResults": [result(0, "PartialData", [(NOON_S - 120, 1.0)])], "NextToken": "more"},
        {
            "MetricDataResults": [
                result(0, "Complete", [(NOON_S - 60, 2.0)]),
                result(1, "Complete", [(NOON_S - 60, 8.0)]),
            ]
        },
    )
    assert found == {SENT: {NOON_S - 120: 1.0, NOON_S - 60: 2.0}, AGE: {NOON_S - 60: 8.0}}


def test_pages_are_kept_small_enough_to_be_answered_in_time(clients: AwsClients) -> None:
    client = clients.cloudwatch(REGION)
    asked: list[dict[str, Any]] = []
    client.meta.events.register(
        "provide-client-params.cloudwatch.GetMetricData", lambda params, **_: asked.append(params)
    )
    CloudWatchHistory(lambda _: client).history([SENT], NOON_S - HOUR_S, NOON_S, 60)
    (params,) = asked
    assert params["MaxDatapoints"] == VALUES_PER_PAGE
    assert params["EndTime"] - params["StartTime"] == timedelta(hours=1)
    assert params["StartTime"] == utc(NOON_S - HOUR_S)


@pytest.mark.parametrize(
    ("status", "error"), [("Forbidden", Denied), ("InternalError", Unreachable), ("PartialData", Unreachable)]
)
def test_half_a_past_is_none(clients: AwsClients, status: str, error: type[Exception]) -> None:
    page = {"MetricDataResults": [result(0, "Complete", [(NOON_S - 60, 2.0)]), result(1, status)]}
    with pytest.raises(error, match="cloudwatch:GetMetricData on AWS/SQS"):
        answered(clients, page)
