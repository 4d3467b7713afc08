"""What the lab's commands share: a directory to write to, the console, and the progress bar."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tidegate.errors import ConfigError, Fault

__all__ = ["console", "directory", "progress"]

WIDTH = 150


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
