"""The one grammar of queues: what a notation says, and what is no queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.notation.queues import QueueAddress, parse_queue

LONGEST = "a" * 75


@pytest.mark.parametrize(
    ("queue", "name", "region", "account"),
    [
        ("mail", "mail", None, None),
        ("mail.fifo", "mail.fifo", None, None),
        ("a" * 80, "a" * 80, None, None),
        (LONGEST + ".fifo", LONGEST + ".fifo", None, None),
        ("arn:aws:sqs:eu-west-1:111122223333:mail", "mail", "eu-west-1", "111122223333"),
        ("arn:aws-cn:sqs:cn-north-1:111122223333:mail.fifo", "mail.fifo", "cn-north-1", "111122223333"),
        ("https://sqs.eu-west-1.amazonaws.com/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("HTTPS://SQS.EU-WEST-1.amazonaws.com:443/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://sqs.cn-north-1.amazonaws.com.cn/111122223333/mail", "mail", "cn-north-1", "111122223333"),
        ("https://sqs-fips.us-gov-west-1.amazonaws.com/111122223333/mail", "mail", "us-gov-west-1", "111122223333"),
        ("https://sqs.eu-west-1.api.aws/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://vpce-1a2b.sqs.eu-west-1.vpce.amazonaws.com/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://eu-west-1.queue.amazonaws.com/111122223333/mail", "mail", "eu-west-1", "111122223333"),
        ("https://queue.amazonaws.com/111122223333/mail", "mail", "us-east-1", "111122223333"),
        ("http://sqs.eu-west-1.localhost.localstack.cloud:4566/000000000000/mail", "mail", "eu-west-1", "000000000000"),
        ("http://127.0.0.1:4566/000000000000/mail", "mail", None, "000000000000"),
        ("http://user:secret@127.0.0.1:4566/000000000000/mail", "mail", None, "000000000000"),
        ("http://localhost:9324/queue/mail", "mail", None, None),
        ("http://localhost:9324/mail", "mail", None, None),
        ("http://localhost:65535/mail", "mail", None, None),
        ("http://my_sqs.:00080/mail", "mail", None, None),
        ("http://[::1]:9324/mail", "mail", None, None),
        ("http://[fe80::1]/mail", "mail", None, None),
        ("http://sqs.example.org/mail", "mail", None, None),
    ],
)
def test_url_arn_and_name_are_understood(queue: str, name: str, region: str | None, account: str | None) -> None:
    """Endpoints' names: docs.aws.amazon.com/general/latest/gr/sqs-service.html"""
    assert parse_queue(queue) == QueueAddress(name, region, account, queue if "://" in queue else None)


@pytest.mark.parametrize(
    "queue",
    [
        "",
        "two words",
        "a" * 81,
        "a" + LONGEST + ".fifo",
        "a.b",
        ".fifo",
        "a\n",
        "ордера",
        "arn:aws:s3:::bucket",
        "arn:aws:sns:eu-west-1:111122223333:mail",
        "arn:aws:sqs:eu-west-1:mail",
        "arn:aws:sqs:eu-west-1:1234:mail",
        "arn:aws:sqs:eu-west-1:111122223333:",
        "arn:aws:sqs:eu-west-1:111122223333:my mail",
        "arn:aws:sqs:eu-west-1:111122223333:mail:extra",
        "https://sqs/",
        "https://sqs",
        "https://sqs.eu-west-1.amazonaws.com/111122223333/mail/",
        "https://sqs.eu-west-1.amazonaws.com/111122223333/my mail",
        "https://sqs.eu-west-1.amazonaws.com/111122223333/mail?Action=DeleteQueue",
        "https://sqs.eu-west-1.amazonaws.com/111122223333/mail#x",
        "ftp://host/mail",
        "://host/mail",
        *(
            f"http://{host}/111122223333/mail"
            for host in (
                "host:65536",
                "host:99999999",
                "host:0",
                "host:",
                "host:http",
                "host:\u0663",
                "host:80:90",
                ":80",
                "-host|",
                "h\u00f6st",
                "host..org",
                ".host",
                "[::1",
                "[host]",
                "::1",
                "a" * 64,
                ".".join(["a" * 63] * 5),
            )
        ),
    ],
)
def test_what_is_no_queue_is_none(queue: str) -> None:
    """80 characters: letters, digits, - and _; a FIFO queue's name ends in .fifo.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
    """
    assert parse_queue(queue) is None


NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,75}(\.fifo)?", fullmatch=True)


@given(NAMES)
def test_every_name_that_sqs_allows_says_the_same_as_url_or_arn(name: str) -> None:
    """docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html"""
    url = f"https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com/111122223333/{name}"
    assert parse_queue(name) == QueueAddress(name)
    assert parse_queue(url) == QueueAddress(name, "eu-west-1", "111122223333", url)
    assert parse_queue(f"arn:aws:sqs:eu-west-1:111122223333:{name}") == QueueAddress(name, "eu-west-1", "111122223333")


@given(st.text())
def test_no_text_breaks_it_and_what_it_takes_has_a_legal_name(text: str) -> None:
    for written in (text, f"arn:aws:sqs:eu-west-1:111122223333:{text}", f"https://host/{text}"):
        address = parse_queue(written)
        assert address is None or 0 < len(address.name) <= 80
