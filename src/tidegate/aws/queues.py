"""A queue's notation for the adapters: what it says, with AWS's kind of error when it says nothing."""

from tidegate.core.notation.queues import QUEUE_FIX, QueueAddress, parse_queue
from tidegate.errors import Invalid

__all__ = ["queue_address", "queue_name", "url_request"]


def queue_address(queue: str) -> QueueAddress:
    """Take a URL, an ARN or a name apart. Raises Invalid when it is none of these."""
    address = parse_queue(queue)
    if address is None:
        raise Invalid("sqs:GetQueueUrl", repr(queue), "it is no queue", QUEUE_FIX)
    return address


def queue_name(queue: str) -> str:
    """The queue's bare name, which is what CloudWatch's QueueName dimension holds. Raises Invalid.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    return queue_address(queue).name


def url_request(address: QueueAddress) -> dict[str, str]:
    """GetQueueUrl's parameters: the account only where it is known, as it may be another's.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html
    """
    owner = {"QueueOwnerAWSAccountId": address.account} if address.account else {}
    return {"QueueName": address.name, **owner}
