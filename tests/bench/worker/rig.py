"""Measures a worker from outside: how fast it works a full queue off at our SQS endpoint, and what that costs.

Endpoint and worker are processes on cores of their own. A rate is what was deleted per second in a window that begins a
moment after the first delete, so that nobody's start-up counts.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import boto3
import pytest

from tidegate.sandbox.sqs import SqsServer, endpoint

HERE: Final = Path(__file__).parent
RIVALS: Final = Path(__file__).parents[3] / ".venv-rivals"
NODE: Final = Path(__file__).parents[3] / ".node-rivals"

_WINDOW_S: Final = 3.0
_WARM_UP_S: Final = 0.5
_FIRST_WITHIN_S: Final = 40.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Contender:
    """A worker: how it is started, what it needs, and whether its messages have a form of their own."""

    name: str
    command: Sequence[str]
    needs: Path | None = None
    own_form: bool = False


CONTENDERS: Final = (
    Contender("tidegate", (sys.executable, "contenders/tidegate_worker.py")),
    Contender("aiobotocore loop", (sys.executable, "contenders/aiobotocore_loop.py")),
    Contender("boto3 loop", (sys.executable, "contenders/boto3_loop.py")),
    Contender("dramatiq", (str(RIVALS / "bin/python"), "contenders/dramatiq_sqs_worker.py"), RIVALS, own_form=True),
    Contender("celery", (str(RIVALS / "bin/python"), "contenders/celery_worker.py"), RIVALS, own_form=True),
    Contender("taskiq", (str(RIVALS / "bin/python"), "contenders/taskiq_worker.py"), RIVALS, own_form=True),
    Contender("sqs-consumer", ("node", "contenders/sqs_consumer.cjs"), NODE),
    Contender("squiss-ts", ("node", "contenders/squiss_ts.cjs"), NODE),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """One contender in one cell. Shares are of one core; `calls` and `cpu_ms` are per message."""

    rate_per_s: float
    worker_share: float
    server_share: float
    calls: float
    cpu_ms: float
    peak_mb: float


@dataclass
class Deletes:
    """The endpoint's observer: when messages were deleted."""

    at_s: list[float] = field(default_factory=list)

    def sent(self, queue: str, message_id: str, at_s: float) -> None: ...

    def received(self, queue: str, message_id: str, receive_count: int, at_s: float) -> None: ...

    def deleted(self, queue: str, message_id: str, at_s: float) -> None:
        self.at_s.append(time.perf_counter())

    def expired(self, queue: str, message_id: str, at_s: float) -> None: ...

    def moved(self, *_: object) -> None: ...


class Rig:
    """One endpoint; each measurement has a queue of its own."""

    def __init__(self, server: SqsServer, deletes: Deletes, calls: Counter[str]) -> None:
        self._server = server
        self._deletes = deletes
        self._calls = calls
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TIDEGATE_"))},
            "AWS_ENDPOINT_URL_SQS": server.url,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "NODE_PATH": str(NODE / "node_modules"),
        }
        self._client: Any = boto3.client(
            "sqs", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="b", aws_secret_access_key="b"
        )
        self._cells = 0

    def measure(self, contender: Contender, concurrency: int, takes_s: float, queued: int) -> Cost:
        """Fills a queue, starts the contender on it, and watches for a window, or until the queue is empty."""
        self._cells += 1
        name = contender.name if contender.own_form else f"bench-{self._cells}"
        url = self._client.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "60"})["QueueUrl"]
        environment = {
            **self._environment,
            "BENCH_QUEUE": url,
            "BENCH_CONCURRENCY": str(concurrency),
            "BENCH_TAKES_S": str(takes_s),
        }
        self._client.purge_queue(QueueUrl=url)
        asyncio.run(_fill(self._server.url, url, self._sample(contender, url, environment), queued))
        self._deletes.at_s.clear()
        with _running(contender.command, environment) as process:
            return self._watch(process)

    def _sample(self, contender: Contender, url: str, environment: dict[str, str]) -> dict[str, Any]:
        """A message as the contender's own producer makes it."""
        if not contender.own_form:
            return {"MessageBody": '{"order": 4711}'}
        subprocess.run(
            [*contender.command, "sample"], cwd=HERE, env=environment, check=True, timeout=60, capture_output=True
        )
        (message,) = self._client.receive_message(QueueUrl=url, MessageAttributeNames=["All"], WaitTimeSeconds=5)[
            "Messages"
        ]
        self._client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        attributes = {"MessageAttributes": message["MessageAttributes"]} if "MessageAttributes" in message else {}
        return {"MessageBody": message["Body"], **attributes}

    def _watch(self, process: "subprocess.Popen[bytes]") -> Cost:
        deletes = self._deletes.at_s
        _until(lambda: bool(deletes), _FIRST_WITHIN_S, process)
        time.sleep(_WARM_UP_S)
        first, calls, cpu_s, own_s = len(deletes), sum(self._calls.values()), _cpu_s(process.pid), time.process_time()
        began_s = time.perf_counter()
        time.sleep(_WINDOW_S)
        took_s = time.perf_counter() - began_s
        done = len(deletes) - first
        used_s, own_s = _cpu_s(process.pid) - cpu_s, time.process_time() - own_s
        calls = sum(self._calls.values()) - calls
        return Cost(
            rate_per_s=done / took_s,
            worker_share=used_s / took_s,
            server_share=own_s / took_s,
            calls=calls / max(1, done),
            cpu_ms=1_000 * used_s / max(1, done),
            peak_mb=_peak_mb(process.pid),
        )


