"""A named thread that does one thing again and again, and is never silently dead."""

import threading
from collections.abc import Callable

from tidegate.ports import Clock

__all__ = ["Ticker"]


class Ticker:
    """Calls `step` after every wait of `pause_s()` seconds until `stop`.

    If `step` raises, the thread ends and `stop` raises the error: what was not done must not pass for done.
    """

    def __init__(self, name: str, step: Callable[[], None], pause_s: Callable[[], float], clock: Clock) -> None:
        self._step, self._pause_s, self._clock = step, pause_s, clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._error: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Waits for the step in hand. Safe without a start, and twice; raises what ended the thread before its time."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._clock.wait(self._stop, self._pause_s()):
                self._step()
        except Exception as error:  # noqa: BLE001 - whatever it was, stop() raises it
            self._error = error
