"""The producer sends each message once, when it is due, and says why when it can't go on."""

import json
import random
from collections.abc import Sequence

import pytest

from tidegate.aws.stand_in import QueueSender
from tidegate.errors import Unreachable
from tidegate.sandbox.demo.traffic import Traffic
from tidegate.testing import FakeClock


class Sent(QueueSender):
    """Keeps what is sent, with the time of it."""

    def __init__(self, clock: FakeClock, fails_at: float | None = None) -> None:
        self.clock, self.fails_at = clock, fails_at
        self.sent: list[tuple[float, str]] = []

    def send(self, bodies: Sequence[str]) -> None:
        if self.fails_at is not None and self.clock.now() >= self.fails_at:
            raise Unreachable("sqs:SendMessageBatch", "demo", "connection refused")
        self.sent += [(self.clock.now(), body) for body in bodies]


def play(sender: Sent, clock: FakeClock, times: list[float]) -> Traffic:
    traffic = Traffic(sender, times, 0.4, random.Random(3), clock)
    traffic.start()
    assert traffic.finished.wait(10)
    traffic.stop()
    return traffic


def test_each_message_is_sent_once_within_a_step_of_its_time() -> None:
    clock = FakeClock(1000.0)
    times = sorted(random.Random(5).uniform(0, 20) for _ in range(300))
    sender = Sent(clock)
    assert play(sender, clock, times).error is None
    late_s = [at_s - 1000.0 - due_s for (at_s, _), due_s in zip(sender.sent, times, strict=True)]
    assert min(late_s) >= 0
    assert max(late_s) <= 0.0501


def test_work_takes_half_to_one_and_a_half_of_the_mean() -> None:
    clock = FakeClock(1000.0)
    sender = Sent(clock)
    play(sender, clock, [0.0] * 2000)
    work = [json.loads(body)["work_s"] for _, body in sender.sent]
    assert (min(work) >= 0.2, max(work) <= 0.6) == (True, True)
    assert sum(work) / len(work) == pytest.approx(0.4, abs=0.01)


def test_an_endpoint_that_fails_ends_the_traffic_with_its_error() -> None:
    clock = FakeClock(1000.0)
    traffic = play(Sent(clock, fails_at=1005.0), clock, [1.0, 6.0])
    assert isinstance(traffic.error, Unreachable)


def test_traffic_that_was_stopped_sends_nothing_more() -> None:
    clock = FakeClock(1000.0)
    traffic = Traffic(Sent(clock), [5.0], 0.4, random.Random(3), clock)
    traffic.stop()
    assert traffic.finished.is_set() is False
