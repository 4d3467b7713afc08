"""Counts of a real queue, however it is written down. The counts' names and meaning:
docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
"""

import pytest
from botocore.stub import Stubber

from tests.aws.moto_cloud import REGION
from tidegate.aws.clients import AwsClients
from tidegate.aws.sqs import SqsQueueReader
from tidegate.errors import Gone, Invalid
from tidegate.ports import QueueCounts


def make_queue(clients: AwsClients, name: str = "mail", region: str = REGION) -> str:
    return clients.sqs(region).create_queue(QueueName=name, Attributes={"VisibilityTimeout": "77"})["QueueUrl"]


def calls_of(clients: AwsClients) -> list[str]:
    """The names of the SQS operations called from here on."""
    called: list[str] = []
    events = clients.sqs(REGION).meta.events
    events.register("before-call.sqs", lambda model, **_: called.append(model.name))
    return called


def test_visible_in_flight_and_delayed_are_told_apart(clients: AwsClients) -> None:
    url, client = make_queue(clients), clients.sqs(REGION)
    for _ in range(5):
        client.send_message(QueueUrl=url, MessageBody="x")
    client.send_message(QueueUrl=url, MessageBody="later", DelaySeconds=900)
    client.receive_message(QueueUrl=url, MaxNumberOfMessages=2)
    assert SqsQueueReader(clients.sqs).counts(url) == QueueCounts(visible=3, in_flight=2, delayed=1)


@pytest.mark.parametrize("notation", ["{url}", "arn:aws:sqs:eu-west-1:123456789012:mail", "mail"])
def test_a_queue_is_found_by_url_arn_and_name(clients: AwsClients, notation: str) -> None:
    url = make_queue(clients)
    clients.sqs(REGION).send_message(QueueUrl=url, MessageBody="x")
    assert SqsQueueReader(clients.sqs).counts(notation.format(url=url)).visible == 1


@pytest.mark.parametrize(
    "notation",
    ["arn:aws:sqs:us-east-2:123456789012:mail", "https://sqs.us-east-2.amazonaws.com/123456789012/mail"],
)
def test_a_queue_is_asked_in_its_own_region(clients: AwsClients, notation: str) -> None:
    make_queue(clients)
    url = make_queue(clients, region="us-east-2")
    clients.sqs("us-east-2").send_message(QueueUrl=url, MessageBody="x")
    assert SqsQueueReader(clients.sqs).counts(notation).visible == 1


def test_an_arn_is_looked_up_in_the_account_that_it_names(clients: AwsClients) -> None:
    client = clients.sqs(REGION)
    with Stubber(client) as stub:
        stub.add_response(
            "get_queue_url",
            {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/999988887777/mail"},
            {"QueueName": "mail", "QueueOwnerAWSAccountId": "999988887777"},
        )
        stub.add_response(
            "get_queue_attributes",
            {"Attributes": {"VisibilityTimeout": "30"}},
            {
                "QueueUrl": "https://sqs.eu-west-1.amazonaws.com/999988887777/mail",
                "AttributeNames": ("VisibilityTimeout",),
            },
        )
        arn = "arn:aws:sqs:eu-west-1:999988887777:mail"
        assert SqsQueueReader(lambda _: client).visibility_timeout_s(arn) == 30


def test_a_name_is_looked_up_once(clients: AwsClients) -> None:
    make_queue(clients)
    reader, called = SqsQueueReader(clients.sqs), calls_of(clients)
    reader.counts("mail")
    reader.counts("mail")
    assert called == ["GetQueueUrl", "GetQueueAttributes", "GetQueueAttributes"]


def test_a_queue_that_was_deleted_is_gone_and_found_again_when_it_is_made_again(clients: AwsClients) -> None:
    url, reader = make_queue(clients), SqsQueueReader(clients.sqs)
    reader.counts("mail")
    clients.sqs(REGION).delete_queue(QueueUrl=url)
    with pytest.raises(Gone, match="sqs:GetQueueAttributes on mail found nothing"):
        reader.counts("mail")
    called = calls_of(clients)
    make_queue(clients)
    assert reader.counts("mail").visible == 0
    assert called == ["CreateQueue", "GetQueueUrl", "GetQueueAttributes"]


def test_the_visibility_timeout_is_the_queues_own(clients: AwsClients) -> None:
    assert SqsQueueReader(clients.sqs).visibility_timeout_s(make_queue(clients)) == 77


def test_what_is_no_queue_is_invalid_before_any_call(clients: AwsClients) -> None:
    called = calls_of(clients)
    with pytest.raises(Invalid):
        SqsQueueReader(clients.sqs).counts("no queue")
    assert called == []
