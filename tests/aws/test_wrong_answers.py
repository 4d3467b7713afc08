"""The controller's adapters at an endpoint that is not AWS: Unreachable, and never "nothing there"."""

from collections.abc import Callable

import pytest

from tests.aws.moto_cloud import use_test_account
from tests.aws.wrong_answers import WRONG_ANSWERS, always
from tidegate.aws.asg import AutoScalingGroup
from tidegate.aws.clients import AwsClients
from tidegate.aws.cloudwatch import CloudWatchMetrics
from tidegate.aws.dynamodb import DynamoFleetTable
from tidegate.aws.ecs import EcsService
from tidegate.aws.sqs import SqsQueueReader
from tidegate.errors import Unreachable
from tidegate.ports import Metric

pytestmark = pytest.mark.integration

URL = "https://sqs.us-east-1.amazonaws.com/000000000000/orders"
AGE = Metric("orders", "ApproximateAgeOfOldestMessage", "Maximum")
READS: dict[str, Callable[[AwsClients], object]] = {
    "counts": lambda clients: SqsQueueReader(clients.sqs).counts(URL),
    "look-up": lambda clients: SqsQueueReader(clients.sqs).counts("orders"),
    "visibility timeout": lambda clients: SqsQueueReader(clients.sqs).visibility_timeout_s(URL),
    "metrics": lambda clients: CloudWatchMetrics(clients.cloudwatch).latest([AGE], 6000.0),
    "service": lambda clients: EcsService(clients.ecs(), "prod", "orders", lambda: 0.0).read(),
    "group": lambda clients: AutoScalingGroup(clients.autoscaling(), "orders", lambda: 0.0).read(),
    "reports": lambda clients: DynamoFleetTable(clients.dynamodb(), "fleet").workers("orders", 0.0),
    "state": lambda clients: DynamoFleetTable(clients.dynamodb(), "fleet").load("orders"),
}
EMPTY = {"an empty object": ("application/x-amz-json-1.0", b"{}")}
CASES = [
    pytest.param(read, answer, id=f"{name}, {what}")
    for what, answer in (WRONG_ANSWERS | EMPTY).items()
    for name, read in READS.items()
    if (name, what) != ("state", "an empty object")  # which is how DynamoDB says that there is no such item
]


@pytest.mark.parametrize(("read", "answer"), CASES)
def test_an_answer_that_is_not_aws_s_is_unreachable(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[AwsClients], object], answer: tuple[str, bytes]
) -> None:
    use_test_account(monkeypatch)
    with always(*answer) as url, pytest.raises(Unreachable) as caught:
        read(AwsClients("us-east-1", endpoint_url=url))
    assert "check the endpoint" in str(caught.value)
    assert "secret" not in str(caught.value)
