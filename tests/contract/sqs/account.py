"""What the contract tests say in one word: make a queue, send, receive, what is the error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError
from types_boto3_sqs import SQSClient
from types_boto3_sqs.type_defs import MessageTypeDef

__all__ = ["Account", "code_of"]


@dataclass(frozen=True)
class Account:
    """One server through boto3. `prefix` begins the names of a test's own queues."""

    client: SQSClient
    url: str
    prefix: str

    def queue(self, name: str = "q", **attributes: Any) -> str:
        """The URL of a new queue."""
        wanted: Any = attributes
        return self.client.create_queue(QueueName=f"{self.prefix}-{name}", Attributes=wanted)["QueueUrl"]

    def fifo(self, name: str = "q", **attributes: Any) -> str:
        return self.queue(f"{name}.fifo", FifoQueue="true", **attributes)

    def arn(self, url: str) -> str:
        asked = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return asked["Attributes"]["QueueArn"]

    def send(self, url: str, *bodies: str, **params: Any) -> None:
        for body in bodies:
            self.client.send_message(QueueUrl=url, MessageBody=body, **params)

    def send_to_group(self, url: str, group: str, *bodies: str) -> None:
        for body in bodies:
            self.send(url, body, MessageGroupId=group, MessageDeduplicationId=f"{group}-{body}")

    def receive(self, url: str, **params: Any) -> Sequence[MessageTypeDef]:
        """Up to ten messages; params as ReceiveMessage has them."""
        return self.client.receive_message(QueueUrl=url, **{"MaxNumberOfMessages": 10, **params}).get("Messages", [])

    def bodies(self, url: str, **params: Any) -> list[str]:
        return [message["Body"] for message in self.receive(url, **params)]

    def one(self, url: str, **params: Any) -> MessageTypeDef:
        (message,) = self.receive(url, **{"MaxNumberOfMessages": 1, **params})
        return message

    def delete(self, url: str, message: MessageTypeDef) -> None:
        self.client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def extend(self, url: str, message: MessageTypeDef, timeout_s: int) -> None:
        self.client.change_message_visibility(
            QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=timeout_s
        )

    def counts(self, url: str) -> tuple[int, int, int]:
        """Visible, in flight, delayed."""
        names: Any = (
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        )
        found: Any = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        visible, in_flight, delayed = (int(found[name]) for name in names)
        return visible, in_flight, delayed

    def let_pass(self, seconds: int) -> None:
        """Let the server's own time pass: a long poll of a queue that stays empty."""
        empty = self.queue("empty")
        assert self.receive(empty, WaitTimeSeconds=seconds) == []


def code_of(error: ClientError) -> str:
    """The error's name in SQS's model, whatever prefix the older protocol puts before it."""
    return error.response["Error"]["Code"].rpartition(".")[2]
