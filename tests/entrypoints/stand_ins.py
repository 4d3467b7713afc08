"""Endpoints that moto can't be: ones that deny, hold back, never answer, or are not there."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.json_endpoint import JSON, answering

Answer = tuple[int, dict[str, object] | bytes]
"""Status, and the body as JSON or as it is."""

LONGEST_S = 20


def endpoint(answer: Callable[[str], Answer]) -> AbstractContextManager[str]:
    """An AWS JSON endpoint on a free port; `answer` makes status and body of the operation ("GetQueueAttributes")."""
    return answering(lambda operation: _on_the_wire(*answer(operation)))


def _on_the_wire(status: int, body: dict[str, object] | bytes) -> tuple[int, str, bytes]:
    return status, JSON, body if isinstance(body, bytes) else json.dumps(body).encode()


def denies(_: str) -> Answer:
    """As AWS answers a caller without the permission.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
    """
    return 400, {"__type": "AccessDeniedException", "message": "User: ann is not authorized to perform this action"}


class HeldQueue:
    """SQS with one queue of 200 waiting messages, which keeps every GetQueueAttributes after the first waiting."""

    def __init__(self) -> None:
        self.held = threading.Event()
        self.release = threading.Event()
        self._asked = 0

    def __call__(self, operation: str) -> Answer:
        if operation == "GetQueueUrl":
            return 200, {"QueueUrl": "http://sqs.local/000000000000/orders"}
        self._asked += 1
        if self._asked > 1:
            self.held.set()
            self.release.wait(LONGEST_S)
        return 200, _counts(waiting=200)


class AskedQueue:
    """SQS with one empty queue; `asked_often` is set when its counts have been asked for `often` times."""

    def __init__(self, often: int) -> None:
        self.asked_often = threading.Event()
        self._left = often

    def __call__(self, operation: str) -> Answer:
        if operation == "GetQueueUrl":
            return 200, {"QueueUrl": "http://sqs.local/000000000000/orders"}
        self._left -= 1
        if self._left <= 0:
            self.asked_often.set()
        return 200, _counts(waiting=0)


def _counts(waiting: int) -> dict[str, object]:
    names = ("", "NotVisible", "Delayed")
    return {"Attributes": {f"ApproximateNumberOfMessages{name}": "0" if name else str(waiting) for name in names}}


@contextmanager
def nobody() -> Iterator[str]:
    """A port that refuses: it was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def silence() -> Iterator[str]:
    """A port where connections are taken and nothing is ever answered."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
