"""`tidegate run` and `tidegate once`: check that everything is there, then tick."""

import math
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from tidegate.controller.controller import MOST_THREADS, Controller, Outcome
from tidegate.controller.loop import run_times, run_until_stopped
from tidegate.controller.preflight import check, lines
from tidegate.entrypoints.threads import DaemonThreads
from tidegate.entrypoints.wiring import Wired
from tidegate.errors import Throttled, TidegateError
from tidegate.ports import EventSink

__all__ = ["STOP_SIGNALS", "NotReady", "serve", "serve_once", "tick_once", "tick_times", "until_signal"]

T = TypeVar("T")
Say = Callable[[str], None]
"""Takes one line for people."""

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_DONE = b"\0"
"""No signal has this number."""
_AT_ONCE = 4096
"""Signals taken up in one go."""


class NotReady(TidegateError):
    """No pool can be served; one line per fault."""


def serve(
    wired: Wired,
    sink: EventSink,
    not_ready: Say,
    doubtful: Say,
    stop: threading.Event,
    beat: Callable[[float, int], None] | None = None,
) -> None:
    """Tick until `stop`, telling `beat` of each tick. Pools that something is missing for are told to `not_ready` and
    tried again at each tick; what does not fit the settings is told to `doubtful`. A stop is obeyed before the first
    tick too, at once.

    Raises NotReady when all of the pools lack something.
    """
    missing, warnings = _findings(wired, stop)
    for line in missing:
        not_ready(line)
    for line in warnings:
        doubtful(line)
    with _controlling(wired, sink) as controller:
        run_until_stopped(controller, wired.tick_s, wired.clock, stop, sink, beat)


def serve_once(wired: Wired, sink: EventSink, doubtful: Say) -> list[Outcome]:
    """One tick of every pool, which also says what is missing. Raises NotReady when none of them can be served."""
    _, warnings = _findings(wired, threading.Event())
    for line in warnings:
        doubtful(line)
    return tick_once(wired, sink)


def tick_once(wired: Wired, sink: EventSink) -> list[Outcome]:
    """One tick of every pool, without a look beforehand."""
    return tick_times(wired, sink, 1, lambda: math.inf)


def tick_times(wired: Wired, sink: EventSink, times: int, left_s: Callable[[], float]) -> list[Outcome]:
    """Several ticks of every pool, as long as `left_s` allows; each pool's last outcome."""
    with _controlling(wired, sink) as controller:
        return run_times(controller, times, wired.tick_s, wired.clock, left_s, sink)


def until_signal(work: Callable[[threading.Event], T]) -> T:
    """Run `work` in a thread, with an event that SIGTERM and SIGINT set; what it gives or raises.

    Once one of them has come, they are ignored until the process ends: it is ending, and a second one that met it on
    its last steps would make a failure of that.

    The main thread only waits, on a socket that the signals themselves write to. Setting the event in a Python signal
    handler would be shorter and hangs: a second signal can interrupt the handler while it holds the event's lock, and
    one that comes right before the main thread blocks on a lock is not seen until another comes. Both were met with two
    signals in a row (https://docs.python.org/3/library/signal.html#signal.set_wakeup_fd).
    """
    stop = threading.Event()
    with _signals_as_bytes() as (told, tell), ThreadPoolExecutor(1, thread_name_prefix="loop") as executor:
        future = executor.submit(work, stop)

        def wake(_: object) -> None:
            with suppress(BlockingIOError):  # full of signals: those wake as well
                tell.send(_DONE)

        future.add_done_callback(wake)
        while not future.done():
            if any(number in STOP_SIGNALS for number in told.recv(_AT_ONCE)):
                _ignore_signals()
                stop.set()
        return future.result()


def _ignore_signals() -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _signals_as_bytes() -> Iterator[tuple[socket.socket, socket.socket]]:
    """(reader, writer): each signal's number arrives at the reader as a byte.

    What was set before is put back, unless the signals have come to be ignored meanwhile.
    """
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
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, handler)
            signal.set_wakeup_fd(fd_before)


def _findings(wired: Wired, stop: threading.Event) -> tuple[list[str], list[str]]:
    """A line for each thing that is missing, and for each that does not fit. Raises NotReady."""
    with DaemonThreads(MOST_THREADS, "check") as executor:
        findings = check(wired.pools, executor, stop)
    if stop.is_set():
        return [], []  # with some of the answers only, nothing can be said of a pool
    missing = [finding for finding in findings if not finding.warning]
    # Throttled is no reason to end: it passes by itself, and a restart would only ask more.
    lost = {finding.pool for finding in missing if not isinstance(finding.error, Throttled)}
    if lost == {pool.name for pool in wired.pools}:
        raise NotReady("\n".join(lines(missing)))
    return lines(missing), lines([finding for finding in findings if finding.warning])


@contextmanager
def _controlling(wired: Wired, sink: EventSink) -> Iterator[Controller]:
    """A controller with its threads, which have ended afterwards."""
    with (
        ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="pool") as executor,
        ThreadPoolExecutor(1, thread_name_prefix="metrics") as background,
    ):
        yield Controller(wired.pools, wired.metrics, sink, executor, background, wired.clock, wired.publisher)
