"""Stands between workers and the SQS endpoint and does to their calls what a bad day does: seeded, and written down.

What it has done to an answer that never came is the only excuse, beside a kill -9, for a message that ran twice.
"""

import asyncio
import json
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import aiohttp
from aiohttp import web

from tidegate.sandbox.startable import Startable

__all__ = ["Fault", "Proxy", "Shares"]

_TARGET = "X-Amz-Target"
_PATIENCE_S = 10.0
_HOLDS_S = 60.0
"""An answer that never comes: clients give up long before."""


class Fault(StrEnum):
    """What may happen to one call."""

    NONE = "none"
    SERVER_ERROR = "500"
    THROTTLED = "throttled"
    REQUEST_LOST = "request lost"
    ANSWER_LOST = "answer lost"
    SLOW = "slow"
    PARTED = "parted"


@dataclass(frozen=True, slots=True)
class Shares:
    """Of all calls: `failing` of them fail, in four ways alike; `slow` ones take `slow_s` at most, and are answered."""

    failing: float = 0.05
    slow: float = 0.02
    slow_s: float = 2.0

    def draw(self, rng: random.Random) -> Fault:
        """The fault of one call."""
        at = rng.random()
        if at < self.failing:
            ways = (Fault.SERVER_ERROR, Fault.THROTTLED, Fault.REQUEST_LOST, Fault.ANSWER_LOST)
            return ways[int(at / self.failing * len(ways))]
        return Fault.SLOW if at < self.failing + self.slow else Fault.NONE


class Proxy(Startable):
    """Runs on a thread of its own. `part` and `mend` are a partition: no call gets through, none is answered."""

    def __init__(self, target_url: str, shares: Shares, seed: int) -> None:
        self._target_url = target_url
        self._shares = shares
        self._rng = random.Random(seed)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="chaos-proxy", daemon=True)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._stop = asyncio.Event()
        self._parted = threading.Event()
        self._ids: dict[str, str] = {}
        self.url = ""
        self.counts: Counter[Fault] = Counter()
        self.polls = 0
        self.unanswered_at_s: dict[str, list[float]] = defaultdict(list)
        """For each message: when a call about it (a delete, a change of its lease) went without an answer."""

    def start(self) -> Self:
        self._thread.start()
        self._started.result(_PATIENCE_S)
        return self

    def stop(self) -> None:
        if self._thread.is_alive():
            self._started.result(_PATIENCE_S).call_soon_threadsafe(self._stop.set)
            self._thread.join(_PATIENCE_S)

    def part(self) -> None:
        self._parted.set()

    def mend(self) -> None:
        self._parted.clear()

    async def _serve(self) -> None:
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=1.0)
        await runner.setup()
        connector = aiohttp.TCPConnector(limit=0)
        try:
            async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as self._session:
                await web.TCPSite(runner, "127.0.0.1", 0).start()
                self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
                self._started.set_result(asyncio.get_running_loop())
                await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        fault = self._fault()
        self.counts[fault] += 1
        if fault in (Fault.SERVER_ERROR, Fault.THROTTLED):
            return _refused(fault)
        if fault in (Fault.REQUEST_LOST, Fault.PARTED):
            return await self._never(request, body)
        answer = await self._passed_on(request, body)
        if fault is Fault.SLOW:
            await asyncio.sleep(self._rng.uniform(0.2, self._shares.slow_s))
        if fault is not Fault.ANSWER_LOST and self._parted.is_set():
            fault = Fault.PARTED
            self.counts[fault] += 1
        if fault in (Fault.ANSWER_LOST, Fault.PARTED):
            return await self._never(request, body)
        return answer

    def _fault(self) -> Fault:
        if self._parted.is_set():
            return Fault.PARTED
        return self._shares.draw(self._rng)

    async def _passed_on(self, request: web.BaseRequest, body: bytes) -> web.Response:
        headers = {name: request.headers[name] for name in (_TARGET, "Content-Type") if name in request.headers}
        async with self._session.post(self._target_url, data=body, headers=headers) as answer:
            content = await answer.read()
            if answer.status == 200 and request.headers.get(_TARGET, "").endswith(".ReceiveMessage"):
                self.polls += 1
                self._learn(json.loads(content))
            kept = {name: value for name, value in answer.headers.items() if name.lower().startswith("x-amzn")}
            return web.Response(
                body=content, status=answer.status, headers=kept, content_type="application/x-amz-json-1.0"
            )

    def _learn(self, answer: Mapping[str, Any]) -> None:
        for message in answer.get("Messages", ()):
            self._ids[message["ReceiptHandle"]] = message["MessageId"]

    async def _never(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        """No answer: this is cancelled as soon as the client hangs up."""
        now_s = time.time()
        for entry in json.loads(body).get("Entries", ()):
            message_id = self._ids.get(entry.get("ReceiptHandle", ""))
            if message_id is not None:
                self.unanswered_at_s[message_id].append(now_s)
        await asyncio.sleep(_HOLDS_S)
        raise web.HTTPGatewayTimeout


def _refused(fault: Fault) -> web.Response:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html"""
    if fault is Fault.SERVER_ERROR:
        return web.json_response({"__type": "InternalFailure", "message": "chaos"}, status=500)
    headers = {"x-amzn-query-error": "RequestThrottled;Sender"}
    return web.json_response({"__type": "RequestThrottled", "message": "chaos"}, status=400, headers=headers)
