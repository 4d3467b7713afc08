"""The endpoint in a thread of its own, for programs whose own loop (or none) must not carry it."""

import asyncio
import threading
from concurrent.futures import Future
from typing import Self, Unpack

from tidegate.sandbox.sqs.endpoint import EndpointSettings, SqsEndpoint
from tidegate.sandbox.sqs.model import QueueSnapshot
from tidegate.sandbox.startable import Startable

__all__ = ["SqsServer"]

_PATIENCE_S = 10.0
"""How long to wait for the endpoint's thread; it answers in milliseconds unless the machine is starved."""


class SqsServer(Startable):
    """SQS on a thread, from `start` to `stop` (or in a `with` block). Every method may be called from any thread.

    Takes the settings of `SqsEndpoint`: host, port (0: a free one), region, clock, rng, observer, limits. A server
    is used once; make another to start again.
    """

    def __init__(self, **settings: Unpack[EndpointSettings]) -> None:
        self._endpoint = SqsEndpoint(**settings)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="sqs-endpoint", daemon=True)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._stop = asyncio.Event()

    @property
    def url(self) -> str:
        """Where it listens, once started: the endpoint URL for clients."""
        return self._endpoint.url

    def start(self) -> Self:
        """Listen. Raises OSError when the port is taken, OverflowError when there is none of that number."""
        self._thread.start()
        try:
            self._started.result(_PATIENCE_S)
        except Exception:
            self._thread.join(_PATIENCE_S)
            raise
        return self

    def stop(self) -> None:
        """Answer open long polls with nothing, close every connection and end the thread. Twice is as good as once."""
        if self._thread.is_alive():
            self._started.result(_PATIENCE_S).call_soon_threadsafe(self._stop.set)
            self._thread.join(_PATIENCE_S)

    def snapshot(self) -> dict[str, QueueSnapshot]:
        """Every queue by name, all at one moment."""
        loop = self._started.result(_PATIENCE_S)
        return asyncio.run_coroutine_threadsafe(self._snapshot(), loop).result(_PATIENCE_S)

    async def _serve(self) -> None:
        try:
            await self._endpoint.start()
        except Exception as error:  # noqa: BLE001  raised where it was started
            self._started.set_exception(error)
            return
        self._started.set_result(asyncio.get_running_loop())
        await self._stop.wait()
        await self._endpoint.stop()

    async def _snapshot(self) -> dict[str, QueueSnapshot]:
        return self._endpoint.snapshot()
