"""Ctrl-C, SIGTERM and SIGHUP end a demo in order: workers drain, servers stop, the terminal is given back."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stopping_on_signals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopping_on_signals() -> Iterator[None]:
    """The first signal unwinds the block and ends the program with 128 + its number, as a shell would say it.

    A second one ends it at once; even then the tether ends every child.
    """
    told: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        if told:
            os._exit(128 + number)
        told.append(number)
        sys.stderr.write("\nstopping: workers finish what they hold (once more: at once)\n")
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if told:
            name = signal.Signals(told[0]).name
            sys.stderr.write(f"stopped by {name}; workers and servers have been ended, nothing is left running\n")
