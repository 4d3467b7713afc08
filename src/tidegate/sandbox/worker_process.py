"""One worker of the agent: from asked for, through its process, to its exit."""

import signal
from collections.abc import Callable, Mapping
from typing import Protocol

from tidegate.sandbox.events import Usage
from tidegate.sandbox.platform import Identity, Phase, WorkerView

__all__ = ["Process", "Start", "WorkerProcess"]


class Process(Protocol):
    """The part of `subprocess.Popen` that is used."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def send_signal(self, sig: int) -> None: ...


Start = Callable[[str, Mapping[str, str]], Process]
"""Starts the process of the worker with this id, with these additions to its environment."""


class WorkerProcess:
    """Pending until `ready_at_s`, then a process. The agent decides and calls; nothing here looks at a clock.

    Signals go to the process only, by its id, as the container agent signals a container's first process.
    """

    def __init__(self, identity: Identity, revision: str, now_s: float, ready_at_s: float) -> None:
        self.identity, self.revision, self.ready_at_s = identity, revision, ready_at_s
        self.phase, self.since_s = Phase.PENDING, now_s
        self.reason = ""
        self.killed_by: str | None = None
        self.interrupt_at_s: float | None = None
        self._asked_at_s = now_s
        self._up_at_s: float | None = None
        self._kill_at_s: float | None = None
        self._process: Process | None = None

    @property
    def worker_id(self) -> str:
        return self.identity.worker_id

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def view(self) -> WorkerView:
        return WorkerView(self.worker_id, self.phase, self.revision, self.since_s, self.pid)

    def usage(self, now_s: float) -> Usage:
        up = 0.0 if self._up_at_s is None else now_s - self._up_at_s
        return Usage(billed_s=now_s - self._asked_at_s, running_s=up)

    def start(self, start: Start, env: Mapping[str, str], now_s: float) -> None:
        """Raises OSError when the machine can't start a process."""
        self._process = start(self.worker_id, env)
        self.phase, self.since_s, self._up_at_s = Phase.RUNNING, now_s, now_s

    def stop(self, reason: str, kill_at_s: float, now_s: float) -> None:
        """SIGTERM now; `enforce` kills it from `kill_at_s` on."""
        self.phase, self.since_s, self.reason, self._kill_at_s = Phase.STOPPING, now_s, reason, kill_at_s
        self._send(signal.SIGTERM)

    def enforce(self, now_s: float) -> None:
        """SIGKILL if its time to stop is over."""
        if self._kill_at_s is not None and now_s >= self._kill_at_s:
            self.kill("stop_timeout")

    def kill(self, by: str) -> None:
        if self.killed_by is None and self.exit_code() is None:
            self.killed_by = by
            self._send(signal.SIGKILL)

    def exit_code(self) -> int | None:
        """None while it runs (or has no process yet). Reaps the process: no zombie is left."""
        return self._process.poll() if self._process else None

    def _send(self, sig: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(sig)
