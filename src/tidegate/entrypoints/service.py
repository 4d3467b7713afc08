"""`tidegate run` and `tidegate once`: check that everything is there, then tick."""

import signal
import socket
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

_DONE = b"\0"
"""No signal has this number."""

_CHECK_THREADS = 32
"""Enough for the three reads of ten pools at once: a silent endpoint takes almost five seconds for each."""


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
    """Run `work` in a thread, with an event that SIGTERM and SIGINT set; what it gives or raises.

    The main thread only waits, on a socket that the signals themselves write to. Setting the event in a Python signal
    handler would be shorter and hangs: a second signal can interrupt the handler while it holds the event's lock, and
    one that comes right before the main thread blocks on a lock is not seen until another comes. Both were met with two
    signals in a row (https://docs.python.org/3/library/signal.html#signal.set_wakeup_fd).
    """
    stop = threading.Event()
    with _signals_as_bytes() as (told, tell), ThreadPoolExecutor(1, thread_name_prefix="loop") as executor:
        future = executor.submit(work, stop)
        future.add_done_callback(lambda _: tell.send(_DONE))
        while (heard := told.recv(1)) != _DONE:
            if heard[0] in STOP_SIGNALS:
                stop.set()
        return future.result()


@contextmanager
def _signals_as_bytes() -> Iterator[tuple[socket.socket, socket.socket]]:
    """(reader, writer): each signal's number arrives at the reader as a byte. What was set before is put back."""
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        fd_before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        # The byte is written in C; the handler in Python has nothing left to do, but without one the signal kills.
        handlers_before = {number: signal.signal(number, lambda *_: None) for number in STOP_SIGNALS}
        try:
            yield reader, writer
        finally:
            for number, handler in handlers_before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(fd_before)


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
