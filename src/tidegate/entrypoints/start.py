"""The console script's first lines: SIGTERM is heard before anything that takes time is loaded.

In a container the command is process 1. Linux gives process 1 no default action: a signal that it has no handler for is
dropped (https://man7.org/linux/man-pages/man7/pid_namespaces.7.html). Loading takes a second, and a user's module may
take minutes; a SIGTERM of that time would be lost, and the platform would kill the worker in the end.
"""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

__all__ = ["main"]

_UNTIL_SIGNALLED = ("run", "work")
"""The commands that go on until they are told to stop; all others end by themselves."""


def main() -> None:
    """The `tidegate` command."""
    if sys.argv[1:2] and sys.argv[1] in _UNTIL_SIGNALLED:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _leave)
    from tidegate.entrypoints.cli import main as command

    command()


def _leave(number: int, frame: FrameType | None) -> None:
    """Ends the process at once, with 0: while it loads there is nothing in hand that could be finished or given back.

    Worker and controller put their own handlers in place of this one before they ask AWS for anything. `os._exit`
    because an exception could be caught by the module that is being imported just now.
    """
    with suppress(OSError):
        os.write(
            2, f"tidegate: {signal.Signals(number).name} came before the work had begun; nothing to finish\n".encode()
        )
    os._exit(0)
