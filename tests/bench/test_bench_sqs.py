"""Ours against moto's, in one run: how fast a full queue is drained, and whether its size matters."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import boto3
import pytest
from botocore.config import Config
from types_boto3_sqs import SQSClient

from tests.contract.sqs import servers

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

QUEUED = 3_000
SAMPLED = 300
"""moto rescans its queue at every call: a whole drain takes minutes, so only its first 300 messages are timed."""
LEAST_RATIO = 20


@pytest.fixture
def clients() -> Iterator[dict[str, SQSClient]]:
    with ExitStack() as stack:
        urls = {"tidegate": stack.enter_context(servers.tidegate()), "moto": stack.enter_context(servers.moto())}
        made = {name: _client(url) for name, url in urls.items()}
        yield made
        for client in made.values():
            client.close()


def _client(url: str) -> SQSClient:
    return boto3.client(
        "sqs",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="bench",
        aws_secret_access_key="bench",
        config=Config(retries={"total_max_attempts": 1}),
    )


def say(text: str) -> None:
    """`make bench` is read by people: the figures are its result."""
    sys.stdout.write(f"\n{text}")


def fill(client: SQSClient, url: str, count: int) -> float:
    """Send `count` messages in batches of ten; messages per second."""
    began_s = time.perf_counter()
    for first in range(0, count, 10):
        entries: Any = [{"Id": str(place), "MessageBody": f"message {first + place}"} for place in range(10)]
        client.send_message_batch(QueueUrl=url, Entries=entries)
    return count / (time.perf_counter() - began_s)


def drain(client: SQSClient, url: str, count: int) -> float:
    """Receive and delete `count` messages in tens; messages per second."""
    done = 0
    began_s = time.perf_counter()
    while done < count:
        messages = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
        entries: Any = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
        client.delete_message_batch(QueueUrl=url, Entries=entries)
        done += len(messages)
    return done / (time.perf_counter() - began_s)


def test_a_full_queue_drains_at_least_twenty_times_as_fast_as_at_moto(clients: dict[str, SQSClient]) -> None:
    queues = {name: client.create_queue(QueueName="bench")["QueueUrl"] for name, client in clients.items()}
    sent = {name: fill(client, queues[name], QUEUED) for name, client in clients.items()}
    drained = {
        "moto": drain(clients["moto"], queues["moto"], SAMPLED),
        "tidegate": drain(clients["tidegate"], queues["tidegate"], QUEUED),
    }
    ratio = drained["tidegate"] / drained["moto"]
    for name, rate_per_s in drained.items():
        say(f"{name}: sends {sent[name]:.0f}/s, drains {rate_per_s:.0f}/s")
    say(f"ratio of the drains: {ratio:.0f} (at least {LEAST_RATIO} asked)")
    assert ratio >= LEAST_RATIO


def test_a_hundred_thousand_queued_messages_hardly_slow_a_call(clients: dict[str, SQSClient]) -> None:
    """Sends and drains the same 2,000 messages from a nearly empty and from a very full queue."""
    client = clients["tidegate"]
    rates_per_s = {}
    for size in (2_000, 100_000):
        url = client.create_queue(QueueName=f"bench-{size}")["QueueUrl"]
        fill(client, url, size - 2_000)
        rates_per_s[size] = (fill(client, url, 2_000), drain(client, url, 2_000))
        say(f"{size} queued: sends {rates_per_s[size][0]:.0f}/s, drains {rates_per_s[size][1]:.0f}/s")
    small, large = rates_per_s[2_000], rates_per_s[100_000]
    assert large[0] >= small[0] / 2
    assert large[1] >= small[1] / 2
