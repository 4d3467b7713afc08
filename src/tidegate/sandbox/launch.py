"""The parent's side of the tether: start children that end when this process does, in a sandbox's environment."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["Launcher", "Program", "sealed"]

_NOT_INHERITED = ("AWS_", "BOTO_", "ECS_", "TIDEGATE_")
"""Real accounts, a container's own endpoints, and settings meant for another worker or controller."""
_NO_PROXY = ("NO_PROXY", "no_proxy")  # programs read either; Python prefers the second


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

        Of the shell's variables those are left out that could lead out of the sandbox or change what runs in it, and
        no proxy stands between a child and this machine.
        """
        command = [sys.executable, "-m", "tidegate.sandbox.tether", str(self._read_fd), program.target, *program.args]
        with ExitStack() as stack:
            output = stack.enter_context(log.open("ab")) if log else None
            return subprocess.Popen(  # noqa: S603 - the caller's own program, no shell
                command,
                env=_inherited(os.environ) | dict(program.env) | dict(env or {}),
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


@contextmanager
def sealed(environ: MutableMapping[str, str]) -> Iterator[None]:
    """This process under the same rules as its children: moto makes boto3 sessions, which read profiles and files."""
    before = dict(environ)
    files = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
    _replace(environ, _inherited(environ) | files)
    try:
        yield
    finally:
        _replace(environ, before)


def _replace(environ: MutableMapping[str, str], by: Mapping[str, str]) -> None:
    for name in environ.keys() - by.keys():
        del environ[name]
    environ.update(by)


def _inherited(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if not name.startswith(_NOT_INHERITED)}
    return kept | {name: _with_this_machine(environ.get(name)) for name in _NO_PROXY}


def _with_this_machine(exceptions: str | None) -> str:
    if exceptions == "*":  # only when it stands alone does it mean every host
        return exceptions
    return f"{exceptions},127.0.0.1" if exceptions else "127.0.0.1"
