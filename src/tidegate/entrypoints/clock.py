"""The real clock, handed to everything that needs to know the time."""

import threading
import time

__all__ = ["SystemClock"]


class SystemClock:
    """Wall time, and a wait that a stop event ends at once."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """True when `stop` was set."""
        return stop.wait(seconds)
