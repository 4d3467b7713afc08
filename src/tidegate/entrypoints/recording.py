"""Recording switched on: every decision is kept where the settings say so."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidegate.config import Settings
from tidegate.controller.recording import recorded
from tidegate.entrypoints.wiring import Wired
from tidegate.errors import ConfigError, Fault
from tidegate.stores.recording import RecordingFile

__all__ = ["recording", "with_record"]

_MEGABYTE = 1_000_000


def with_record(settings: Settings, file: Path | None) -> Settings:
    """The settings with `--record FILE` laid over their `record`."""
    return settings if file is None else replace(settings, record=str(file))


def recording(wired: Wired, settings: Settings, said: Callable[[str], None]) -> Wired:
    """`wired`, keeping its decisions if `record` is set; `said` hears when they can't be kept, and when they can again.

    Raises ConfigError where there is no such directory: a disk may fill up later, a slip of the pen is told now.
    """
    if settings.record is None:
        return wired
    file = Path(settings.record)
    if file.is_dir() or not file.resolve().parent.is_dir():
        problem = "is a directory" if file.is_dir() else "its directory does not exist"
        raise ConfigError([Fault("record", settings.record, problem, "name a file in a directory that is there")])
    keep = RecordingFile(file, settings.record_megabytes * _MEGABYTE, said).keep
    return replace(wired, pools=tuple(replace(pool, decide=recorded(pool.decide, keep)) for pool in wired.pools))
