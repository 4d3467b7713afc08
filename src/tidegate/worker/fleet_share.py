"""A worker's share of what its whole fleet may do: permits, and a part of the retry budget."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.ports import PermitStore
from tidegate.worker.backoff import Random
from tidegate.worker.fleet.permits import Holding, PermitKeeper
from tidegate.worker.fleet.retry_budget import RetryBudget
from tidegate.worker.plan import Plan
from tidegate.worker.slots import Slots
from tidegate.worker.telemetry.counts import Telemetry

__all__ = ["FleetShare", "fleet_share"]


@dataclass(frozen=True, slots=True)
class FleetShare:
    """None: the fleet has no such limit."""

    permits: PermitKeeper | None = None
    budget: RetryBudget | None = None

    def changed(self) -> None:
        """The worker is in another state, and may want more or less."""
        if self.permits is not None:
            self.permits.soon()

    def tasks(self) -> list[asyncio.Task[None]]:
        """What must run as long as the worker does."""
        named = {"tidegate-permits": self.permits, "tidegate-retry-budget": self.budget}
        return [asyncio.create_task(each.run(), name=name) for name, each in named.items() if each is not None]

    async def give_back(self) -> None:
        """For the worker's end: its permits are free, and what waits for its budget waits no longer than it must."""
        if self.permits is not None:
            await self.permits.release()

    async def hand_on(self) -> None:
        """For the worker's end: whoever comes after it earns the retries that wait."""
        if self.budget is not None:
            await self.budget.hand_on()


def fleet_share(
    plan: Plan,
    store: PermitStore | None,
    slots: Slots,
    telemetry: Telemetry,
    working: Callable[[], bool],
    *,
    clock: Callable[[], float],
    wall: Callable[[], float],
    random: Random,
) -> FleetShare:
    """What the plan asks for; nothing where the fleet has no table. A budget's completions are heard by `telemetry`."""
    if store is None or not (plan.limits or plan.retries):
        return FleetShare()
    holding = Holding(plan.pool, plan.worker_id, plan.heartbeat_s)
    permits = PermitKeeper(store, plan.limits, holding, slots, working, clock=clock, wall=wall, random=random)
    if plan.retries is None:
        return FleetShare(permits)
    budget = RetryBudget(plan.retries, lambda: permits.live_workers, telemetry.retry_held, clock)
    telemetry.watches.append(budget)
    return FleetShare(permits, budget)
