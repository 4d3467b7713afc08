"""A fake ECS service or Auto Scaling group."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from tidegate.core.observation import Capacity
from tidegate.errors import CapacityChanged, Invalid, TidegateError
from tidegate.ports import Clock

__all__ = ["FakeCapacity"]


class FakeCapacity:
    """Implements `ports.CapacityTarget`: workers asked for are pending until `settle` makes them run.

    Give it the platform's bounds (`min_workers`, `max_workers`) to have it refuse counts outside of them, as an Auto
    Scaling group does. `error` makes every call fail with it.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        desired: int = 0,
        name: str = "fake:service",
        min_workers: int | None = None,
        max_workers: int | None = None,
        removes_by_name: bool = False,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._now = Capacity(
            name,
            clock.now(),
            desired,
            running=desired,
            pending=0,
            min_workers=min_workers,
            max_workers=max_workers,
            removes_by_name=removes_by_name,
        )
        self.error: TidegateError | None = None
        self.writes: list[int] = []
        """Every desired count that was written, oldest first."""
        self.removed: list[str] = []
        """The workers that it was told to remove, oldest first."""

    @property
    def name(self) -> str:
        """For people."""
        return self._now.target

    def read(self) -> Capacity:
        """The counts as they are now."""
        if self.error is not None:
            raise self.error
        return replace(self._now, taken_at_s=self._clock.now())

    def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
        """As `ports.CapacityTarget.set_desired`; workers beyond the new count leave at once."""
        if self.error is not None:
            raise self.error
        with self._lock:
            live = self._now
            if live.desired == desired:
                return False
            if live.desired != seen.desired:
                raise CapacityChanged(self.name, seen.desired, live.desired)
            self._refuse_out_of_bounds(desired)
            self.writes.append(desired)
            self.removed.extend(leaving)
            self.change(desired=desired)
            return True

    def settle(self) -> None:
        """Everything pending runs."""
        self.change(running=self._now.desired)

    def change(
        self,
        *,
        desired: int | None = None,
        running: int | None = None,
        deploying: bool | None = None,
        outdated: int | None = None,
    ) -> None:
        """What others do: an operator sets the desired count, workers start or die, a deployment begins or ends."""
        now = self._now
        want = now.desired if desired is None else desired
        run = min(now.running, want) if running is None else running
        deploy = now.deploying if deploying is None else deploying
        old = now.outdated if outdated is None else outdated
        self._now = replace(now, desired=want, running=run, pending=max(0, want - run), deploying=deploy, outdated=old)

    def _refuse_out_of_bounds(self, desired: int) -> None:
        low, high = self._now.min_workers, self._now.max_workers
        if (low is not None and desired < low) or (high is not None and desired > high):
            raise Invalid("fake:SetDesired", self.name, f"{desired} workers are outside of {low} to {high}")
