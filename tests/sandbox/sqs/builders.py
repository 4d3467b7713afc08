"""Queues, messages and services as these tests need them: seeded, and at a time that the test says."""

import random
from collections.abc import Callable
from typing import Any

from tidegate.sandbox.sqs.digest import md5_of_text
from tidegate.sandbox.sqs.model import Draft, Observer, Unobserved
from tidegate.sandbox.sqs.queue import Limits, Queue
from tidegate.sandbox.sqs.service import Service
from tidegate.sandbox.sqs.settings import QueueSettings

START_S = 1_700_000_000.0


def a_queue(
    *, limits: Limits | None = None, observer: Observer | None = None, fifo: bool = False, **settings: Any
) -> Queue:
    name = "orders.fifo" if fifo else "orders"
    return Queue(
        name,
        f"arn:aws:sqs:us-east-1:000000000000:{name}",
        QueueSettings(fifo=fifo, **settings),
        rng=random.Random(7),
        observer=observer or Unobserved(),
        limits=limits or Limits(),
    )


def a_draft(body: str = "work", **fields: Any) -> Draft:
    return Draft(body=body, md5_of_body=md5_of_text(body), size_bytes=len(body), **fields)


def a_service(
    clock: Callable[[], float] = lambda: START_S,
    observer: Observer | None = None,
    touched: Callable[[Queue], None] = lambda queue: None,
    limits: Limits | None = None,
) -> Service:
    return Service(
        clock=clock,
        rng=random.Random(7),
        observer=observer or Unobserved(),
        limits=limits or Limits(),
        region="eu-west-1",
        touched=touched,
    )
