"""CloudWatch's last complete minutes, many series in one call.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html: up to 500 queries a call, the
start inclusive, the end exclusive. No metric math: every series is asked for as it is published.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.aws.queues import queue_address
from tidegate.core.absence import Absence, absence_of
from tidegate.core.observation import Reading
from tidegate.errors import CloudError
from tidegate.ports import Metric

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricDataResultTypeDef

__all__ = ["LOOK_BACK_S", "QUERIES_PER_CALL", "CloudWatchMetrics", "batches", "query"]

QUERIES_PER_CALL: Final = 500
LOOK_BACK_S: Final = 900
"""A queue that wakes up shows its metrics up to 15 minutes late; older minutes say nothing about now.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
"""

_MINUTE_S: Final = 60


@dataclass(slots=True)
class _Series:
    """What the pages of an answer said about one query so far."""

    newest: tuple[datetime, float] | None = None
    troubles: list[str] = field(default_factory=list)
    status: str = "Complete"


class CloudWatchMetrics:
    """Implements `ports.MetricsReader` on GetMetricData.

    `client_in` gives the CloudWatch client of a Region (None: the default one), such as `AwsClients.cloudwatch`.
    IAM: cloudwatch:GetMetricData.
    """

    def __init__(self, client_in: "Callable[[str | None], CloudWatchClient]") -> None:
        self._client_in = client_in

    def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
        """Each metric's newest complete minute within `LOOK_BACK_S`; without one, a Reading that says why.

        Raises as every port does when no call succeeds. When only some do (one Region of several is denied), the
        series of the others get Readings with the absence that fits.
        """
        readings: dict[Metric, Reading] = {}
        failures: list[CloudError] = []
        calls = 0
        for region, batch in batches(metrics):
            calls += 1
            try:
                readings |= self._read(region, batch, now_s)
            except CloudError as error:
                failures.append(error)
                readings |= {metric: Reading(None, now_s, absence_of(error), str(error)) for metric in batch}
        if failures and len(failures) == calls:
            raise failures[0]
        return readings

    def _read(self, region: str | None, batch: Sequence[Metric], now_s: float) -> dict[Metric, Reading]:
        series = [_Series() for _ in batch]
        queries = [query(i, metric) for i, metric in enumerate(batch)]
        with calling("cloudwatch:GetMetricData", f"AWS/SQS in {region or 'the default Region'}"):
            for result in self._results(region, queries, now_s):
                _take_in(series[int(result["Id"][1:])], result)
        return {metric: _reading(one, now_s) for metric, one in zip(batch, series, strict=True)}

    def _results(
        self, region: str | None, queries: "list[MetricDataQueryTypeDef]", now_s: float
    ) -> "Iterator[MetricDataResultTypeDef]":
        end_s = now_s // _MINUTE_S * _MINUTE_S
        client = self._client_in(region)
        pages = client.get_paginator("get_metric_data").paginate(
            MetricDataQueries=queries,
            StartTime=datetime.fromtimestamp(end_s - LOOK_BACK_S, UTC),
            EndTime=datetime.fromtimestamp(end_s, UTC),
            ScanBy="TimestampDescending",
        )
        for page in pages:
            yield from page["MetricDataResults"]


def batches(metrics: Sequence[Metric]) -> Iterator[tuple[str | None, list[Metric]]]:
    """(Region, up to 500 metrics of it); a metric that is asked for twice is read once."""
    by_region: defaultdict[str | None, list[Metric]] = defaultdict(list)
    for metric in dict.fromkeys(metrics):
        by_region[queue_address(metric.queue).region].append(metric)
    for region, group in by_region.items():
        for start in range(0, len(group), QUERIES_PER_CALL):
            yield region, group[start : start + QUERIES_PER_CALL]


def query(index: int, metric: Metric, period_s: int = _MINUTE_S) -> "MetricDataQueryTypeDef":
    """GetMetricData's wording of one series; its answers carry the id m`index`."""
    name = queue_address(metric.queue).name
    return {
        "Id": f"m{index}",
        "MetricStat": {
            "Metric": {
                "Namespace": "AWS/SQS",
                "MetricName": metric.name,
                "Dimensions": [{"Name": "QueueName", "Value": name}],
            },
            "Period": period_s,
            "Stat": metric.statistic,
        },
        "ReturnData": True,
    }


def _take_in(series: _Series, result: "MetricDataResultTypeDef") -> None:
    """The pages of one answer may each hold a part of a series, in any order."""
    points = [*zip(result.get("Timestamps", []), result.get("Values", []), strict=True)]
    if points:
        series.newest = max([*points, *([series.newest] if series.newest else [])])
    series.status = result.get("StatusCode", "Complete")
    series.troubles += [message.get("Value", "") for message in result.get("Messages", [])]


def _reading(series: _Series, now_s: float) -> Reading:
    if series.newest is not None:
        stamp, value = series.newest
        return Reading(value, stamp.timestamp() + _MINUTE_S)
    detail = " ".join([series.status, *filter(None, series.troubles)])
    if series.status == "Forbidden":
        return Reading(None, now_s, Absence.DENIED, f"{detail}: allow cloudwatch:GetMetricData")
    if series.status in ("InternalError", "PartialData"):
        return Reading(None, now_s, Absence.UNREACHABLE, detail)
    return Reading(None, now_s, Absence.MISSING, f"no data in the last {LOOK_BACK_S // _MINUTE_S} minutes")
