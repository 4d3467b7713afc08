"""CloudWatch's past: whole series over days, page by page.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html: 60 s periods are kept for 15
days, 300 s periods for 63; a page holds up to 100,800 values.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.aws.metric_queries import Place, batches, query
from tidegate.errors import Denied, Unreachable
from tidegate.ports import Metric

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_cloudwatch.type_defs import MetricDataResultTypeDef

__all__ = ["VALUES_PER_PAGE", "CloudWatchHistory"]

VALUES_PER_PAGE: Final = 20_000
"""Fewer than CloudWatch would give: each page is then answered within the client's time limit."""

_OPERATION: Final = "cloudwatch:GetMetricData"


class CloudWatchHistory:
    """Implements `ports.MetricHistory` on GetMetricData.

    `client_in` and `home` are as of `CloudWatchMetrics`. IAM: cloudwatch:GetMetricData.
    """

    def __init__(self, client_in: "Callable[[str | None], CloudWatchClient]", home: str | None = None) -> None:
        self._client_in = client_in
        self._home = home

    def history(
        self, metrics: Sequence[Metric], begin_s: float, end_s: float, period_s: int
    ) -> Mapping[Metric, Mapping[float, float]]:
        """As the port says: Denied also when a single series is refused, Unreachable when one came in part only."""
        found: defaultdict[Metric, dict[float, float]] = defaultdict(dict)
        for place, batch in batches(metrics, self._home):
            where = f"AWS/SQS of {place}" if place.account else f"AWS/SQS in {place}"
            status: dict[int, str] = {}
            with calling(_OPERATION, where):
                for result in self._results(place, batch, begin_s, end_s, period_s):
                    index = int(result["Id"][1:])
                    status[index] = result.get("StatusCode", "Complete")
                    points = zip(result.get("Timestamps", []), result.get("Values", []), strict=True)
                    found[batch[index]].update((stamp.timestamp(), value) for stamp, value in points)
            _check(status, where)
        return {metric: dict(sorted(found[metric].items())) for metric in metrics}

    def _results(
        self, place: Place, batch: Sequence[Metric], begin_s: float, end_s: float, period_s: int
    ) -> "Iterator[MetricDataResultTypeDef]":
        pages = (
            self._client_in(place.region)
            .get_paginator("get_metric_data")
            .paginate(
                MetricDataQueries=[query(i, metric, place, period_s) for i, metric in enumerate(batch)],
                StartTime=datetime.fromtimestamp(begin_s, UTC),
                EndTime=datetime.fromtimestamp(end_s, UTC),
                ScanBy="TimestampAscending",
                PaginationConfig={"PageSize": VALUES_PER_PAGE},
            )
        )
        for page in pages:
            yield from page["MetricDataResults"]


def _check(status: Mapping[int, str], where: str) -> None:
    """By each series' last page: PartialData on an earlier one only means that more was to come."""
    said = set(status.values())
    if "Forbidden" in said:
        raise Denied(_OPERATION, where, "Forbidden", "allow cloudwatch:GetMetricData to whoever runs this")
    if said & {"InternalError", "PartialData"}:
        raise Unreachable(_OPERATION, where, ", ".join(sorted(said)), "try again in a minute")
