"""Threads for calls that may be given up: the process does not wait for them at its end."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

__all__ = ["DaemonThreads"]

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(Executor):
    """Up to `most` threads. A `ThreadPoolExecutor` joins its threads before the process may end, so that a call that
    gets no answer holds up a stop for as long as it takes to give up. These are left behind, with what they were at:
    for reads only. So is `shutdown` (and the end of a `with`): each thread ends when its work has run out, and nobody
    waits for that.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._started = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Called from one thread only."""
        future: Future[T] = Future()

        def carry_out() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001  the future raises it
                future.set_exception(error)

        self._work.put(carry_out)
        if self._started < self._most:
            self._started += 1
            threading.Thread(target=self._serve, name=f"{self._name}-{self._started}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for _ in range(self._started):
            self._work.put(None)

    def _serve(self) -> None:
        while (carry_out := self._work.get()) is not None:
            carry_out()
