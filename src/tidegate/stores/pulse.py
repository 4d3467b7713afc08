"""The controller's sign of life: a file that `tidegate health` reads, written at each tick."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tidegate.stores.on_disk import replace_file

__all__ = ["Pulse"]

_STUCK_S: Final = 60.0
"""A tick ends within twenty seconds even where every endpoint is silent: one that takes a minute never will."""


class Pulse:
    """Writes `path` at each tick, which come `tick_s` apart; what it says holds until two more should have come.

    A file that can't be written is told to `said` once, and once more when it can be again: the ticks go on, and the
    file grows old by itself.
    """

    def __init__(self, path: Path, tick_s: float, said: Callable[[str], None]) -> None:
        self._path = path
        self._tick_s = tick_s
        self._said = said
        self._fails = False

    def beat(self, at_s: float, missed: int) -> None:
        """A tick has begun; `missed` is how many the pool that is best off has missed, as its last one did not end."""
        stuck_s = missed * self._tick_s
        healthy = stuck_s < _STUCK_S
        line = "healthy: it ticks" if healthy else f"stuck: no pool's tick has ended for {stuck_s:.0f} s"
        said = {"at_s": at_s, "good_for_s": 3 * self._tick_s + _STUCK_S, "healthy": healthy, "line": line}
        try:
            replace_file(self._path, json.dumps(said) + "\n", durable=False)
        except OSError as error:
            self._tell(f"the health file {self._path} can't be written: {error.strerror}; the ticks go on", fails=True)
        else:
            self._tell(f"the health file {self._path} is written again", fails=False)

    def _tell(self, line: str, *, fails: bool) -> None:
        if fails is not self._fails:
            self._fails = fails
            self._said(line)
