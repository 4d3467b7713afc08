"""What a command leaves in a file that its user named: looked at before the run, written after it."""

import os
from pathlib import Path

from tidegate.errors import ConfigError, Fault

__all__ = ["writable", "write"]


def writable(option: str, file: Path | None) -> None:
    """Raises ConfigError when the file's directory is not there, or it is one: better now than after the run."""
    if file is None:
        return
    if not file.resolve().parent.is_dir():
        fix = "create that directory or write another file"
        raise ConfigError([Fault(option, str(file), "its directory does not exist", fix)])
    if file.is_dir():
        raise ConfigError([Fault(option, str(file), "is a directory", "write the name of a file")])
    if not os.access(file if file.exists() else file.resolve().parent, os.W_OK):
        fix = "write another file, or let this user write there"
        raise ConfigError([Fault(option, str(file), "may not be written (permissions, or a read-only disk)", fix)])


def write(option: str, file: Path | None, text: str) -> None:
    """`text` into the file, if there is to be one. Raises ConfigError when that fails, such as on a full disk."""
    if file is None:
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"can't be written ({error.strerror})"
        raise ConfigError([Fault(option, str(file), problem, "make room there or write another file")]) from error
