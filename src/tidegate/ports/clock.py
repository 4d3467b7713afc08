"""Time for the controller."""

import threading
from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Wall time (seconds since the epoch) and a wait that a stop event ends early."""

    def now(self) -> float: ...

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait for `seconds` or until `stop` is set; true when it was set."""
        ...
