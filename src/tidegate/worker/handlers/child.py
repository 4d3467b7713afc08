"""What runs in a child process: one handler, one message at a time, and word of it over a pipe.

Nothing here talks to AWS. The parent keeps the leases, so a handler that keeps the CPU busy delays no heartbeat.
"""

import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from tidegate.worker.handlers.binding import Middleware, bind
from tidegate.worker.handlers.kinds import Handler, check_finished
from tidegate.worker.message import Batch, Message
from tidegate.worker.outcomes import HandlerError, PartialFailure, Reject, Retry, outcome_in
from tidegate.worker.telemetry.dependencies import DependencyCall, DependencyLog

__all__ = ["Recipe", "portable", "serve"]

_PORTABLE = (
    *("id", "body", "attributes", "message_attributes", "receive_count", "sent_at_s"),
    *("group", "age_s", "deadline_s", "queue"),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a child makes its handler from: importable, so that it can be sent."""

    handler: Handler
    model: Any = None
    middleware: tuple[Middleware, ...] = ()

    def call(self) -> Callable[[Any], Any]:
        return bind(self.handler, model=self.model, middleware=self.middleware).call


def portable(messages: Iterable[Message]) -> list[Mapping[str, Any]]:
    """The messages without what belongs to this process: their leases, their flags, their counters."""
    return [{name: getattr(message, name) for name in _PORTABLE} for message in messages]


def serve(pipe: Connection, recipe: Recipe, is_batch: bool) -> None:
    """The child's main: ends when the parent is gone. Signals are the parent's business, which drains."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    child = _Child(pipe)
    threading.Thread(target=child.listen, name="tidegate-child-inbox", daemon=True).start()
    child.work(recipe.call(), is_batch)


class _Child:
    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._sending = threading.Lock()
        self._inbox: queue.SimpleQueue[list[Message]] = queue.SimpleQueue()
        self._current: list[Message] = []

    def listen(self) -> None:
        """("run", messages) and ("lost", place); the end of the pipe is the end of the parent."""
        while True:
            try:
                kind, what = self._pipe.recv()
            except (EOFError, OSError):
                os._exit(0)
            if kind == "run":
                self._current = [self._made(place, given) for place, given in enumerate(what)]
                self._inbox.put(self._current)
            else:
                self._current[what].lease_lost.set()

    def work(self, call: Callable[[Any], Any], is_batch: bool) -> None:
        while True:
            messages = self._inbox.get()
            outcome = _outcome(call, Batch(tuple(messages)) if is_batch else messages[0])
            self.tell("done", outcome)

    def tell(self, kind: str, *what: Any) -> None:
        with self._sending:
            self._pipe.send((kind, *what))

    def _made(self, place: int, given: Mapping[str, Any]) -> Message:
        return Message(**given, lease=_Lease(self, place), calls=_Calls(self, place))


class _Lease:
    def __init__(self, child: _Child, place: int) -> None:
        self._child, self._place = child, place

    def extend(self, for_s: float) -> None:
        self._child.tell("extend", self._place, for_s)

    def progress(self) -> None:
        self._child.tell("progress", self._place)


class _Calls(DependencyLog):
    """Counts nothing here: each call's end is told to the parent."""

    def __init__(self, child: _Child, place: int) -> None:
        super().__init__(time.monotonic)
        self._child, self._place = child, place

    def call(self, name: str) -> DependencyCall:
        return DependencyCall(
            name, time.monotonic, lambda name, took_s, end: self._child.tell("call", self._place, name, took_s, end)
        )


def _outcome(call: Callable[[Any], Any], given: Message | Batch) -> BaseException | None:
    try:
        result = call(given)
        check_finished(result)
        return _sendable(outcome_in(result))
    except BaseException as error:  # noqa: BLE001  SystemExit in a handler fails its message, not the worker
        return _sendable(error)


def _sendable(error: BaseException | None) -> BaseException | None:
    """Nothing of the user's own, which may not be importable there: of an outcome of a class of theirs what it says,
    of all other errors what is logged of them."""
    if isinstance(error, PartialFailure):
        return PartialFailure([_sendable(each) for each in error.outcomes])
    if error is None:
        return None
    if isinstance(error, Retry):
        return Retry(error.after_s)
    if isinstance(error, Reject):
        return Reject(error.reason)
    return HandlerError(type(error).__qualname__, "".join(traceback.format_tb(error.__traceback__)).rstrip())
