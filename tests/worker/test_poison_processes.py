"""One message that kills every process that runs it, real worker processes that are started again, one fleet."""

import subprocess
from pathlib import Path

import boto3
import pytest

from tests.worker.test_process import Queue, Start, queue, start  # noqa: F401  fixtures

pytestmark = pytest.mark.integration


class Fleet:
    """Two workers; one that dies is replaced, as ECS does."""

    def __init__(self, begin: Start, state_dir: Path) -> None:
        self._begin = begin
        self._state_dir = str(state_dir)
        self.deaths: list[int] = []
        self.workers = [self._one(), self._one()]

    def _one(self) -> "subprocess.Popen[str]":
        return self._begin(
            "dies_of_poison", slots="4", state_dir=self._state_dir, heartbeat="1", visibility_timeout="2"
        )

    def replace_the_dead(self) -> None:
        for place, worker in enumerate(self.workers):
            code = worker.poll()
            if code is not None:
                self.deaths.append(code)
                self.workers[place] = self._one()

    def stop(self) -> list[int]:
        for worker in self.workers:
            worker.terminate()
        return [worker.wait(timeout=20) for worker in self.workers]


@pytest.fixture
def dead_letters(queue: Queue) -> str:  # noqa: F811
    """The URL of the queue's dead-letter queue; SQS itself would put a message there after a hundred receives."""
    sqs = boto3.client(
        "sqs",
        endpoint_url=queue.server.url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    url = sqs.create_queue(QueueName="dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = f'{{"deadLetterTargetArn": "{arn}", "maxReceiveCount": 100}}'
    sqs.set_queue_attributes(QueueUrl=queue.url, Attributes={"RedrivePolicy": policy})
    sqs.send_message(
        QueueUrl=queue.url,
        MessageBody="poison",
        MessageAttributes={"tenant": {"DataType": "String", "StringValue": "t1"}},
    )
    return url


def test_one_bad_message_costs_two_workers_and_every_other_message_is_done(
    queue: Queue,  # noqa: F811
    start: Start,  # noqa: F811
    dead_letters: str,
    tmp_path: Path,
) -> None:
    sqs = queue._sqs
    bodies = [f"b{i}" for i in range(20)]
    queue.send(*bodies)
    fleet = Fleet(start, tmp_path)
    found: list[dict[str, object]] = []
    while not found:
        answer = sqs.receive_message(QueueUrl=dead_letters, WaitTimeSeconds=1, MessageAttributeNames=["All"])
        found = [dict(message) for message in answer.get("Messages", [])]
        fleet.replace_the_dead()
    assert fleet.deaths == [139, 139]
    (letter,) = found
    assert letter["Body"] == "poison"
    attributes = letter["MessageAttributes"]
    assert isinstance(attributes, dict)
    assert attributes["tenant"]["StringValue"] == "t1"
    assert "which never came to its end: it kills workers" in attributes["tidegate.reason"]["StringValue"]
    while queue.counts() != (0, 0):  # the endpoint is asked: what died with the first worker comes back after its lease
        sqs.receive_message(QueueUrl=dead_letters, WaitTimeSeconds=1)
    assert fleet.stop() == [0, 0]
