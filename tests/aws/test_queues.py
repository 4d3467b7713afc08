"""What a queue's notation says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.aws.queues import QueueAddress, queue_address, queue_name
from tidegate.errors import Invalid


@pytest.mark.parametrize(
    ("queue", "name", "region", "account"),
    [
        ("mail", "mail", None, None),
        ("mail.fifo", "mail.fifo", None, None),
        ("arn:aws:sqs:eu-west-1:111122223333:mail", "mail", "eu-west-1", "111122223333"),
        ("arn:aws-cn:sqs:cn-north-1:111122223333:mail.fifo", "mail.fifo", "cn-north-1", "111122223333"),
        ("https://sqs.eu-west-1.amazonaws.com/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://sqs.cn-north-1.amazonaws.com.cn/111122223333/mail", "mail", "cn-north-1", "111122223333"),
        ("https://sqs-fips.us-gov-west-1.amazonaws.com/111122223333/mail", "mail", "us-gov-west-1", "111122223333"),
        ("https://sqs.eu-west-1.api.aws/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://vpce-1a2b.sqs.eu-west-1.vpce.amazonaws.com/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://eu-west-1.queue.amazonaws.com/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://queue.amazonaws.com/111122223333/mail", "mail", "us-east-1", "111122223333"),
        ("http://127.0.0.1:4566/000000000000/mail", "mail", None, "000000000000"),
        ("http://localhost:9324/mail", "mail", None, None),
    ],
)
def test_url_arn_and_name_are_understood(queue: str, name: str, region: str | None, account: str | None) -> None:
    """Endpoints' names: docs.aws.amazon.com/general/latest/gr/sqs-service.html"""
    url = queue if "://" in queue else None
    assert queue_address(queue) == QueueAddress(name, region, account, url)
    assert queue_name(queue) == name


@pytest.mark.parametrize(
    "queue",
    [
        "",
        "two words",
        "a" * 81,
        "a.b",
        ".fifo",
        "arn:aws:s3:::bucket",
        "arn:aws:sqs:eu-west-1:mail",
        "https://sqs/",
        "a\n",
    ],
)
def test_what_is_no_queue_is_refused_and_the_ways_to_write_one_are_named(queue: str) -> None:
    with pytest.raises(Invalid, match=r"write the queue's URL, its ARN \(arn:aws:sqs:.*\) or its name"):
        queue_address(queue)


@given(st.from_regex(r"[A-Za-z0-9_-]{1,75}(\.fifo)?", fullmatch=True))
def test_every_name_that_sqs_allows_survives_being_written_as_url_or_arn(name: str) -> None:
    """docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html"""
    assert queue_name(name) == name
    assert queue_name(f"https://sqs.eu-west-1.amazonaws.com/111122223333/{name}") == name
    assert queue_name(f"arn:aws:sqs:eu-west-1:111122223333:{name}") == name
