"""GetMetricData's questions: which series are asked for together, and how each is worded.

A queue's metrics lie in its own Region and account. Another account's are read by its id
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDataQuery.html), once it shares them with
this one by CloudWatch cross-account observability
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Unified-Cross-Account.html).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidegate.aws.queues import queue_address
from tidegate.ports import Metric

if TYPE_CHECKING:
    from types_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef

__all__ = ["QUERIES_PER_CALL", "Place", "batches", "query"]

QUERIES_PER_CALL: Final = 500
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html"""

_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Place:
    """Where series lie: their Region (None: the default one), and their account where that is not one's own."""

    region: str | None
    account: str | None = None

    def __str__(self) -> str:
        whose = f"account {self.account} in " if self.account else ""
        return f"{whose}{self.region or 'the default Region'}"


def batches(metrics: Sequence[Metric], home: str | None) -> Iterator[tuple[Place, list[Metric]]]:
    """(place, up to 500 metrics of it); a metric that is asked for twice is read once.

    `home` is one's own account. Without it no other can be told from it, and all are asked for as one's own. Each other
    account is asked by itself, so that one that shares nothing takes nothing from the others.
    """
    by_place: defaultdict[Place, list[Metric]] = defaultdict(list)
    for metric in dict.fromkeys(metrics):
        address = queue_address(metric.queue)
        foreign = home is not None and address.account not in (None, home)
        by_place[Place(address.region, address.account if foreign else None)].append(metric)
    for place, group in by_place.items():
        for start in range(0, len(group), QUERIES_PER_CALL):
            yield place, group[start : start + QUERIES_PER_CALL]


def query(index: int, metric: Metric, place: Place, period_s: int = _MINUTE_S) -> "MetricDataQueryTypeDef":
    """GetMetricData's wording of one series; its answers carry the id m`index`."""
    name = queue_address(metric.queue).name
    worded: MetricDataQueryTypeDef = {
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
    return worded if place.account is None else {**worded, "AccountId": place.account}
