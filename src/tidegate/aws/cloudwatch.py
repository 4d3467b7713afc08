"""CloudWatch's last complete minutes, many series in one call.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html: up to 500 queries a call, the
start inclusive, the end exclusive. No metric math: every series is asked for as it is published.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.aws.metric_queries import Place, batches, query
from tidegate.core.absence import Absence, absence_of
from tidegate.core.observation import Reading
from tidegate.errors import CloudError, Denied, Invalid
from tidegate.ports import Metric

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricDataResultTypeDef

__all__ = ["LOOK_BACK_S", "CloudWatchMetrics"]

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

    `client_in` gives the CloudWatch client of a Region (None: the default one), such as `AwsClients.cloudwatch`. `home`
    is one's own account: a queue of another one is looked for there, and never mistaken for one's own of that name.
    IAM: cloudwatch:GetMetricData.
    """

    def __init__(self, client_in: "Callable[[str | None], CloudWatchClient]", home: str | None = None) -> None:
        self._client_in = client_in
        self._home = home

    def latest(self, metrics: Sequence[Metric], now_s: float) -> Mapping[Metric, Reading]:
        """Each metric's newest complete minute within `LOOK_BACK_S`; without one, a Reading that says why.

        Raises as every port does when no call succeeds. When only some do (one Region of several is denied), the
        series of the others get Readings with the absence that fits. Another account that shares nothing is no failure:
        its series are UNSEEN.
        """
        readings: dict[Metric, Reading] = {}
        failures: list[CloudError] = []
        calls = 0
        for place, batch in batches(metrics, self._home):
            calls += 1
            try:
                readings |= self._read(place, batch, now_s)
            except CloudError as error:
                absent = _absent(place, error, now_s)
                failures += [] if absent.absence is Absence.UNSEEN else [error]
                readings |= dict.fromkeys(batch, absent)
        if failures and len(failures) == calls:
            raise failures[0]
        return readings

    def _read(self, place: Place, batch: Sequence[Metric], now_s: float) -> dict[Metric, Reading]:
        series = [_Series() for _ in batch]
        queries = [query(i, metric, place) for i, metric in enumerate(batch)]
        with calling("cloudwatch:GetMetricData", f"AWS/SQS of {place}" if place.account else f"AWS/SQS in {place}"):
            for result in self._results(place.region, queries, now_s):
                _take_in(series[int(result["Id"][1:])], result)
        return {metric: _reading(one, place, now_s) for metric, one in zip(batch, series, strict=True)}

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


def _take_in(series: _Series, result: "MetricDataResultTypeDef") -> None:
    """The pages of one answer may each hold a part of a series, in any order."""
    points = [*zip(result.get("Timestamps", []), result.get("Values", []), strict=True)]
    if points:
        series.newest = max([*points, *([series.newest] if series.newest else [])])
    series.status = result.get("StatusCode", "Complete")
    series.troubles += [message.get("Value", "") for message in result.get("Messages", [])]


def _reading(series: _Series, place: Place, now_s: float) -> Reading:
    if series.newest is not None:
        stamp, value = series.newest
        return Reading(value, stamp.timestamp() + _MINUTE_S)
    detail = " ".join([series.status, *filter(None, series.troubles)])
    if series.status == "Forbidden" and place.account is not None:
        return _unseen(place, detail, now_s)
    if series.status == "Forbidden":
        return Reading(None, now_s, Absence.DENIED, f"{detail}: allow cloudwatch:GetMetricData")
    if series.status in ("InternalError", "PartialData"):
        return Reading(None, now_s, Absence.UNREACHABLE, detail)
    none = f"no data in the last {LOOK_BACK_S // _MINUTE_S} minutes"
    return Reading(None, now_s, Absence.MISSING, none) if place.account is None else _unseen(place, none, now_s)


def _absent(place: Place, error: CloudError, now_s: float) -> Reading:
    """What CloudWatch says of an account that shares nothing is not documented: either kind of refusal is taken so."""
    if place.account is not None and isinstance(error, Denied | Invalid):
        return _unseen(place, error.detail, now_s)
    return Reading(None, now_s, absence_of(error), str(error))


def _unseen(place: Place, why: str, now_s: float) -> Reading:
    fix = "unless the queue is idle, that account has to share them: docs/deploy.md"
    return Reading(None, now_s, Absence.UNSEEN, f"metrics of {place} are not seen ({why}); {fix}")
