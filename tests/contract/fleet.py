"""Reports of workers, for the suites that store them."""

from tidegate.core.reports import WorkerReport, WorkerState, WorkFigures


def report(worker_id: str, busy: int = 2, reason: str = "") -> WorkerReport:
    """A worker of four slots, at second 900."""
    return WorkerReport(
        worker_id=worker_id,
        state=WorkerState.RUNNING,
        reason=reason,
        reported_at_s=900.0,
        started_at_s=100.0,
        first_receive_at_s=101.5,
        slots=4,
        busy=busy,
        recent=WorkFigures(span_s=10.0, starts=5, completions=4, service_time_sum_s=1.25, waits=(0, 5)),
        total=WorkFigures(span_s=800.0, starts=50, completions=48, failures=1),
    )
