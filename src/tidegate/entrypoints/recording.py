"""What `run` writes where the settings say so: every decision for `replay`, and a sign of life for `health`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidegate.config import Settings
from tidegate.controller.recording import recorded
from tidegate.entrypoints.wiring import Wired
from tidegate.errors import ConfigError, Fault
from tidegate.stores.pulse import Pulse
from tidegate.stores.recording import RecordingFile

__all__ = ["beating", "recording", "with_record"]

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
    keep = RecordingFile(_place("record", settings.record), settings.record_megabytes * _MEGABYTE, said).keep
    return replace(wired, pools=tuple(replace(pool, decide=recorded(pool.decide, keep)) for pool in wired.pools))


def beating(settings: Settings, said: Callable[[str], None]) -> Callable[[float, int], None] | None:
    """What writes `health_file` at each tick; None where the settings name none. Raises ConfigError as `recording`."""
    if settings.health_file is None:
        return None
    return Pulse(_place("health_file", settings.health_file), settings.tick_s, said).beat


def _place(setting: str, text: str) -> Path:
    file = Path(text)
    if file.is_dir() or not file.resolve().parent.is_dir():
        problem = "is a directory" if file.is_dir() else "its directory does not exist"
        raise ConfigError([Fault(setting, text, problem, "name a file in a directory that is there")])
    return file
