"""Handlers for worker processes of the tests: they say on stdout what they do, and wait for what stdin says."""

import asyncio
import os
import sys
import threading
import time
from typing import Final

from tidegate.worker.message import Message

NOT_CALLABLE: Final = 7

_released = threading.Event()


def _release_when_told() -> None:
    sys.stdin.readline()
    _released.set()


threading.Thread(target=_release_when_told, daemon=True).start()


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def quick(message: Message) -> None:
    _say("done", message.body)


def waits(message: Message) -> None:
    """Works until the test sends a line."""
    _say("started", message.body)
    _released.wait()
    _say("done", message.body)


async def waits_async(message: Message) -> None:
    """Works until the test sends a line."""
    loop, let_go = asyncio.get_running_loop(), asyncio.Event()

    def pass_on() -> None:
        _released.wait()
        loop.call_soon_threadsafe(let_go.set)

    threading.Thread(target=pass_on, daemon=True).start()
    _say("started", message.body)
    try:
        await let_go.wait()
    except asyncio.CancelledError:
        _say("told", message.body)
        raise
    _say("done", message.body)


def never_ends(message: Message) -> None:
    """Ignores everything, as code in a C extension may."""
    _say("started", message.body)
    threading.Event().wait()


async def blocks_its_loop(message: Message) -> None:
    """Waits in the loop's own thread: nothing else runs on that loop."""
    _say("started", message.body)
    _released.wait()
    _say("done", message.body)


def dies_of_poison(message: Message) -> None:
    """As a crash in a C extension or the kernel's out-of-memory killer end a process: no exception, no clean-up."""
    _say("started", message.body)
    if message.body == "poison":
        os._exit(139)
    _say("done", message.body)


def takes_half_a_second(message: Message) -> None:
    """Says when it began and when it ended, on the clock that all processes of a machine share."""
    _say("began", message.body, str(time.monotonic()))
    threading.Event().wait(0.5)
    _say("ended", message.body, str(time.monotonic()))


_locks = {"a": threading.Lock(), "b": threading.Lock()}
_both_hold = threading.Barrier(2)


def deadlocks(message: Message) -> None:
    """The messages a and b each hold a lock and want the other's."""
    _say("started", message.body)
    with _locks[message.body]:
        _both_hold.wait()
        with _locks["b" if message.body == "a" else "a"]:
            _say("done", message.body)
