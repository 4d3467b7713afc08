"""Metrics of ours into CloudWatch, by PutMetricData."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.errors import CloudError
from tidegate.ports import Datum

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_cloudwatch.type_defs import MetricDatumTypeDef

__all__ = ["DATA_PER_CALL", "CloudWatchWriter"]

DATA_PER_CALL: Final = 1000
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html"""


class CloudWatchWriter:
    """Implements `ports.MetricsWriter`. IAM: cloudwatch:PutMetricData. `calls` counts what is billed.

    `client` gives the client when it is first needed: a controller that publishes nothing makes none.
    """

    def __init__(self, client: "Callable[[], CloudWatchClient]", namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self.calls = 0

    def put(self, data: Sequence[Datum]) -> None:
        """Every batch is tried. Raises the first error, when all have been."""
        failures: list[CloudError] = []
        for batch in _batches(data):
            self.calls += 1
            try:
                with calling("cloudwatch:PutMetricData", self._namespace):
                    self._client().put_metric_data(Namespace=self._namespace, MetricData=[*map(_entry, batch)])
            except CloudError as error:
                failures.append(error)
        if failures:
            raise failures[0]


def _batches(data: Sequence[Datum]) -> Iterator[Sequence[Datum]]:
    for start in range(0, len(data), DATA_PER_CALL):
        yield data[start : start + DATA_PER_CALL]


def _entry(datum: Datum) -> "MetricDatumTypeDef":
    return {
        "MetricName": datum.name,
        "Dimensions": [{"Name": "Pool", "Value": datum.pool}],
        "Timestamp": datetime.fromtimestamp(datum.at_s, UTC),
        "Unit": datum.unit,  # type: ignore[typeddict-item]  # the stubs list the units, and these are checked by a test
        "StatisticValues": {
            "SampleCount": datum.count,
            "Sum": datum.total,
            "Minimum": datum.least,
            "Maximum": datum.most,
        },
    }
