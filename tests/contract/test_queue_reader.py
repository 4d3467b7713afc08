"""What every reader of queues and metrics holds to: the fakes, and SQS and CloudWatch at moto."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.aws.moto_cloud import REGION
from tidegate.aws.clients import AwsClients
from tidegate.aws.cloudwatch import CloudWatchMetrics
from tidegate.aws.sqs import SqsQueueReader
from tidegate.core.absence import Absence
from tidegate.core.observation import Reading
from tidegate.errors import Gone
from tidegate.ports import Metric, MetricsReader, QueueCounts, QueueReader
from tidegate.testing import FakeMetricsReader, FakeQueueReader

MINUTE_S = 1_767_268_800.0
AGE = Metric("mail", "ApproximateAgeOfOldestMessage", "Maximum")
OTHER = Metric("post", "ApproximateAgeOfOldestMessage", "Maximum")


@pytest.fixture(params=["fake", "sqs"])
def reader(request: pytest.FixtureRequest, clients: AwsClients) -> Iterator[QueueReader]:
    """Of an account with one queue, "mail", that holds three messages, one of them in flight."""
    if request.param == "fake":
        yield FakeQueueReader({"mail": QueueCounts(visible=2, in_flight=1, delayed=0)})
        return
    sqs = clients.sqs(REGION)
    url = sqs.create_queue(QueueName="mail")["QueueUrl"]
    for _ in range(3):
        sqs.send_message(QueueUrl=url, MessageBody="x")
    sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)
    yield SqsQueueReader(clients.sqs)


@pytest.fixture(params=["fake", "cloudwatch"])
def metrics(request: pytest.FixtureRequest, clients: AwsClients) -> Iterator[MetricsReader]:
    """Of an account where "mail" was 12 s old in the minute that starts at MINUTE_S."""
    if request.param == "fake":
        yield FakeMetricsReader({AGE: Reading(12.0, MINUTE_S + 60)})
        return
    datum = {
        "MetricName": AGE.name,
        "Dimensions": [{"Name": "QueueName", "Value": "mail"}],
        "Timestamp": datetime.fromtimestamp(MINUTE_S, UTC),
        "Value": 12.0,
    }
    clients.cloudwatch(REGION).put_metric_data(Namespace="AWS/SQS", MetricData=[datum])  # type: ignore[list-item]  # a plain dict
    yield CloudWatchMetrics(clients.cloudwatch)


def test_a_queue_has_three_counts(reader: QueueReader) -> None:
    assert reader.counts("mail") == QueueCounts(visible=2, in_flight=1, delayed=0)


def test_a_queues_visibility_timeout_is_30_s_when_nobody_set_it(reader: QueueReader) -> None:
    """docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html"""
    assert reader.visibility_timeout_s("mail") == 30


def test_a_queue_that_does_not_exist_is_gone_never_empty(reader: QueueReader) -> None:
    with pytest.raises(Gone, match="on nowhere found nothing"):
        reader.counts("nowhere")
    with pytest.raises(Gone, match="on nowhere found nothing"):
        reader.visibility_timeout_s("nowhere")


def test_every_metric_asked_for_has_a_reading_and_one_without_data_is_missing(metrics: MetricsReader) -> None:
    readings = metrics.latest([AGE, OTHER], MINUTE_S + 75)
    assert set(readings) == {AGE, OTHER}
    assert readings[AGE] == Reading(12.0, MINUTE_S + 60)
    assert (readings[OTHER].value, readings[OTHER].absence) == (None, Absence.MISSING)
