"""What happens between queues, and who is told."""

import json

import pytest

from tests.sandbox.sqs.builders import START_S, a_draft, a_service
from tidegate.sandbox.sqs.faults import Code, Refusal
from tidegate.sandbox.sqs.service import Service

T = START_S


class Ledger:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, ...]] = []

    def sent(self, queue: str, message_id: str, at_s: float) -> None:
        self.lines.append(("sent", queue, message_id))

    def received(self, queue: str, message_id: str, receive_count: int, at_s: float) -> None:
        self.lines.append(("received", queue, message_id, str(receive_count)))

    def deleted(self, queue: str, message_id: str, at_s: float) -> None:
        self.lines.append(("deleted", queue, message_id))

    def moved(self, queue: str, to_queue: str, message_id: str, at_s: float) -> None:
        self.lines.append(("moved", queue, to_queue, message_id))

    def expired(self, queue: str, message_id: str, at_s: float) -> None:
        self.lines.append(("expired", queue, message_id))


def with_dead_letters(service: Service, max_receives: int = 2) -> None:
    service.create("dead", {}, {})
    policy = {"deadLetterTargetArn": service.entry("dead").queue.arn, "maxReceiveCount": max_receives}
    service.create("jobs", {"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": "0"}, {})


def test_a_message_received_too_often_moves_at_the_next_receive_and_wakes_the_dead_letter_queue() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html"""
    woken: list[str] = []
    ledger = Ledger()
    service = a_service(observer=ledger, touched=lambda queue: woken.append(queue.name))
    with_dead_letters(service)
    jobs, dead = service.entry("jobs").queue, service.entry("dead").queue
    message_id = jobs.send(a_draft(), T).message_id
    for _ in range(2):
        assert len(service.take(jobs, 1, 0)) == 1
    assert service.take(jobs, 1, 0) == []
    assert woken == ["dead"]
    (message,) = service.take(dead, 1, 30)
    dead.delete(dead.handle(message), T)
    assert ledger.lines == [
        ("sent", "jobs", message_id),
        ("received", "jobs", message_id, "1"),
        ("received", "jobs", message_id, "2"),
        ("moved", "jobs", "dead", message_id),
        ("received", "dead", message_id, "3"),
        ("deleted", "dead", message_id),
    ]
    assert (jobs.totals.moved_out, dead.totals.moved_in, dead.totals.sent) == (1, 1, 0)


def test_without_its_dead_letter_queue_a_message_stays() -> None:
    """Unverified."""
    service = a_service()
    with_dead_letters(service, max_receives=1)
    service.delete("dead")
    jobs = service.entry("jobs").queue
    jobs.send(a_draft(), T)
    assert [len(service.take(jobs, 1, 0)) for _ in range(3)] == [1, 1, 1]


def test_the_end_of_a_queue_is_told_as_the_delete_of_its_messages() -> None:
    ledger = Ledger()
    service = a_service(observer=ledger)
    service.create("jobs", {}, {})
    message_id = service.entry("jobs").queue.send(a_draft(), T).message_id
    service.delete("jobs")
    assert ledger.lines[-1] == ("deleted", "jobs", message_id)
    with pytest.raises(Refusal) as refusal:
        service.entry("jobs")
    assert refusal.value.code is Code.QUEUE_DOES_NOT_EXIST


def test_an_expired_message_is_told() -> None:
    now = [T]
    ledger = Ledger()
    service = a_service(lambda: now[0], observer=ledger)
    service.create("jobs", {"MessageRetentionPeriod": "60"}, {})
    message_id = service.entry("jobs").queue.send(a_draft(), T).message_id
    now[0] += 60
    assert service.snapshot()["jobs"].expired == 1
    assert ledger.lines[-1] == ("expired", "jobs", message_id)


def test_creating_again_compares_only_the_attributes_that_are_named() -> None:
    """As recorded from AWS in LocalStack's test_create_queue_with_different_attributes_raises_exception."""
    service = a_service()
    service.create("jobs", {"DelaySeconds": "1", "VisibilityTimeout": "5"}, {})
    service.create("jobs", {}, {})
    service.create("jobs", {"DelaySeconds": "1"}, {})
    with pytest.raises(Refusal, match="different value for attribute DelaySeconds") as refusal:
        service.create("jobs", {"DelaySeconds": "2"}, {})
    assert refusal.value.code is Code.QUEUE_NAME_EXISTS
