"""What becomes of suspects: a dead letter, a handler like any other message's, or a run alone in this worker."""

import logging
from collections.abc import Sequence
from typing import Protocol

from tidegate.core.workers.poison import Ruling, Verdict
from tidegate.worker.jobs.followers import Followers
from tidegate.worker.jobs.poison import Quarantine
from tidegate.worker.jobs.settle import Settler
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.jobs.waiting_room import Load
from tidegate.worker.leases.lane import Hand
from tidegate.worker.slots import Slots

__all__ = ["Floor", "Suspects"]

logger = logging.getLogger(__name__)


class Floor(Protocol):
    """The part of `Jobs` that suspects need."""

    def admit(self, hands: Sequence[Hand]) -> None: ...

    def make_way(self, load: Load) -> None: ...

    def start(self, load: Load) -> None: ...

    def never_ran(self, load: Load) -> None: ...

    def look_whether_idle(self) -> None: ...


class Suspects:
    """Asks about messages that may have killed their last worker, or came back too often, and does what is ruled."""

    def __init__(
        self,
        quarantine: Quarantine,
        settler: Settler,
        slots: Slots,
        sorting: Sorting,
        followers: Followers,
        floor: Floor,
    ) -> None:
        self._quarantine = quarantine
        self._settler = settler
        self._slots = slots
        self._sorting = sorting
        self._followers = followers
        self._floor = floor
        self._examining: set[Load] = set()

    @property
    def examining(self) -> bool:
        """True while it is open what becomes of one."""
        return bool(self._examining)

    def look_into(self, hands: Sequence[Hand]) -> None:
        """Each by itself: none waits for what is known of another."""
        for load in map(Load, ([hand] for hand in hands)):
            self._examining.add(load)
            self._followers.start(self._examine(load), load, "tidegate-suspect")

    def start_next(self) -> None:
        """Nothing runs: the next that is to run alone may."""
        if (load := self._quarantine.next()) is not None:
            self._followers.start(self._start_alone(load), load, "tidegate-alone")

    async def _examine(self, load: Load) -> None:
        try:
            await self._act_on(load, await self._quarantine.rule(load.hands[0]))
        finally:
            self._examining.discard(load)
            self._floor.look_whether_idle()

    async def _act_on(self, load: Load, ruling: Ruling) -> None:
        hand = load.hands[0]
        if not hand.held():
            return
        if self._slots.closed:
            hand.give_back(0)
        elif ruling.verdict is Verdict.DEAD_LETTER:
            await self._settler.reject([(hand, ruling.reason)])
        elif ruling.verdict is Verdict.ALONE:
            logger.warning("message %s runs alone in this worker: %s", hand.message.id, ruling.reason)
            load.job_class = self._sorting.loads(load.hands)[0].job_class
            self._quarantine.put(load)
            self._floor.make_way(load)
        else:
            hand.noted = False
            self._floor.admit([hand])

    async def _start_alone(self, load: Load) -> None:
        hand = load.hands[0]
        await self._quarantine.notebook.begins_alone(hand.message)
        hand.noted = False
        if hand.held() and not self._slots.closed:
            self._floor.start(load)
        else:
            self._floor.never_ran(load)
