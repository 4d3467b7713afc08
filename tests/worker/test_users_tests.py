"""How a user tests a handler: this file stands in docs/worker.md, and is run here."""

import asyncio
import json

import pytest

from tidegate import Message, Retry, Worker
from tidegate.testing import FakeWorkQueue

pytestmark = pytest.mark.looptime  # virtual time: an hour of backoff takes no time at all


class Mailer:
    """The code under test: a handler with what it needs passed in."""

    def __init__(self, *, fails: int = 0) -> None:
        self.sent: list[str] = []
        self.begun = asyncio.Event()
        self._fails = fails

    async def handle(self, message: Message) -> None:
        if self._fails:
            self._fails -= 1
            raise Retry(after="1h")
        self.begun.set()
        await asyncio.sleep(90)  # longer than the queue's visibility timeout: the worker keeps the lease
        self.sent.append(message.json()["to"])


async def test_a_mail_is_sent_once_though_it_takes_longer_than_the_visibility_timeout() -> None:
    mailer, queue = Mailer(), FakeWorkQueue(visibility_s=30)
    async with Worker("mails", mailer.handle).in_test(queue):
        queue.send(json.dumps({"to": "ada"}))
        await queue.all_deleted()
    assert mailer.sent == ["ada"]


async def test_a_mail_is_tried_again_after_an_hour() -> None:
    mailer, queue = Mailer(fails=2), FakeWorkQueue(visibility_s=30)
    async with Worker("mails", mailer.handle).in_test(queue):
        queue.send(json.dumps({"to": "ada"}))
        await queue.all_deleted()
    assert mailer.sent == ["ada"]
    assert asyncio.get_running_loop().time() > 7200


async def test_a_mail_in_mid_work_is_finished_when_the_worker_is_told_to_leave() -> None:
    mailer, queue = Mailer(), FakeWorkQueue(visibility_s=30)
    async with Worker("mails", mailer.handle, stop_timeout="3m").in_test(queue) as service:
        queue.send(json.dumps({"to": "ada"}))
        await mailer.begun.wait()
        service.stop("SIGTERM")
    assert mailer.sent == ["ada"]
    assert queue.deleted == ["m1"]
