"""What a worker says of itself in a heartbeat, put together from its parts."""

from dataclasses import replace

from tidegate.core.reports import WorkerReport
from tidegate.worker.leaving.lifecycle import Lifecycle
from tidegate.worker.leaving.shield import Shield
from tidegate.worker.plan import Plan
from tidegate.worker.slots import Slots
from tidegate.worker.telemetry.counts import Telemetry
from tidegate.worker.telemetry.memory import JobMemory

__all__ = ["SelfReport"]


class SelfReport:
    """Called for the report of the moment."""

    def __init__(self, plan: Plan, telemetry: Telemetry, slots: Slots, shield: Shield, lifecycle: Lifecycle) -> None:
        self.host = plan.host
        """What the platform calls this worker, once that is known."""
        self._fleet_slots = plan.limits.slots
        self._telemetry = telemetry
        self._slots = slots
        self._shield = shield
        self._lifecycle = lifecycle
        self._memory = JobMemory()
        slots.watches.append(self._memory.busy)

    def __call__(self) -> WorkerReport:
        slots, lifecycle = self._slots, self._lifecycle
        report = self._telemetry.report(lifecycle.state, lifecycle.reason, slots.busy, slots.waiting + slots.blocked)
        return replace(
            self._memory.filled_in(report),
            slots=slots.total,
            permitted=slots.permitted,
            fleet_slots=self._fleet_slots,
            protected=self._shield.protected,
            host=self.host,
        )
