"""The parent's side of the tether: start children that end when this process does."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["Launcher", "Program"]


@dataclass(frozen=True, slots=True)
class Program:
    """What a child runs: a target as `tether.hand_over` reads it, its arguments, and additions to the environment."""

    target: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


class Launcher:
    """Starts tethered children; `close()` ends every child that is still there.

    One pipe serves them all. Its write end is close-on-exec, so no child inherits it, however many there are.
    """

    def __init__(self) -> None:
        self._read_fd, self._write_fd = os.pipe()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(
        self, program: Program, env: Mapping[str, str] | None = None, log: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start `program` with its own environment plus `env`; its output is appended to `log`, or shared with ours.

        The shell's AWS_ variables are left out: a sandbox must never reach a real account by accident.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        command = [sys.executable, "-m", "tidegate.sandbox.tether", str(self._read_fd), program.target, *program.args]
        with ExitStack() as stack:
            output = stack.enter_context(log.open("ab")) if log else None
            return subprocess.Popen(  # noqa: S603 - the caller's own program, no shell
                command,
                env=inherited | dict(program.env) | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(self._read_fd,),
                # Ctrl-C reaches the parent only, which then ends its children in order.
                start_new_session=True,
            )

    def close(self) -> None:
        """Let go of the pipe; the tether of every child that still runs ends it. Safe to call twice."""
        for fd in (self._write_fd, self._read_fd):
            if fd >= 0:
                os.close(fd)
        self._read_fd = self._write_fd = -1
