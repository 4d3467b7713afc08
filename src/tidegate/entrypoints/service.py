"""`tidegate run` as a process: it ticks until SIGTERM or SIGINT, finishes what is in hand, and ends."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

__all__ = ["STOP_SIGNALS", "run_until_signal"]

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run_until_signal(work: Callable[[threading.Event], None]) -> None:
    """Run `work` with an event that SIGTERM and SIGINT set; raises whatever `work` raises.

    `work` runs in a thread of its own while the main thread does nothing but take signals. A handler runs between any
    two steps of the main thread: had that just taken the event's lock to wait on it, setting the event would hang.
    """
    stop = threading.Event()
    with _set_on_signal(stop), ThreadPoolExecutor(1, thread_name_prefix="loop") as executor:
        executor.submit(work, stop).result()


@contextmanager
def _set_on_signal(stop: threading.Event) -> Iterator[None]:
    """The handlers that were there before are put back at the end."""
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
