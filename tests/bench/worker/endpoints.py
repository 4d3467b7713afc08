"""The SQS endpoints that workers are measured at: the sandbox's, in this process, and fauxqs, which others wrote."""

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import boto3
import pytest

from tests.bench.worker.contestants import NODE
from tests.bench.worker.processes import cpu_s, running
from tidegate.sandbox.sqs import SqsServer, endpoint

__all__ = ["FAUXQS", "Endpoint", "fauxqs", "ours"]

FAUXQS: Final = NODE / "node_modules" / "fauxqs"
_HERE: Final = Path(__file__).parent


class Endpoint(Protocol):
    """Where a worker's queue is, and what is seen of its work from there."""

    url: str
    client: Any
    """boto3's."""

    def begin(self, queue_url: str, queued: int) -> None:
        """So many messages are in this queue, and nobody has received any."""
        ...

    def deleted(self) -> int:
        """How many of these have been deleted since."""
        ...

    def calls(self) -> int | None:
        """How many calls were ever made; None: not known."""
        ...

    def cpu_s(self) -> float:
        """What it has used of its core."""
        ...


class _Deletes:
    """The sandbox endpoint's observer: how many messages of each queue were deleted."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def sent(self, queue: str, message_id: str, at_s: float) -> None: ...

    def received(self, queue: str, message_id: str, receive_count: int, at_s: float) -> None: ...

    def deleted(self, queue: str, message_id: str, at_s: float) -> None:
        self.counts[queue] += 1

    def expired(self, queue: str, message_id: str, at_s: float) -> None: ...

    def moved(self, *_: object) -> None: ...


class _Ours:
    def __init__(self, url: str, deletes: _Deletes, calls: Counter[str]) -> None:
        self.url, self.client = url, _client(url)
        self._deletes, self._calls = deletes, calls
        self._queue = ""

    def begin(self, queue_url: str, queued: int) -> None:
        self._queue = queue_url.rpartition("/")[2]
        self._deletes.counts.clear()

    def deleted(self) -> int:
        return self._deletes.counts[self._queue]

    def calls(self) -> int:
        return sum(self._calls.values())

    def cpu_s(self) -> float:
        return time.process_time()


class _Fauxqs:
    """Nothing but SQS's own counts can be seen from outside, so they are asked for."""

    def __init__(self, url: str, pid: int) -> None:
        self.url, self.client = url, _client(url)
        self._pid = pid
        self._queue_url, self._queued = "", 0

    def begin(self, queue_url: str, queued: int) -> None:
        self._queue_url, self._queued = queue_url, queued

    def deleted(self) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = self.client.get_queue_attributes(QueueUrl=self._queue_url, AttributeNames=names)["Attributes"]
        return self._queued - sum(int(counts[name]) for name in names)

    def calls(self) -> None:
        return None

    def cpu_s(self) -> float:
        return cpu_s(self._pid)


@contextmanager
def ours() -> Iterator[Endpoint]:
    """In a thread of this process, on this process's core; calls counted as it carries them out."""
    deletes, calls = _Deletes(), Counter[str]()
    carry_out = endpoint._carry_out

    async def counted(operation: str, call: Any) -> Any:
        calls[operation] += 1
        return await carry_out(operation, call)

    with pytest.MonkeyPatch.context() as patch, SqsServer(observer=deletes) as server:
        patch.setattr(endpoint, "_carry_out", counted)
        yield _Ours(server.url, deletes, calls)


@contextmanager
def fauxqs(core: int) -> Iterator[Endpoint]:
    """In a process of its own, on this core."""
    environment = {**os.environ, "NODE_PATH": str(NODE / "node_modules")}
    with running(("node", "fauxqs.mjs"), environment, core, _HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as it:
        assert it.stdout is not None
        url = it.stdout.readline().decode().strip()
        assert urlsplit(url).hostname == "127.0.0.1", "fauxqs did not start"
        yield _Fauxqs(url, it.pid)


def _client(url: str) -> Any:
    return boto3.client(
        "sqs", endpoint_url=url, region_name="us-east-1", aws_access_key_id="bench", aws_secret_access_key="bench"
    )
