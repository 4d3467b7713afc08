"""Processes that are measured from outside: started on one core, ended with all that they started."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

__all__ = ["cpu_s", "peak_mb", "running"]

_TICKS: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def running(
    command: Sequence[str], environment: dict[str, str], core: int, cwd: Path, **streams: Any
) -> Iterator["subprocess.Popen[bytes]"]:
    """On one core, in a group of its own, which is ended as a whole. Streams that are not given lead nowhere."""
    null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    with subprocess.Popen(command, cwd=cwd, env=environment, start_new_session=True, **{**null, **streams}) as process:
        try:
            os.sched_setaffinity(process.pid, {core})
            yield process
        finally:
            os.killpg(process.pid, 9)


def cpu_s(pid: int) -> float:
    """User and system time of a process and its descendants, in seconds."""
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in _family(pid)]
    return sum(int(each[11]) + int(each[12]) for each in fields) / _TICKS


def peak_mb(pid: int) -> float:
    """The most memory that a process and its descendants ever had resident."""
    lines = [line for each in _family(pid) for line in Path(f"/proc/{each}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(descendant for child in children for descendant in _family(int(child)))]
