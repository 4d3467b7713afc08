"""Stand-ins for the agent's surroundings: a platform without an API, processes that are only numbers."""

import itertools
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.sandbox.events import AgentEvent, EventKind
from tidegate.sandbox.platform import Identity, Wanted, WorkerView


@dataclass
class FakePlatform:
    """Asks for whatever the test sets; remembers what it was shown."""

    wanted_now: Wanted
    is_ecs: bool = True
    name: str = "ecs:cluster/service"
    shown: tuple[WorkerView, ...] = ()
    broken: Exception | None = None
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def wanted(self) -> Wanted:
        if self.broken is not None:
            raise self.broken
        return self.wanted_now

    def admit(self) -> Identity:
        worker_id = f"w{next(self.numbers)}"
        return Identity(worker_id, f"i-{worker_id}", f"arn:aws:ecs:task/cluster/{worker_id}" if self.is_ecs else None)

    def show(self, workers: Sequence[WorkerView]) -> None:
        self.shown = tuple(workers)


@dataclass
class FakeProcess:
    """Ends at SIGTERM with code 0 unless stubborn; ends at SIGKILL unless it is beyond signals altogether."""

    pid: int
    stubborn: bool = False
    beyond_signals: bool = False
    exit_code: int | None = None
    signals: list[int] = field(default_factory=list)

    def poll(self) -> int | None:
        return self.exit_code

    def send_signal(self, sig: int) -> None:
        self.signals.append(sig)
        if self.beyond_signals:
            return
        if sig == signal.SIGKILL:
            self.exit_code = -signal.SIGKILL
        elif not self.stubborn:
            self.exit_code = 0


@dataclass
class FakeMachine:
    """Starts `FakeProcess`es; `refuses` makes it fail as a machine out of processes does."""

    stubborn: bool = False
    refuses: bool = False
    processes: dict[str, FakeProcess] = field(default_factory=dict)
    environments: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def start(self, worker_id: str, env: Mapping[str, str]) -> FakeProcess:
        if self.refuses:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        self.environments[worker_id] = env
        self.processes[worker_id] = FakeProcess(pid=1000 + len(self.processes), stubborn=self.stubborn)
        return self.processes[worker_id]


class EventLog:
    """Collects an agent's events; waiting for one is bounded and never polls."""

    def __init__(self) -> None:
        self.events: list[AgentEvent] = []
        self._changed = threading.Condition()

    def __call__(self, event: AgentEvent) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def wait_for(self, kind: EventKind, count: int = 1, timeout_s: float = 10.0) -> list[AgentEvent]:
        """The first `count` events of this kind."""

        def enough() -> bool:
            return len(self.of(kind)) >= count

        with self._changed:
            assert self._changed.wait_for(enough, timeout_s), f"no {count} x {kind} in {self.events}"
        return self.of(kind)[:count]

    def of(self, kind: EventKind) -> list[AgentEvent]:
        return [event for event in self.events if event.kind is kind]


def no_environment(identity: Identity) -> Mapping[str, str]:
    return {"METADATA": identity.worker_id}
