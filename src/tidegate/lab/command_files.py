"""What the lab's commands share: files to write to, and the progress bar."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tidegate.errors import ConfigError, Fault

__all__ = ["console", "directory", "progress", "writable", "write"]

WIDTH = 150


def writable(option: str, file: Path | None) -> None:
    """Raises ConfigError when the file's directory is not there, or it is one: better now than after the run."""
    if file is not None and not file.resolve().parent.is_dir():
        fix = "create that directory or write another file"
        raise ConfigError([Fault(option, str(file), "its directory does not exist", fix)])
    if file is not None and file.is_dir():
        raise ConfigError([Fault(option, str(file), "is a directory", "write the name of a file")])


def write(option: str, file: Path | None, text: str) -> None:
    """`text` into the file, if there is to be one. Raises ConfigError when that fails, such as on a full disk."""
    if file is None:
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"can't be written ({error.strerror})"
        raise ConfigError([Fault(option, str(file), problem, "make room there or write another file")]) from error


def directory(option: str, path: Path | None) -> None:
    """Makes the directory, if there is to be one. Raises ConfigError when that can't be."""
    if path is None:
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"is no directory and can't be made one ({error.strerror})"
        raise ConfigError([Fault(option, str(path), problem, "name a directory that may be written to")]) from error


def console() -> Console:
    """Stdout; tables get the room that they need where it is no terminal."""
    out = Console()
    return out if out.is_terminal else Console(width=WIDTH)


def progress() -> Progress:
    """On stderr, so that stdout holds the result alone."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
