"""Measures a worker from outside: how fast it works a full queue off at an endpoint, and what that costs.

Endpoint and worker are processes on cores of their own. A rate is what was deleted per second in a window that begins
a moment after the first delete, so that nobody's start-up counts, and ends after three seconds or with the queue.
"""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.bench.worker.cells import Cell, Cost
from tests.bench.worker.contestants import NODE, Contender
from tests.bench.worker.endpoints import Endpoint
from tests.bench.worker.processes import cpu_s, peak_mb, running

__all__ = ["Rig", "on_two_cores"]

_HERE: Final = Path(__file__).parent
_WINDOW_S: Final = 3.0
_LOOK_S: Final = 0.1
_FIRST_WITHIN_S: Final = 40.0
_SLOW_QUEUED: Final = 12_000
"""Of the libraries with a message form of their own none works off more in a window."""
_SENDERS: Final = 8


@contextmanager
def on_two_cores() -> Iterator[tuple[int, int]]:
    """The endpoint's core, which is also this process's, and the worker's. Threads started inside are pinned too."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield min(cores), max(cores)
    finally:
        os.sched_setaffinity(0, cores)


class Rig:
    """One endpoint; each measurement has a new queue."""

    def __init__(self, endpoint: Endpoint, worker_core: int) -> None:
        self._endpoint = endpoint
        self._worker_core = worker_core
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TIDEGATE_"))},
            "AWS_ENDPOINT_URL_SQS": endpoint.url,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "NODE_PATH": str(NODE / "node_modules"),
        }
        self._measured = 0

    def measure(self, contender: Contender, cell: Cell) -> Cost:
        """Fills a queue, starts the contender on it, and watches for a window, or until the queue is empty."""
        self._measured += 1
        queued = min(cell.queued, _SLOW_QUEUED) if contender.own_form else cell.queued
        url = self._queue(contender.name if contender.own_form else f"bench-{self._measured}")
        environment = {
            **self._environment,
            "BENCH_QUEUE": url,
            "BENCH_CONCURRENCY": str(cell.concurrency),
            "BENCH_TAKES_S": str(cell.takes_s),
            "BENCH_STRAGGLER_EVERY": str(cell.straggler_every),
        }
        message = self._sample(contender, url, environment) if contender.own_form else cell.message
        asyncio.run(_fill(self._endpoint.url, url, message, queued))
        self._endpoint.begin(url, queued)
        with running(contender.command, environment, self._worker_core, _HERE) as process:
            cost = self._watch(process, cell, queued)
        self._endpoint.client.delete_queue(QueueUrl=url)
        return cost

    def _queue(self, name: str) -> str:
        """A new one. Its URL has the endpoint's own address: some clients call that instead of the endpoint's URL."""
        client = self._endpoint.client
        made = client.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "60"})["QueueUrl"]
        return f"{self._endpoint.url}/{'/'.join(made.split('/')[3:])}"

    def _sample(self, contender: Contender, url: str, environment: dict[str, str]) -> dict[str, Any]:
        """A message as the contender's own producer makes it."""
        command = [*contender.command, "sample"]
        subprocess.run(command, cwd=_HERE, env=environment, check=True, timeout=60, capture_output=True)
        client = self._endpoint.client
        (message,) = client.receive_message(QueueUrl=url, MessageAttributeNames=["All"], WaitTimeSeconds=5)["Messages"]
        client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        attributes = {"MessageAttributes": message["MessageAttributes"]} if "MessageAttributes" in message else {}
        return {"MessageBody": message["Body"], **attributes}

    def _watch(self, process: "subprocess.Popen[bytes]", cell: Cell, queued: int) -> Cost:
        self._until_it_works(process)
        time.sleep(cell.warm_up_s)
        endpoint = self._endpoint
        done, calls, used_s, server_s = endpoint.deleted(), endpoint.calls(), cpu_s(process.pid), endpoint.cpu_s()
        peak, began_s = peak_mb(process.pid), time.perf_counter()
        assert done < queued, f"the queue was empty before the window began: {cell.name} needs more messages"
        now_done, took_s = done, 0.0
        while took_s < _WINDOW_S and now_done < queued:
            time.sleep(_LOOK_S)
            now_done, took_s = endpoint.deleted(), time.perf_counter() - began_s
        used_s, server_s = cpu_s(process.pid) - used_s, endpoint.cpu_s() - server_s
        now_calls, now_peak = endpoint.calls(), peak_mb(process.pid)
        done = max(1, now_done - done)
        return Cost(
            rate_per_s=done / took_s,
            worker_share=used_s / took_s,
            server_share=server_s / took_s,
            calls=None if calls is None or now_calls is None else (now_calls - calls) / done,
            cpu_ms=1_000 * used_s / done,
            peak_mb=now_peak,
            grown_mb=now_peak - peak,
            done=done,
        )

    def _until_it_works(self, process: "subprocess.Popen[bytes]") -> None:
        ends_s = time.perf_counter() + _FIRST_WITHIN_S
        while not self._endpoint.deleted():
            assert process.poll() is None, f"it ended with {process.returncode}"
            assert time.perf_counter() < ends_s, "nothing was ever deleted"
            time.sleep(0.02)


async def _fill(endpoint_url: str, queue_url: str, message: dict[str, Any], count: int) -> None:
    """Raw requests: a client that makes sure of everything would take longer than the measurement."""
    body = json.dumps({"QueueUrl": queue_url, "Entries": [{"Id": str(place), **message} for place in range(10)]})
    headers = {"X-Amz-Target": "AmazonSQS.SendMessageBatch", "Content-Type": "application/x-amz-json-1.0"}
    async with aiohttp.ClientSession() as session:

        async def send(batches: int) -> None:
            for _ in range(batches):
                async with session.post(endpoint_url, data=body, headers=headers) as answer:
                    assert answer.status == 200, await answer.text()

        await asyncio.gather(*(send(count // 10 // _SENDERS) for _ in range(_SENDERS)))
