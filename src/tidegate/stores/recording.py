"""Recordings on disk: JSON lines that never grow beyond a size, and never stop the one who writes them."""

import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from tidegate.core.notation.local_path import no_file
from tidegate.core.stored.codec import from_json, to_json
from tidegate.core.stored.recording import Record
from tidegate.errors import RecordingUnreadable, StateUnreadable

__all__ = ["RecordingFile", "older", "read_recording"]

LONGEST_LINE = 64_000_000
"""Bytes. A pool of thousands of workers makes lines of a few megabytes; what is longer was not written here."""

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC


def older(path: Path) -> Path:
    """Where the half before the current one is kept."""
    return path.with_name(path.name + ".1")


class RecordingFile:
    """Appends records to `path`; at half of `most_bytes` that file becomes the older half and a new one is begun.

    So between half and all of `most_bytes` of the latest decisions are there, and never more. What can't be written
    (a full disk, a directory taken away, a pipe that nobody reads) is lost: `said` hears of it once, and once more when
    writing works again. A line is on disk whole or not at all, unless the process is killed in its middle. It is opened
    for each line, so that a file that somebody moved or deleted is simply begun anew. Safe to share between threads;
    each controller needs a file of its own.
    """

    def __init__(self, path: Path, most_bytes: int, said: Callable[[str], None]) -> None:
        self._path = path
        self._half = most_bytes // 2
        self._said = said
        self._lost = 0
        self._is_cut = False
        self._lock = threading.Lock()

    def keep(self, record: Record) -> None:
        """Append one record, or lose it. Raises nothing that a file system can cause."""
        try:
            line = to_json(record).encode() + b"\n"
            with self._lock:
                self._append(line)
        except (OSError, ValueError) as error:  # ValueError: a number that JSON has not
            self._lose(error)
        else:
            self._found()

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, _FLAGS, 0o600)
        try:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode) and found.st_size and found.st_size + len(line) > self._half:
                os.replace(self._path, older(self._path))
                os.close(descriptor)
                descriptor = os.open(self._path, _FLAGS, 0o600)
                found = os.fstat(descriptor)
            self._write(descriptor, line, found)
        finally:
            os.close(descriptor)

    def _write(self, descriptor: int, line: bytes, found: os.stat_result) -> None:
        """All of the line. Of one that does not fit nothing stays in a file; in a pipe the next line ends it."""
        rest = b"\n" + line if self._is_cut else line
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            if stat.S_ISREG(found.st_mode):
                os.ftruncate(descriptor, found.st_size)
            else:
                self._is_cut = self._is_cut or len(rest) < len(line)
            raise
        self._is_cut = False

    def _lose(self, error: Exception) -> None:
        self._lost += 1
        if self._lost == 1:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._said(f"decisions can't be recorded in {self._path}: {reason}; they are made all the same")

    def _found(self) -> None:
        if self._lost:
            self._said(f"decisions are recorded in {self._path} again; {self._lost} were not")
            self._lost = 0


def read_recording(path: Path) -> Iterator[Record]:
    """Each record, in the order of writing, read as it is asked for.

    Raises RecordingUnreadable for a file that can't be read, is no recording, holds another schema, or ends in the
    middle of a line.
    """
    number = 0
    try:
        if wrong := no_file(str(path), path.stat().st_mode):
            raise RecordingUnreadable(str(path), f"can't be opened: {wrong}", "name a recording")
        with path.open("rb") as lines:
            while line := lines.readline(LONGEST_LINE):
                number += 1
                yield _record(path, number, line)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise RecordingUnreadable(str(path), f"can't be opened: {reason}", "name a recording") from error
    if number == 0:
        raise RecordingUnreadable(str(path), "is empty", "let the controller run for a tick or two")


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        return from_json(Record, line.decode())
    except (StateUnreadable, UnicodeDecodeError) as error:
        raise _unreadable(path, number, line, error) from error


def _unreadable(path: Path, number: int, line: bytes, error: Exception) -> RecordingUnreadable:
    """The reason that fits best: another program's file, a line without its end, another schema, or plain damage."""
    detail = error.detail if isinstance(error, StateUnreadable) else "not UTF-8"
    file = str(path)
    if number == 1 and b'"tidegate tick"' not in line:
        fix = "name a file that `tidegate run --record FILE` wrote"
        return RecordingUnreadable(file, "is no recording of tidegate", fix)
    if not line.endswith(b"\n"):
        problem = f"ends in the middle of line {number}: its writer was stopped there"
        return RecordingUnreadable(file, problem, f"keep the whole ones: head -n {number - 1} {file} > whole.jsonl")
    if detail.startswith("schema"):
        return RecordingUnreadable(file, f"line {number} has {detail}", "run the tidegate version that wrote it")
    fix = f"take the line out: sed -i {number}d {file}"
    return RecordingUnreadable(file, f"line {number} is damaged: {detail}", fix)
