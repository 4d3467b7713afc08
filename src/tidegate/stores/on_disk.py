"""JSON files that are always whole: written beside their place and moved into it; their faults as typed errors."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from tidegate.core.stored.codec import from_json
from tidegate.errors import Denied, StateUnreadable, Unreachable

__all__ = [
    "HALF_WRITTEN",
    "decode",
    "field_of",
    "file_name",
    "locked",
    "pool_place",
    "read_json",
    "replace_file",
    "using",
]

T = TypeVar("T")

HALF_WRITTEN: Final = ".new"


def pool_place(directory: Path, pool: str) -> Path:
    """Where a pool's files are."""
    return directory / f"{file_name(pool)}.pool"


@contextmanager
def locked(place: Path, *folders: str) -> Iterator[None]:
    """The pool's directory, with these folders in it, for this process alone; the lock goes when the process ends."""
    with using(place):
        for folder in folders:
            (place / folder).mkdir(parents=True, exist_ok=True)
        with (place / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file closes
            yield


@contextmanager
def using(place: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        fix = "let the user that tidegate runs as use it, or choose another directory"
        raise Denied("file:access", str(place), str(error), fix) from error
    except OSError as error:
        raise Unreachable("file:access", str(place), str(error), "check the directory and its disk") from error


def read_json(what: str, path: Path) -> dict[str, Any] | None:
    """None when there is no such file."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise StateUnreadable(what, f"{path} is not JSON ({error})") from error
    if not isinstance(data, dict):
        raise StateUnreadable(what, f"{path} is not a JSON object")
    return data


def field_of(what: str, data: dict[str, Any], name: str, kind: type[T]) -> T:
    value = data.get(name)
    if not isinstance(value, kind):
        raise StateUnreadable(what, f"`{name}` is {type(value).__name__}, not {kind.__name__}")
    return value


def decode(what: str, kind: type[T], data: dict[str, Any]) -> T:
    try:
        return from_json(kind, json.dumps(data))
    except StateUnreadable as error:
        raise StateUnreadable(what, error.detail) from error


def replace_file(path: Path, text: str, *, durable: bool) -> None:
    half_written = path.with_name(path.name + HALF_WRITTEN)
    with half_written.open("w") as file:
        file.write(text)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    half_written.replace(path)


def file_name(name: str) -> str:
    return quote(name, safe="")
