"""The endpoint on an event loop: HTTP in, JSON out. One loop, no locks: the queues live on it alone."""

import asyncio
import json
import logging
import random
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypedDict, Unpack

from aiohttp import web

from tidegate.sandbox.sqs.call import Answer, Call
from tidegate.sandbox.sqs.connection import hung_up
from tidegate.sandbox.sqs.faults import Code, Refusal
from tidegate.sandbox.sqs.message_actions import MESSAGE_ACTIONS, receive_message
from tidegate.sandbox.sqs.model import Observer, QueueSnapshot, Unobserved
from tidegate.sandbox.sqs.params import Params
from tidegate.sandbox.sqs.polls import LongPolls
from tidegate.sandbox.sqs.queue import Limits
from tidegate.sandbox.sqs.queue_actions import QUEUE_ACTIONS
from tidegate.sandbox.sqs.service import Service

__all__ = ["EndpointSettings", "SqsEndpoint"]

_ACTIONS = {**QUEUE_ACTIONS, **MESSAGE_ACTIONS}
_TARGET_PREFIX = "AmazonSQS."
_CONTENT_TYPE = "application/x-amz-json-1.0"
_LARGEST_REQUEST_BYTES = 16 * 1_048_576
"""A batch of 1 MiB, at worst with every character escaped in JSON (six bytes each), and its frame."""
_STOP_S = 2.0

_log = logging.getLogger(__name__)


class EndpointSettings(TypedDict, total=False):
    """What an endpoint can be told; everything has a default. `clock` gives seconds since the epoch."""

    host: str
    port: int
    region: str
    clock: Callable[[], float]
    rng: random.Random
    observer: Observer
    limits: Limits


class SqsEndpoint:
    """SQS on one host and port. Start and stop it on the same loop; port 0 takes a free one."""

    def __init__(self, **settings: Unpack[EndpointSettings]) -> None:
        clock = settings.get("clock", time.time)
        self.host, self.port = settings.get("host", "127.0.0.1"), settings.get("port", 0)
        self._polls = LongPolls(clock)
        self._service = Service(
            clock=clock,
            rng=settings.get("rng", random.Random()),  # noqa: S311 - order and ids, nothing secret
            observer=settings.get("observer", Unobserved()),
            limits=settings.get("limits", Limits()),
            region=settings.get("region", "us-east-1"),
            touched=self._polls.wake,
        )
        self._runner: web.ServerRunner | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def snapshot(self) -> dict[str, QueueSnapshot]:
        """Every queue by name. Only on the endpoint's own loop; `SqsServer.snapshot` is for other threads."""
        return self._service.snapshot()

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken, OverflowError when there is none of that number."""
        server = web.Server(self._handle, request_factory=_request, handler_cancellation=True, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=_STOP_S)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except BaseException:
            await self.stop()
            raise
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Answer the open long polls with nothing, let the other requests end, and close every connection."""
        self._polls.close()
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            answer = await self._answer(request)
        except Refusal as refusal:
            return _refused(refusal)
        return _json(answer)

    async def _answer(self, request: web.BaseRequest) -> Answer:
        target = request.headers.get("X-Amz-Target", "")
        if not target.startswith(_TARGET_PREFIX):
            text = "Speak the SQS JSON protocol: POST with an X-Amz-Target header of AmazonSQS.<operation>."
            raise Refusal(Code.UNKNOWN_OPERATION, text)
        params = Params.of_json(await request.read())
        origin = f"{request.scheme}://{request.headers.get('Host', f'{self.host}:{self.port}')}"
        call = Call(self._service, self._polls, params, origin, lambda: hung_up(request.transport))
        return await _carry_out(target.removeprefix(_TARGET_PREFIX), call)


async def _carry_out(operation: str, call: Call) -> Answer:
    if operation == "ReceiveMessage":
        return await receive_message(call)
    action = _ACTIONS.get(operation)
    if action is None:
        raise Refusal(Code.UNKNOWN_OPERATION, f"The sandbox does not implement {operation}.")
    return action(call)


def _refused(refusal: Refusal) -> web.Response:
    _log.debug("refused: %s", refusal.code.query)
    fault = {"__type": refusal.code.shape, "message": str(refusal)}
    return _json(fault, status=400, headers={"x-amzn-query-error": f"{refusal.code.query};Sender"})


def _json(answer: Answer, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    body = json.dumps(answer, separators=(",", ":")).encode()
    named = {**(headers or {}), "x-amzn-RequestId": str(uuid.uuid4())}
    return web.Response(body=body, status=status, headers=named, content_type=_CONTENT_TYPE)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: "asyncio.Task[None]") -> web.BaseRequest:
    """As aiohttp makes it, with room for the largest batch (its own limit is 1 MiB)."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_REQUEST_BYTES)
