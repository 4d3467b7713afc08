"""What several commands share: the settings file and how it is read, the log level, a pool's name."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.entrypoints.show import warn
from tidegate.errors import Fault

if TYPE_CHECKING:
    from tidegate.config import Settings

__all__ = ["DEFAULT_CONFIG", "EXIT_FAULT", "ConfigFile", "DryRun", "LogLevel", "RecordFile", "load_settings", "warn_of"]

DEFAULT_CONFIG = "tidegate.toml"
EXIT_FAULT = 2

ConfigFile = Annotated[
    str,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        envvar="TIDEGATE_CONFIG",
        help="The settings: a file, ssm:PARAMETER or s3://BUCKET/KEY.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Decide as ever, but set and store nothing.")]
RecordFile = Annotated[
    Path | None, typer.Option("--record", help="Record every decision here, for `tidegate replay`; wins over `record`.")
]
LogLevel = Annotated[str, typer.Option("--log-level", help="debug, info, warning or error.")]


def load_settings(config: str) -> "Settings":
    """The settings, their warnings having been shown. Raises ConfigError with every fault."""
    from tidegate.entrypoints.sources import load_from

    loaded = load_from(config, os.environ)
    warn_of(loaded.warnings)
    return loaded.settings


def warn_of(warnings: tuple[Fault, ...]) -> None:
    """One line each."""
    for warning in warnings:
        warn(f"warning: {warning}")
