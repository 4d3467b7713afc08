"""What the outside may ask a worker: is it alive, and does it take work?"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict

from tidegate.core.reports import WorkerState
from tidegate.errors import ConfigError, Fault
from tidegate.worker.health.check import HealthWatch
from tidegate.worker.health.server import ANY_ADDRESS, Answer, serve_health
from tidegate.worker.leaving.lifecycle import Lifecycle

__all__ = ["Probes"]


class Probes:
    """`/healthz` by the watch, `/readyz` by the lifecycle: ready from the first poll until told to take no more."""

    def __init__(self, watch: HealthWatch, lifecycle: Lifecycle, has_polled: Callable[[], bool]) -> None:
        self._watch = watch
        self._lifecycle = lifecycle
        self._has_polled = has_polled
        self._server: asyncio.Server | None = None

    async def open(self, port: int | None) -> None:
        """None: nobody may ask. Raises ConfigError when the port can't be had."""
        if port is None:
            return
        try:
            answers = {"/healthz": self.healthz, "/readyz": self.readyz}
            self._server = await serve_health(ANY_ADDRESS, port, answers)
        except OSError as error:
            problem = f"can't be listened on ({error.strerror or error})"
            raise ConfigError([Fault("health_port", port, problem, "choose another")]) from error

    def close(self) -> None:
        """Nobody is answered any longer."""
        if self._server is not None:
            self._server.close()

    def healthz(self) -> Answer:
        """Alive, and what that is judged by."""
        return self._watch.health.healthy, asdict(self._watch.health)

    def readyz(self) -> Answer:
        """Whether it takes work."""
        state = self._lifecycle.state
        ready = self._has_polled() and state is WorkerState.RUNNING and not self._lifecycle.draining
        return ready, {"state": state.value, "reason": self._lifecycle.reason}
