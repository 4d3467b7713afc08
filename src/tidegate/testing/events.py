"""An event sink that keeps what it is told."""

import threading
from collections.abc import Sequence

from tidegate.core.condition import Condition
from tidegate.core.decision import Decision

__all__ = ["RecordedEvents"]


class RecordedEvents:
    """Implements `ports.EventSink`; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.decisions: list[tuple[Decision, bool]] = []
        """(decision, whether it was written), oldest first."""
        self.state_changes: list[tuple[str, Condition, Condition]] = []
        """(pool, state before, state now), oldest first."""
        self.failures: list[tuple[str, Exception]] = []
        """(pool, error), oldest first."""
        self.metrics_failures: list[tuple[str, ...]] = []
        """What was wrong with each CloudWatch pass that failed in whole or in part, oldest first."""
        self.publish_failures: list[Exception] = []
        """Why metrics of decisions could not be written, oldest first."""
        self.overruns: list[tuple[str | None, int]] = []
        """(pool or None for all, ticks missed in a row), oldest first."""

    def decided(self, decision: Decision, wrote: bool) -> None:
        """Keep it."""
        with self._lock:
            self.decisions.append((decision, wrote))

    def changed_state(self, decision: Decision, was: Condition) -> None:
        """Keep it."""
        with self._lock:
            self.state_changes.append((decision.pool, was, decision.state))

    def failed(self, pool: str, error: Exception) -> None:
        """Keep it."""
        with self._lock:
            self.failures.append((pool, error))

    def metrics_failed(self, troubles: Sequence[str]) -> None:
        """Keep it."""
        with self._lock:
            self.metrics_failures.append(tuple(troubles))

    def not_published(self, error: Exception) -> None:
        """Keep it."""
        with self._lock:
            self.publish_failures.append(error)

    def overran(self, pool: str | None, missed: int) -> None:
        """Keep it."""
        with self._lock:
            self.overruns.append((pool, missed))
