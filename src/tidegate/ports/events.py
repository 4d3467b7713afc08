"""Where the controller says what it did."""

from collections.abc import Sequence
from typing import Protocol

from tidegate.core.condition import Condition
from tidegate.core.decision import Decision

__all__ = ["EventSink"]


class EventSink(Protocol):
    """Where the controller says what it did: one call per pool and tick, from several threads."""

    def decided(self, decision: Decision, wrote: bool) -> None: ...

    def changed_state(self, decision: Decision, was: Condition) -> None:
        """A pool's state is another than before, once for each change; after `decided`."""
        ...

    def failed(self, pool: str, error: Exception) -> None: ...

    def metrics_failed(self, troubles: Sequence[str]) -> None:
        """CloudWatch could not be read, or not all of it: once a pass (a minute), for all pools together.

        A warning: the pools go on with what was read before while that is fresh, and then without.
        """
        ...

    def not_published(self, error: Exception) -> None:
        """The metrics of decisions could not be written: alarms and dashboards miss them, the pools do not."""
        ...

    def overran(self, pool: str | None, missed: int) -> None:
        """A tick was left out because the one before still runs, the `missed`th in a row; None: of every pool."""
        ...
