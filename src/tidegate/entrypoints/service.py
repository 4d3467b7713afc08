"""`tidegate run` and `tidegate once`: check that everything is there, then tick."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from tidegate.controller.controller import Controller, Outcome, thread_count
from tidegate.controller.loop import run_until_stopped
from tidegate.controller.preflight import Finding, check, lines
from tidegate.entrypoints.wiring import Wired
from tidegate.errors import Throttled, TidegateError
from tidegate.ports import EventSink

__all__ = ["STOP_SIGNALS", "NotReady", "serve", "serve_once", "until_signal"]

T = TypeVar("T")

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_CHECK_THREADS = 32
"""Enough for the four reads of eight pools at once: a silent endpoint takes almost five seconds for each."""


class NotReady(TidegateError):
    """No pool can be served; one line per fault."""


def serve(wired: Wired, sink: EventSink, not_ready: Callable[[str], None], stop: threading.Event) -> None:
    """Tick until `stop`. Pools that something is missing for are told to `not_ready` and tried again at each tick.

    Raises NotReady when that is all of them.
    """
    for line in lines(_findings(wired)):
        not_ready(line)
    with ThreadPoolExecutor(thread_count(len(wired.pools)), thread_name_prefix="pool") as executor:
        run_until_stopped(_controller(wired, sink, executor), wired.tick_s, wired.clock, stop, sink)


def serve_once(wired: Wired, sink: EventSink) -> list[Outcome]:
    """One tick of every pool. Raises NotReady when none of them can be served."""
    _findings(wired)
    with ThreadPoolExecutor(thread_count(len(wired.pools)), thread_name_prefix="pool") as executor:
        return [future.result() for future in _controller(wired, sink, executor).tick()]


def until_signal(work: Callable[[threading.Event], T]) -> T:
    """Run `work` with an event that SIGTERM and SIGINT set; what it gives or raises.

    `work` runs in a thread of its own while the main thread does nothing but take signals. A handler runs between any
    two steps of the main thread: had that just taken the event's lock to wait on it, setting the event would hang.
    """
    stop = threading.Event()
    with _set_on_signal(stop), ThreadPoolExecutor(1, thread_name_prefix="loop") as executor:
        return executor.submit(work, stop).result()


def _findings(wired: Wired) -> list[Finding]:
    with ThreadPoolExecutor(_CHECK_THREADS, thread_name_prefix="check") as executor:
        findings = check(wired.pools, executor)
    # Throttled is no reason to end: it passes by itself, and a restart would only ask more.
    lost = {finding.pool for finding in findings if not isinstance(finding.error, Throttled)}
    if lost == {pool.name for pool in wired.pools}:
        raise NotReady("\n".join(lines(findings)))
    return findings


def _controller(wired: Wired, sink: EventSink, executor: Executor) -> Controller:
    return Controller(wired.pools, wired.metrics, sink, executor, wired.clock)


@contextmanager
def _set_on_signal(stop: threading.Event) -> Iterator[None]:
    """The handlers that were there before are put back at the end."""
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