@contextmanager
def rig() -> Iterator[Rig]:
    """The endpoint in this process, pinned to the first core; calls counted as it carries them out."""
    deletes, calls = Deletes(), Counter[str]()
    carry_out = endpoint._carry_out

    async def counted(operation: str, call: Any) -> Any:
        calls[operation] += 1
        return await carry_out(operation, call)

    cores = os.sched_getaffinity(0)
    with pytest.MonkeyPatch.context() as patch, SqsServer(observer=deletes) as server:
        patch.setattr(endpoint, "_carry_out", counted)
        os.sched_setaffinity(0, {min(cores)})
        try:
            yield Rig(server, deletes, calls)
        finally:
            os.sched_setaffinity(0, cores)


@contextmanager
def _running(command: Sequence[str], environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """On the last core, in a group of its own, which is ended as a whole."""
    process = subprocess.Popen(
        command, cwd=HERE, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        os.sched_setaffinity(process.pid, {(os.cpu_count() or 1) - 1})
        yield process
    finally:
        os.killpg(process.pid, 9)
        process.wait()


async def _fill(endpoint_url: str, queue_url: str, message: dict[str, Any], count: int) -> None:
    """Raw requests: a client that makes sure of everything would take longer than the measurement."""
    body = json.dumps(
        {"QueueUrl": queue_url, "Entries": [{"Id": str(place), **message} for place in range(10)]}, default=_text
    )
    headers = {"X-Amz-Target": "AmazonSQS.SendMessageBatch", "Content-Type": "application/x-amz-json-1.0"}
    async with aiohttp.ClientSession() as session:

        async def send(batches: int) -> None:
            for _ in range(batches):
                async with session.post(endpoint_url, data=body, headers=headers) as answer:
                    assert answer.status == 200, await answer.text()

        await asyncio.gather(*(send(count // 80) for _ in range(8)))


def _text(value: object) -> str:
    raise TypeError(f"{type(value).__name__} can't be sent as it is")


def _until(condition: Any, within_s: float, process: "subprocess.Popen[bytes]") -> None:
    ends_s = time.perf_counter() + within_s
    while not condition():
        assert process.poll() is None, f"it ended with {process.returncode}"
        assert time.perf_counter() < ends_s, "nothing was ever deleted"
        time.sleep(0.01)


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(descendant for child in children for descendant in _family(int(child)))]


def _cpu_s(pid: int) -> float:
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in _family(pid)]
    return sum(int(each[11]) + int(each[12]) for each in fields) / _TICKS


def _peak_mb(pid: int) -> float:
    lines = [line for each in _family(pid) for line in Path(f"/proc/{each}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
