"""What a job costs in memory: the process's peak over what it had before its first job, shared among those at once."""

import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tidegate.core.reports import WorkerReport

__all__ = ["JobMemory", "peak_rss_bytes"]

_UNIT: Final = 1 if sys.platform == "darwin" else 1024
"""getrusage gives bytes on macOS and KiB on Linux (man 2 getrusage)."""


def peak_rss_bytes() -> int:
    """The most memory that this process has ever had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


class JobMemory:
    """`peak_bytes` is read as each slot changes hands. Jobs in other processes are not in it."""

    def __init__(self, peak_bytes: Callable[[], int] = peak_rss_bytes) -> None:
        self._peak_bytes = peak_bytes
        self._before_bytes: int | None = None
        self._most_busy = 0

    def busy(self, slots: int) -> None:
        """So many slots are busy."""
        if self._before_bytes is None:
            self._before_bytes = self._peak_bytes()
        self._most_busy = max(self._most_busy, slots)

    def per_job_bytes(self) -> int | None:
        """None before the first job.

        >>> peaks = iter([100_000_000, 180_000_000])
        >>> memory = JobMemory(lambda: next(peaks))
        >>> memory.busy(1)
        >>> memory.busy(4)
        >>> memory.per_job_bytes()
        20000000
        """
        if self._before_bytes is None:
            return None
        return max(0, self._peak_bytes() - self._before_bytes) // self._most_busy

    def filled_in(self, report: WorkerReport) -> WorkerReport:
        """The report with what is known of memory."""
        return replace(report, peak_rss_bytes=self._peak_bytes(), job_rss_bytes=self.per_job_bytes())
