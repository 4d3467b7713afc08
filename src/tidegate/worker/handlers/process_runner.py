"""Sync handlers in child processes, one for each slot: for work that keeps the CPU busy, or may bring a process down.

A slot's thread waits for its child, so the rest of the SDK sees a handler like any other. A child that dies fails its
message alone, and is replaced. One whose message is lost, or that is to leave, is told, and killed if it does not end:
this executor alone can free the slot of a handler that hangs.
"""

import logging
import multiprocessing
import pickle
import signal
import threading
import time
from multiprocessing.connection import wait
from typing import Any, Final

from tidegate.errors import ConfigError, Fault, TidegateError
from tidegate.worker.handlers.child import Recipe, portable, serve
from tidegate.worker.handlers.run_handler import ThreadRunner
from tidegate.worker.message import Batch, Message

__all__ = ["ChildDied", "ProcessRunner", "check_sendable"]

_LOOK_S: Final = 0.2
_END_WITHIN_S: Final = 5.0

logger = logging.getLogger(__name__)


class ChildDied(TidegateError):
    """The process that ran the handler ended before the handler did."""

    def __init__(self, exit_code: int | None) -> None:
        self.exit_code = exit_code
        how = signal.Signals(-exit_code).name if exit_code is not None and exit_code < 0 else f"exit code {exit_code}"
        super().__init__(f"the handler's process died ({how})")


def check_sendable(recipe: Recipe) -> None:
    """Raises ConfigError when the handler, its model or its middleware can't be sent to another process."""
    try:
        pickle.dumps(recipe)
    except Exception as error:
        problem = "the handler (or its model or middleware) can't be sent to another process"
        fix = "make each a function or class at the top of a module, or use executor = thread"
        raise ConfigError([Fault("executor", "process", problem, fix)]) from error


class ProcessRunner(ThreadRunner):
    """As ThreadRunner, with a process behind each thread, started when its slot is first used."""

    def __init__(self, recipe: Recipe, slots: int, *, is_batch: bool) -> None:
        super().__init__(self._in_child, slots)
        self._recipe = recipe
        self._is_batch = is_batch
        self._mine = threading.local()
        self._children: set[_Child] = set()
        self._closed = False
        self._changing = threading.Lock()

    def close(self) -> None:
        """Kills the children: what they still ran has been given back by now."""
        super().close()
        with self._changing:
            self._closed = True
            children, self._children = self._children, set()
        for child in children:
            child.kill()

    def _in_child(self, given: Message | Batch) -> None:
        child: _Child | None = getattr(self._mine, "child", None)
        if child is None or not child.alive():
            child = self._mine.child = self._new_child(instead_of=child)
        error = child.run(list(given) if isinstance(given, Batch) else [given])
        if error is not None:
            raise error

    def _new_child(self, instead_of: "_Child | None") -> "_Child":
        with self._changing:
            if self._closed:
                raise ChildDied(None)
            self._children.discard(instead_of)
            child = _Child(self._recipe, self._is_batch)
            self._children.add(child)
        return child


class _Child:
    """One process and its pipe, used by one thread."""

    def __init__(self, recipe: Recipe, is_batch: bool) -> None:
        context = multiprocessing.get_context("spawn")  # threads and loops run here, and a fork would copy their locks
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, recipe, is_batch), name="tidegate-handler", daemon=True
        )
        self._process.start()
        theirs.close()

    def alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        self._process.kill()

    def run(self, messages: list[Message]) -> BaseException | None:
        """What the handler ended with. Raises ChildDied."""
        told: set[int] = set()
        kill_at_s = float("inf")
        self._send(("run", portable(messages)))
        while True:
            if self._pipe in wait([self._pipe, self._process.sentinel], _LOOK_S):
                word = self._heard()
                if word[0] == "done":
                    error: BaseException | None = word[1]
                    return error
                _pass_on(messages, *word)
            elif not self.alive():
                raise self._died()
            lost = {place for place, message in enumerate(messages) if message.lease_lost.is_set()}
            for place in lost - told:
                self._send(("lost", place))
            if len(lost) == len(messages) and len(told) < len(messages):
                kill_at_s = time.monotonic() + _END_WITHIN_S
            told = lost
            if time.monotonic() >= kill_at_s:
                logger.error("killed the process of message %s: it did not end when told", messages[0].id)
                self.kill()

    def _send(self, word: Any) -> None:
        try:
            self._pipe.send(word)
        except OSError:
            raise self._died() from None

    def _heard(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            raise self._died() from None

    def _died(self) -> ChildDied:
        self._process.join(_END_WITHIN_S)
        return ChildDied(self._process.exitcode)


def _pass_on(messages: list[Message], kind: str, place: int, *what: Any) -> None:
    message = messages[place]
    if kind == "extend":
        message.lease.extend(*what)
    elif kind == "progress":
        message.lease.progress()
    else:
        message.calls.ended(*what)
