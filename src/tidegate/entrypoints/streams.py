"""Output that fails: a full disk, a reader that has gone, a stream that was never there. None of it stops a tick."""

import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

__all__ = ["Lossy", "ending_well"]

_FAULT = 2
_READER_GONE = 1


_writing = threading.Lock()
"""Several of these may write to one stream, from several threads: never into each other's lines."""


class Lossy:
    """Writes to `stream`. What can't be written is lost, and what comes next is tried again.

    It goes past the buffers of `stream`: they would keep what failed, try it again with every line, and make a failed
    exit code of it at the end of the process. A line that was cut (the disk was full in its middle) is ended before the
    next, which is whole.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_cut = False

    def write(self, text: str, /) -> int:
        """The length of `text`, written or not."""
        with _writing, suppress(OSError, ValueError):  # ValueError: it has been closed
            self._write(f"\n{text}" if self._is_cut else text)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        try:
            return self._stream.isatty()
        except ValueError:
            return False

    def _write(self, text: str) -> None:
        try:
            descriptor = self._stream.fileno()
        except (OSError, ValueError):  # a stream in memory
            self._stream.write(text)
            self._stream.flush()
            return
        rest = text.encode(self._stream.encoding or "utf-8", "backslashreplace")
        while rest:
            written = os.write(descriptor, rest)
            self._is_cut = written < len(rest)
            rest = rest[written:]


class _Unwritable(OSError):
    """stdout can't be written. Its own kind, as any OSError else may come from anywhere."""


class _Marked:
    """stdout, whose failures can be told from those of other files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with _marking():
            return self._stream.write(text)

    def flush(self) -> None:
        with _marking():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _marking() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader's wish, and click's to obey
    except OSError as error:
        raise _Unwritable(error.errno, error.strerror) from error


@contextmanager
def ending_well() -> Iterator[None]:
    """Around a whole command: standard streams that were closed lead nowhere, and a stdout that can't be written ends
    it with one line and exit code 2.

    A reader that has gone is not told of: that is how `| head` ends everything before it. Exit code 1, as click's.
    """
    _open_closed()
    _say_all(sys.stdout)
    stdout = sys.stdout
    sys.stdout = cast(TextIO, _Marked(stdout))
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence(stdout)
        sys.exit(_READER_GONE)
    except _Unwritable as error:
        _silence(stdout)
        Lossy(sys.stderr).write(f"tidegate: can't write to stdout: {error.strerror}; make room or write elsewhere\n")
        sys.exit(_FAULT)


def _open_closed() -> None:
    """Python has None for them, and the next file or socket to be opened would get their numbers, and their lines."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  for as long as the process


def _say_all(stream: TextIO) -> None:
    """An arrow that the stream's encoding has not (a C locale, PYTHONIOENCODING) is written as Python would: stderr
    does so by itself."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _silence(stdout: TextIO) -> None:
    """Python flushes once more at the end, and would end with 120 and a word of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
