"""What the lab's commands share: files to write to, and the progress bar."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tidegate.errors import ConfigError, Fault

__all__ = ["console", "progress", "writable"]

WIDTH = 150


def writable(option: str, file: Path | None) -> None:
    """Raises ConfigError when the file's directory is not there: better now than after the run."""
    if file is not None and not file.resolve().parent.is_dir():
        fix = "create that directory or write another file"
        raise ConfigError([Fault(option, str(file), "its directory does not exist", fix)])


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
