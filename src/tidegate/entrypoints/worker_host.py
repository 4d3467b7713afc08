"""What a worker finds in the program that it runs in: a clock, a thread for the SDK, a log, a loop for a test."""

import logging
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Final

__all__ = ["in_a_thread", "inline", "log_to_stderr", "steady"]

_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Leases run on while a machine sleeps, so the clock that goes on then too, where there is one (Linux)."""


def steady() -> float:
    """Seconds of a clock that nobody sets."""
    return time.clock_gettime(_STEADY)


def log_to_stderr(level: str) -> None:
    """For a program that has set up no logging. What AWS's clients log at lower levels may hold message bodies."""
    if not logging.getLogger().handlers:
        logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        for talkative in ("aiobotocore", "asyncio", "botocore"):
            logging.getLogger(talkative).setLevel(logging.WARNING)


def inline(handler: Callable[[Any], object]) -> Callable[[Any], Awaitable[object]]:
    """A sync handler as an async one that blocks its loop: for tests in virtual time."""

    async def call(given: object) -> object:
        return handler(given)

    return call


def in_a_thread(work: Callable[[], None]) -> Future[None]:
    """Runs `work` in a daemon thread: a program that ends without waiting for it ends, as ThreadPoolExecutor's do not.

    The future can't be cancelled.
    """
    outcome: Future[None] = Future()
    outcome.set_running_or_notify_cancel()

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  whatever it is, it is raised where the outcome is awaited
            outcome.set_exception(error)
        else:
            outcome.set_result(None)

    threading.Thread(target=run, name="tidegate-sdk", daemon=True).start()
    return outcome
