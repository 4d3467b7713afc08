"""Looking at processes, by their ids only."""

import os
import subprocess
import threading
import time

__all__ = ["children_of", "is_alive", "wait_for_children", "wait_until_gone"]


def children_of(pid: int) -> list[int]:
    """The ids of the direct children that are not zombies, as `ps` tells them on Linux and macOS alike."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat=,command="], capture_output=True, text=True, check=True)  # noqa: S607
    rows = (line.split(None, 3) for line in listed.stdout.splitlines())
    return [
        int(row[0])
        for row in rows
        if int(row[1]) == pid and not row[2].startswith("Z") and not row[3].startswith("ps -A")
    ]


def wait_for_children(pid: int, at_least: int, within_s: float) -> list[int]:
    """The children of `pid`, as soon as there are enough. Raises TimeoutError."""
    deadline_s = time.monotonic() + within_s
    look_again = threading.Event()
    while len(children := children_of(pid)) < at_least:
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"process {pid} has {len(children)} children after {within_s:g} s, not {at_least}")
        look_again.wait(0.1)
    return children


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(pids: list[int], within_s: float) -> list[int]:
    """Those that are still there after `within_s` at most."""
    deadline_s = time.monotonic() + within_s
    look_again = threading.Event()
    left = [pid for pid in pids if is_alive(pid)]
    while left and time.monotonic() < deadline_s:
        look_again.wait(0.05)
        left = [pid for pid in left if is_alive(pid)]
    return left
