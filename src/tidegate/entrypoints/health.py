"""`tidegate health`: one line and an exit code, for `HEALTHCHECK` and ECS's container health check."""

import json
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from tidegate.core.notation.local_path import no_file
from tidegate.entrypoints.show import say, warn

__all__ = ["health"]

_OLD_S: Final = 30.0
"""Six times the interval in which a worker writes its file; a controller's says itself how long it holds."""


def health(
    file: Annotated[
        Path | None,
        typer.Option(
            envvar=["TIDEGATE_WORKER_HEALTH_FILE", "TIDEGATE_HEALTH_FILE"],
            help="The file that the worker or the controller writes (its setting health_file).",
        ),
    ] = None,
) -> None:
    """Say whether this container's worker or controller is healthy: one line, and exit code 0 or 1 (2: no file)."""
    if file is None:
        warn(
            "no --file, TIDEGATE_WORKER_HEALTH_FILE or TIDEGATE_HEALTH_FILE: write --file PATH, or set the variable as "
            "for the worker or controller"
        )
        raise typer.Exit(2)
    well, line = _read(file, time.time())
    (say if well else warn)(line)
    raise typer.Exit(0 if well else 1)


def _read(file: Path, now_s: float) -> tuple[bool, str]:
    try:
        if wrong := no_file(str(file), file.stat().st_mode):
            return False, f"the health file {file} {wrong}: name the file that the worker or the controller writes"
        told = json.loads(file.read_text())
        age_s = now_s - float(told["at_s"])
        well, line, old_s = bool(told["healthy"]), str(told["line"]), float(told.get("good_for_s", _OLD_S))
    except FileNotFoundError:
        return False, f"no health file {file}: worker or controller has not started, or its health_file is another"
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return False, f"the health file {file} can't be read: {error!r}"
    if age_s > old_s:
        return False, f"stuck: the last word is {age_s:.0f} s old ({line})"
    return well, line
