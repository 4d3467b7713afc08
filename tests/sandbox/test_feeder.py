"""The feeder into CloudWatch, read back through its API as the controller reads it."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.sandbox.test_minutes import MINUTE, Sample
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.feeder import Feeder
from tidegate.sandbox.minutes import MinutesSettings
from tidegate.testing import FakeClock

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def cloudwatch(running_cloud: Cloud, session: boto3.Session) -> "CloudWatchClient":
    return session.client("cloudwatch", endpoint_url=running_cloud.url)


def points(client: "CloudWatchClient", metric: str, statistic: str, queue: str = "jobs") -> dict[float, float]:
    """Seconds from MINUTE to value, over five minutes before and after."""
    stat: Any = {
        "Metric": {
            "Namespace": "AWS/SQS",
            "MetricName": metric,
            "Dimensions": [{"Name": "QueueName", "Value": queue}],
        },
        "Period": 60,
        "Stat": statistic,
    }
    answer = client.get_metric_data(
        MetricDataQueries=[{"Id": "m", "MetricStat": stat}],
        StartTime=datetime.fromtimestamp(MINUTE - 300, UTC),
        EndTime=datetime.fromtimestamp(MINUTE + 300, UTC),
        ScanBy="TimestampAscending",
    )
    result = answer["MetricDataResults"][0]
    stamps = [stamp.timestamp() - MINUTE for stamp in result["Timestamps"]]
    return dict(zip(stamps, result["Values"], strict=True))


def test_metrics_are_in_cloudwatch_on_their_minute_and_not_before_the_lag_has_passed(
    cloud: Cloud, cloudwatch: "CloudWatchClient"
) -> None:
    clock, queues = FakeClock(MINUTE), {"jobs": Sample()}
    feeder = Feeder(lambda: queues, cloud.put_metric_data, clock, MinutesSettings(lag_s=20, history=0))
    for second in range(60):
        queues["jobs"] = Sample(visible=second, oldest_age_s=second / 2, sent=3 * second)
        feeder.step()
        clock.advance(1)
    feeder.step()
    clock.advance(19.5)
    feeder.step()
    assert points(cloudwatch, "NumberOfMessagesSent", "Sum") == {}
    clock.advance(0.5)
    feeder.step()
    assert points(cloudwatch, "NumberOfMessagesSent", "Sum") == {0: 177}
    visible = {stat: points(cloudwatch, "ApproximateNumberOfMessagesVisible", stat) for stat in ("Maximum", "Average")}
    assert visible["Maximum"] == {0: 59}
    assert visible["Average"][0] == pytest.approx(29.5)
    assert points(cloudwatch, "ApproximateAgeOfOldestMessage", "Maximum") == {0: 29.5}


def test_a_started_feeder_has_published_the_history_and_ends_without_a_trace(
    cloud: Cloud, cloudwatch: "CloudWatchClient"
) -> None:
    feeder = Feeder(
        lambda: {"jobs": Sample()}, cloud.put_metric_data, FakeClock(MINUTE + 30), MinutesSettings(0, history=4)
    )
    feeder.start()
    feeder.stop()
    filled = points(cloudwatch, "ApproximateNumberOfMessagesVisible", "Maximum")
    assert {stamp: value for stamp, value in filled.items() if stamp < 0} == dict.fromkeys([-240, -180, -120, -60], 0.0)


def test_a_snapshot_that_fails_is_raised_at_stop(cloud: Cloud) -> None:
    answers, asked = [{"jobs": Sample()}], threading.Event()

    def snapshot() -> Mapping[str, Sample]:
        if not answers:
            asked.set()
        return answers.pop()

    feeder = Feeder(snapshot, cloud.put_metric_data, FakeClock(MINUTE))
    feeder.start()
    assert asked.wait(10)
    with pytest.raises(IndexError, match="pop from empty list"):
        feeder.stop()
