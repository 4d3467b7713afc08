"""Queue counts and settings, as the controller reads them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.aws.queues import queue_address, url_request
from tidegate.errors import Gone
from tidegate.ports import QueueCounts

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.literals import QueueAttributeNameType

__all__ = ["SqsQueueReader"]

_COUNTS: Final[tuple["QueueAttributeNameType", ...]] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class SqsQueueReader:
    """Implements `ports.QueueReader` on GetQueueAttributes.

    `client_in` gives the SQS client of a Region (None: the default one), such as `AwsClients.sqs`. A queue given as
    name or ARN is looked up by GetQueueUrl once, and again after it was Gone. IAM: sqs:GetQueueAttributes,
    sqs:GetQueueUrl.
    """

    def __init__(self, client_in: "Callable[[str | None], SQSClient]") -> None:
        self._client_in = client_in
        self._urls: dict[str, str] = {}

    def counts(self, queue: str) -> QueueCounts:
        """Raises Gone when the queue does not exist, Denied, Throttled, Unreachable, Invalid."""
        return QueueCounts(*self._numbers(queue, _COUNTS))

    def visibility_timeout_s(self, queue: str) -> int:
        """The queue's own default, for checking settings against it. Raises as `counts`."""
        (timeout_s,) = self._numbers(queue, ("VisibilityTimeout",))
        return timeout_s

    def _numbers(self, queue: str, names: "Sequence[QueueAttributeNameType]") -> list[int]:
        client = self._client_in(queue_address(queue).region)
        url = self._url(client, queue)
        try:
            with calling("sqs:GetQueueAttributes", queue):
                found = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
                return [int(found[name]) for name in names]
        except Gone:
            self._urls.pop(queue, None)  # a queue that is made again may get another URL
            raise

    def _url(self, client: "SQSClient", queue: str) -> str:
        address = queue_address(queue)
        known = address.url or self._urls.get(queue)
        if known is None:
            with calling("sqs:GetQueueUrl", queue):
                known = self._urls[queue] = client.get_queue_url(**url_request(address))["QueueUrl"]
        return known
