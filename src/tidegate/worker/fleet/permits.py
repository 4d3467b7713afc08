"""This worker's part of the fleet's permits: taken before anything is received, renewed with the beat, given back.

It fails closed. A worker that can't renew takes nothing more once its lease is over: others may have its permits then.
What runs is finished. A limit is lowered here before the others hear of it, and raised only once the table has it.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tidegate.core.workers.permits import FLEET, Demand, Permits, Renewal, released, renewed
from tidegate.errors import TidegateError, Unreachable
from tidegate.ports import PermitStore
from tidegate.worker.backoff import Random
from tidegate.worker.fleet.limits import ClassLoad, FleetLimits, class_limit_name
from tidegate.worker.fleet.reporter import BEATS_TO_LIVE
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import answered_within, happens_within

__all__ = ["Holding", "PermitKeeper"]

_CALL_S: Final = 2.0
_TRIES: Final = 8
"""Of one renewal: others may write at the same time, and each try but the last waits a moment longer."""
_PAUSE_S: Final = 0.02
_SPREAD: Final = 0.2
"""The beat is shortened at random by up to so much, or workers that were started together would go on in step."""
_EAGER_S: Final = 1.0
"""How often a worker looks that is owed permits, or owes some, or could not renew: no oftener than that, either."""
_FINEST_S: Final = 0.001
"""Less than that is no time: no timer is finer."""
_KEPT_S: Final = 86_400.0
"""When nobody has written for so long, DynamoDB may delete the item."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Holding:
    """Whose permits: a worker of a pool, which renews with each beat."""

    pool: str
    worker_id: str
    beat_s: float

    @property
    def lease_s(self) -> float:
        """A worker is taken for dead when two renewals have been lost, as with its reports."""
        return BEATS_TO_LIVE * self.beat_s


