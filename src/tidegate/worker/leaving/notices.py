"""Watches what EC2 says about this instance: a spot interruption, a rebalance recommendation, its termination."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from tidegate.errors import CloudError, Denied, Gone
from tidegate.ports import InstanceNotices, InstanceWatch, TerminationHook
from tidegate.worker.leaving.lifecycle import Why
from tidegate.worker.waiting import answered_within

__all__ = ["LOOK_S", "NoticeWatch", "Obedient"]

LOOK_S: Final = 5.0
"""https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html recommends 5 seconds."""

RECONSIDER_S: Final = 900.0
"""A rebalance recommendation is a risk, no certainty. An instance that is still there after a quarter of an hour works
on; a spot notice that comes then gives its two minutes."""

_MARGIN_S: Final = 5.0
_TERMINATION_S: Final = 25.0
"""For a termination that names no time and no lifecycle hook holds up: ECS's stop timeout, less what leaving takes."""

_HELD_UP_S: Final = 43_200.0
"""With a lifecycle hook: no lease lasts longer than 12 hours. AWS ends the wait after 48 hours or 100 heartbeats."""

_KEEP_EVERY_S: Final = 20.0
"""A hook's heartbeat timeout is 30 s at the least.
https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutLifecycleHook.html"""

_COMPLETE_S: Final = 3.0

_PATIENT_LOOK_S: Final = 60.0

logger = logging.getLogger(__name__)


class Obedient(Protocol):
    """The part of `WorkerService` that is told."""

    def known_as(self, host: str) -> None: ...

    def leave_within(self, reason: str, seconds: float) -> None: ...

    def retire(self, cause: str) -> None: ...

    def take_back(self, cause: str) -> None: ...


class NoticeWatch:
    """`run` is its task, which never ends. `clock` is steady, `wall` the time of day, in which notices name times."""

    def __init__(
        self,
        instance: InstanceWatch,
        worker: Obedient,
        clock: Callable[[], float],
        wall: Callable[[], float],
        hook: TerminationHook | None = None,
    ) -> None:
        self._instance = instance
        self._worker = worker
        self._clock = clock
        self._wall = wall
        self._hook = hook
        self._held_up = False
        self._kept_s = -_KEEP_EVERY_S
        self._told: set[str] = set()
        self._rebalance_at_s: float | None = None
        self._rebalanced_s = 0.0
        self._said: type[CloudError] | None = None

    async def run(self) -> None:
        """Looks every five seconds. Where there is no IMDS it waits for ever, and says nothing: most run elsewhere."""
        named = False
        while True:
            wait_s = LOOK_S
            try:
                if not named:
                    self._worker.known_as(await self._instance.instance_id())
                    named = True
                self._obey(await self._instance.look())
                await self._keep()
                self._said = None
            except Gone:
                await asyncio.Event().wait()
            except CloudError as error:
                wait_s = self._failed(error)
            await asyncio.sleep(wait_s)

    async def _keep(self) -> None:
        if self._held_up and self._hook is not None and self._clock() - self._kept_s >= _KEEP_EVERY_S:
            self._kept_s = self._clock()
            await self._hook.keep()

    async def done(self) -> None:
        """The worker holds nothing any more: a termination that waits for it may go on."""
        if not self._held_up or self._hook is None:
            return
        try:
            async with answered_within(_COMPLETE_S, "completing the lifecycle hook", "this instance"):
                await self._hook.complete()
        except CloudError as error:
            logger.warning("the lifecycle hook could not be completed, the instance waits for its timeout: %s", error)

    def _failed(self, error: CloudError) -> float:
        if type(error) is not self._said:
            self._said = type(error)
            logger.warning("notices of this instance can't be read, or its hook not kept; asked again: %s", error)
        return _PATIENT_LOOK_S if isinstance(error, Denied) else LOOK_S

    def _obey(self, notices: InstanceNotices) -> None:
        if notices.stops_at_s is not None:
            self._leave(Why.SPOT, notices.stops_at_s - self._wall() - _MARGIN_S)
        if notices.terminating:
            self._held_up = self._hook is not None
            self._leave(Why.LIFECYCLE_HOOK, _HELD_UP_S if self._held_up else _TERMINATION_S)
        if notices.rebalance_at_s is not None and notices.rebalance_at_s != self._rebalance_at_s:
            self._rebalance_at_s, self._rebalanced_s = notices.rebalance_at_s, self._clock()
            self._worker.retire(Why.REBALANCE)
        if self._rebalance_at_s is not None and self._clock() - self._rebalanced_s >= RECONSIDER_S:
            self._worker.take_back(Why.REBALANCE)

    def _leave(self, why: Why, seconds: float) -> None:
        """Once: a deadline that is told again would only be counted anew."""
        if why not in self._told:
            self._told.add(why)
            self._worker.leave_within(why, seconds)
