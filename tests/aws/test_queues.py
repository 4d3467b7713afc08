"""What the adapters make of a queue's notation; the grammar itself is tested in tests/core/notation/test_queues.py."""

import pytest

from tidegate.aws.queues import queue_address, queue_name, url_request
from tidegate.core.notation.queues import QueueAddress
from tidegate.errors import Invalid

ARN = "arn:aws:sqs:eu-west-1:111122223333:mail"


@pytest.mark.parametrize("queue", ["mail", ARN, "https://sqs.eu-west-1.amazonaws.com/111122223333/mail"])
def test_the_name_is_the_same_in_every_notation(queue: str) -> None:
    assert queue_name(queue) == queue_address(queue).name == "mail"


@pytest.mark.parametrize("queue", ["", "two words", "arn:aws:s3:::bucket"])
def test_what_is_no_queue_is_refused_and_the_ways_to_write_one_are_named(queue: str) -> None:
    with pytest.raises(Invalid, match=r"write the queue's name \(.*\), its ARN \(\"arn:aws:sqs:.*\"\) or its URL"):
        queue_address(queue)


@pytest.mark.parametrize(
    ("address", "request_"),
    [
        (QueueAddress("mail"), {"QueueName": "mail"}),
        (queue_address(ARN), {"QueueName": "mail", "QueueOwnerAWSAccountId": "111122223333"}),
    ],
)
def test_the_account_is_asked_for_where_it_is_known(address: QueueAddress, request_: dict[str, str]) -> None:
    assert url_request(address) == request_