class PermitKeeper:
    """`run` is its task. `working` tells whether the worker takes work at all; `clock` is steady, `wall` is not."""

    def __init__(
        self,
        store: PermitStore,
        limits: FleetLimits,
        holding: Holding,
        slots: Slots,
        working: Callable[[], bool],
        *,
        clock: Callable[[], float],
        wall: Callable[[], float],
        random: Random,
    ) -> None:
        self.limits = limits
        self._store = store
        self._holding = holding
        self._slots = slots
        self._working = working
        self._clock = clock
        self._wall = wall
        self._random = random
        self.class_loads: Callable[[], Mapping[str, ClassLoad]] = dict
        """What the worker has in hand of each class."""
        self.on_more: Callable[[], None] = lambda: None
        """Called when more may start."""
        self.live_workers: int | None = None
        """How many workers hold a lease, as last seen; None before the first look."""
        self._allowed: Mapping[str, int] = {}
        self._asked: Mapping[str, Demand] = {}
        self._used_classes: set[str] = set()
        self._until_s = self._renewed_at_s = -math.inf
        self._looked_at_s = -math.inf
        self._eager = False
        self._in_doubt = self._failing = self._left = False
        self._wake = asyncio.Event()
        self._writing = asyncio.Lock()
        if limits.slots is not None:
            slots.permit(0)
            slots.lapsed = lambda: self.away

    async def run(self) -> None:
        """Renews until everything has been given back. Does not end by itself: a task that does is a fault."""
        while not self._left:
            self._wake.clear()
            async with self._writing:
                if not self._left:
                    await self._look()
            await self._rest()
        await asyncio.Event().wait()

    @property
    def away(self) -> bool:
        """Whether none can be had: what waits for its class had better wait in hand than go back and come again."""
        return not self._left_s()

    def soon(self) -> None:
        """What the worker could use has changed."""
        self._wake.set()

    def class_limit(self, job_class: str) -> int | None:
        """How many handlers of this class this worker may start; None: the fleet has no limit for it."""
        if self.limits.of_class(job_class) is None:
            return None
        self._used_classes.add(job_class)
        return 0 if self.away else self._allowed.get(class_limit_name(job_class), 0)

    def class_waits(self) -> None:
        """Messages wait for their class: permits are asked for, unless those that were asked for are all there are."""
        loads = self.class_loads() if self.limits.classes else {}
        for name, load in loads.items():
            for limit, demand in self.limits.class_demand(name, load.running, load.running + load.waiting).items():
                asked = self._asked[limit].want if limit in self._asked else 0
                if demand.want > asked:
                    self.soon()

    async def release(self) -> None:
        """Gives back everything; what can't be given back lapses. For the worker's end."""
        async with self._writing:
            self._left = True
            try:
                async with answered_within(_CALL_S, "giving permits back", self._holding.pool):
                    await self._replace(lambda permits: released(permits, self._holding.worker_id))
            except (TidegateError, OSError) as error:
                logger.warning("permits could not be given back, they lapse within a lease: %s", error)

    async def _look(self) -> None:
        asked_at_s = self._looked_at_s = self._clock()
        within_s, beat_s = min(_CALL_S, self._left_s()) or _CALL_S, self._holding.beat_s
        try:
            async with answered_within(within_s, "renewing permits", self._holding.pool):
                renewal, written = await self._renew(due=asked_at_s - self._renewed_at_s >= (1 - _SPREAD) * beat_s)
        except (TidegateError, OSError) as error:
            self._failed(error)
            return
        if written:
            self._renewed_at_s, self._until_s = asked_at_s, asked_at_s + self._holding.lease_s
            self._used_classes.clear()
        self._take(renewal)

    async def _renew(self, *, due: bool) -> tuple[Renewal, bool]:
        """The renewal, and whether it had to be written."""
        renewals: list[Renewal] = []

        def change(permits: Permits) -> Permits | None:
            self._asked = self._demands()
            holding = self._holding
            renewal = renewed(permits, holding.worker_id, self._asked, self._wall(), holding.lease_s)
            renewals.append(renewal)
            self._lower(renewal)
            return renewal.permits if due or _differs(permits, renewal.permits, holding.worker_id) else None

        written = await self._replace(change)
        return renewals[-1], written

    async def _replace(self, change: Callable[[Permits], Permits | None]) -> bool:
        """Reads and writes until nobody was faster; False when there is nothing to write."""
        pool = self._holding.pool
        for attempt in range(_TRIES):
            stored = await self._store.permits(pool)
            permits = change(stored.permits)
            if permits is None:
                return False
            if await self._store.replace(pool, permits, stored.version, self._wall() + _KEPT_S):
                return True
            await asyncio.sleep(self._random() * _PAUSE_S * 2**attempt)
        raise Unreachable("writing permits", pool, f"others were faster {_TRIES} times", "it is tried again")

    def _demands(self) -> dict[str, Demand]:
        """Of all limits. A class that was worked on since the last renewal keeps what it has: more may come."""
        slots, working = self._slots, self._working()
        in_use = slots.busy + slots.waiting + slots.reserved
        demands = self.limits.demand(in_use, slots.total if working else min(slots.total, in_use + slots.blocked))
        loads = self.class_loads()
        for name in {*self._used_classes, *loads}:
            load = loads.get(name, ClassLoad())
            has = self._allowed.get(class_limit_name(name), 0) if working and name in self._used_classes else 0
            if want := max(load.running + load.waiting, has):
                demands |= self.limits.class_demand(name, load.running, want)
        return demands

    def _lower(self, renewal: Renewal) -> None:
        """Before the others hear that it is theirs."""
        self._allowed = {name: min(count, renewal.allowed.get(name, 0)) for name, count in self._allowed.items()}
        if self._slots.permitted is not None:
            held = min(self._slots.permitted, renewal.permits.holders[self._holding.worker_id].claims[FLEET].held)
            self._slots.permit(held, max(0, held - renewal.allowed[FLEET]))

    def _take(self, renewal: Renewal) -> None:
        """The table has it: so much may be used."""
        if self._in_doubt:
            self._in_doubt = self._failing = False
            logger.info("permits are renewed again")
        self.live_workers = len(renewal.permits.holders)
        self._allowed = renewal.allowed
        claims = renewal.permits.holders[self._holding.worker_id].claims
        if self.limits.slots is not None:
            held = claims[FLEET].held
            self._slots.permit(held, max(0, held - renewal.allowed[FLEET]))
        self._eager = any(
            claims[name].held > count or renewal.share[name] > count for name, count in renewal.allowed.items()
        )
        self.on_more()

    def _failed(self, error: Exception) -> None:
        first, self._eager, self._in_doubt = not self._in_doubt, True, True
        if self._left_s() > 0:
            if first:
                logger.warning("permits could not be renewed, trying again: %s", error)
            return
        self._allowed = {}
        if self.limits.slots is not None:
            self._slots.permit(0)
        if not self._failing:
            self._failing = True
            logger.error("no permits of the fleet can be had, %s until they can: %s", self._without, error)

    async def _rest(self) -> None:
        """Until the next look is due: with the beat, sooner while permits are on their way, and never too often."""
        beat_s = self._holding.beat_s * (1 - _SPREAD * self._random())
        soonest_s = self._looked_at_s + min(_EAGER_S, beat_s)
        latest_s = soonest_s if self._eager else self._looked_at_s + beat_s
        if self._left_s() > 0:
            soonest_s, latest_s = min(soonest_s, self._until_s), min(latest_s, self._until_s)
        await happens_within(self._wake, max(0.0, latest_s - self._clock()))
        if (early_s := soonest_s - self._clock()) > 0:
            await asyncio.sleep(early_s)

    @property
    def _without(self) -> str:
        if self.limits.slots is not None:
            return "nothing new is taken"
        if self.limits.classes:
            return "nothing of a class with a limit is started"
        return "the retry budget's floor is shared among as many workers as before"

    def _left_s(self) -> float:
        """Of the lease, in seconds; 0 when it is over."""
        left_s = self._until_s - self._clock()
        return left_s if left_s >= _FINEST_S else 0.0


def _differs(before: Permits, after: Permits, worker_id: str) -> bool:
    """Whether more than the time of the lease would change."""
    if set(before.holders) != set(after.holders):
        return True
    return before.holders[worker_id].claims != after.holders[worker_id].claims
