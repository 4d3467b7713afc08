"""A heartbeat sink that remembers, and answers with a directive of the test's."""

from dataclasses import dataclass, field

from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport
from tidegate.errors import TidegateError

__all__ = ["RecordedHeartbeats"]


@dataclass
class RecordedHeartbeats:
    """Implements `ports.HeartbeatSink`: keeps what it was given, or raises `error` while that is set."""

    reports: list[WorkerReport] = field(default_factory=list)
    pools: list[str] = field(default_factory=list)
    expiries_s: list[float] = field(default_factory=list)
    told: Directive = field(default_factory=Directive)
    """What workers are answered."""
    error: TidegateError | None = None
    closed: bool = False

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        if self.error is not None:
            raise self.error
        self.pools.append(pool)
        self.reports.append(report)
        self.expiries_s.append(expires_at_s)

    async def directive(self, pool: str) -> Directive:
        if self.error is not None:
            raise self.error
        return self.told

    async def close(self) -> None:
        self.closed = True
