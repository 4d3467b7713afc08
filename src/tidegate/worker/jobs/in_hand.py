"""The messages in hand: each from its receive to its delete, its return for another try, or its release."""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.ports import Received
from tidegate.worker.fleet.permits import PermitKeeper
from tidegate.worker.handlers.postbox import Postbox
from tidegate.worker.handlers.run_handler import HandlerRunner
from tidegate.worker.jobs.followers import Followers
from tidegate.worker.jobs.hanging import Hanging
from tidegate.worker.jobs.poison import Quarantine
from tidegate.worker.jobs.prefetch import room_for
from tidegate.worker.jobs.settle import Settler
from tidegate.worker.jobs.sorting import UNSORTED, Sorting
from tidegate.worker.jobs.suspects import Suspects
from tidegate.worker.jobs.waiting_room import Load, WaitingRoom, in_hand
from tidegate.worker.leases.lane import Hand, Lane
from tidegate.worker.message import Batch
from tidegate.worker.slots import Slots
from tidegate.worker.telemetry.counts import Telemetry
from tidegate.worker.waiting import happens_within

__all__ = ["Jobs"]

_LAST_CALL_S: Final = 1.0
_SENT_BACK_S: Final = 5
"""How long a message is hidden whose class has all its slots, and as many more in hand as there may be."""

logger = logging.getLogger(__name__)


class Jobs:
    """Everything of one worker that is between receive and settlement. Lives on the SDK's loop.

    `prefetch` is how many messages may wait in hand for a slot; None: as few as hide a poll's way there and back.
    """

    def __init__(
        self,
        runner: HandlerRunner,
        slots: Slots,
        settler: Settler,
        telemetry: Telemetry,
        quarantine: Quarantine,
        clock: Callable[[], float],
        sorting: Sorting = UNSORTED,
        prefetch: int | None = 0,
        permits: PermitKeeper | None = None,
    ) -> None:
        self._runner = runner
        self._slots = slots
        self._settler = settler
        self._telemetry = telemetry
        self._quarantine = quarantine
        self._clock = clock
        self._sorting = sorting
        self._prefetch = prefetch
        self._permits = permits
        self._room = WaitingRoom(sorting.limit(lambda: slots.total, None if permits is None else permits.class_limit))
        self._hands: dict[int, Load] = {}
        self._running: set[Load] = set()
        self._followers = Followers()
        self._suspects = Suspects(quarantine, settler, slots, sorting, self._followers, self)
        self._hanging = Hanging(runner, slots, self._followers, self._running.__contains__)
        self._ends: Postbox[tuple[Load, BaseException | None]] = Postbox(asyncio.get_running_loop(), self._on_end)
        self._idle = asyncio.Event()
        self._idle.set()
        if permits is not None:
            permits.class_loads, permits.on_more = lambda: in_hand(self._room, quarantine.waiting), self.fill

    async def run(self) -> None:
        """Ends only when a message could not be settled, with what that raised: a fault of ours, not of a handler."""
        await self._followers.broken()

    def arrive(self, lane: Lane, received: Sequence[Received], handed_out_s: float) -> None:
        """Messages that a poll brought: each to its handler, or into the waiting room; suspects are looked into first.

        Raises whatever keeps a handler from being started (no more threads, its loop is closed); what has not been
        started then goes back at once.
        """
        hands = [lane.take(each, handed_out_s) for each in received]
        clear, suspects = self._quarantine.sort(hands)
        if suspects:
            self._idle.clear()
            self._suspects.look_into(suspects)
        self.admit(clear)

    def admit(self, hands: Sequence[Hand]) -> None:
        """Each of them may run: it waits for its turn. Raises as `arrive`."""
        if self._quarantine.busy:
            for hand in hands:
                hand.give_back(0)  # what were in hand when a suspect kills the worker would be suspect too
            return
        for load in self._sorting.loads(hands):
            self._room.add(load)
            for hand in load.hands:
                self._hands[hand.key] = load
        self._start_waiting()

    def turn_away(self, lane: Lane, received: Sequence[Received], handed_out_s: float) -> None:
        """Messages that came when the worker was told to leave: never started, visible to others at once."""
        for message in received:
            lane.take(message, handed_out_s).give_back(0)

    def release_waiting(self) -> None:
        """What waits in hand goes back at once, never started."""
        self._release_room()
        for load in self._quarantine.empty():
            self._drop(load.hands[0])
        for load in self._running:
            if self._quarantine.is_alone(load):  # a worker that is told to leave may be killed: no fault of the message
                load.hands[0].note_end(spared=True)

    def _release_room(self) -> None:
        for load in self._room.empty():
            for hand in load.hands:
                self._drop(hand)
        self._count_waiting()

    def lease_lost(self, key: int) -> None:
        """The message may be another worker's by now: its handler is told, and its success will not count."""
        self._telemetry.lease_lost()
        load = self._hands.get(key)
        if load is None:
            return
        hand = next(hand for hand in load.hands if hand.key == key)
        logger.error("lost the lease of message %s after %.1f s", hand.message.id, self._clock() - load.started_at_s)
        hand.message.lease_lost.set()
        hand.note_end(spared=load.run is None)
        if load.run is None:
            self._never_started(load)
        elif not any(other.held() for other in load.hands):
            load.run.interrupt()
            if hand.lane.book.gated:
                self._hanging.expect_end(load)

    def started_at_s(self) -> tuple[float, ...]:
        """When each handler that runs was started."""
        return tuple(load.started_at_s for load in self._running)

    def fill(self) -> None:
        """There may be more slots than there were."""
        if not self._slots.closed:
            self._start_waiting()

    async def idle(self) -> None:
        """Waits until no handler runs and nothing waits for one."""
        await self._idle.wait()

    async def let_go(self, *, spared: bool = True) -> None:
        """The grace is over: tells the handlers that still run, gives them a moment, and releases what is left.

        A handler that uses that moment to return normally has done its work: its message is deleted, not released.
        `spared`: that the others did not end is no fault of their messages.
        """
        for load in self._running:
            load.told_to_leave = True
            if load.run is not None:
                load.run.interrupt()
        await happens_within(self._idle, _LAST_CALL_S)
        for load in self._running:
            for hand in load.hands:
                logger.warning("released message %s: its handler did not end within the grace", hand.message.id)
                hand.give_back(0, spared=spared)

    def close(self) -> None:
        """Nobody waits any longer for handlers that still run."""
        self._running.clear()
        self._followers.close()

    def make_way(self, load: Load) -> None:
        """It is to run alone: what waits goes back, what runs may end, and nothing more is received."""
        self._release_room()
        self._hands[load.hands[0].key] = load
        self._slots.hold()
        self._start_waiting()

    def never_ran(self, load: Load) -> None:
        """The one that was to run alone goes back: others may start."""
        self._quarantine.over(load)
        self._drop(load.hands[0])
        if not self._slots.closed:
            self._start_waiting()
        self.look_whether_idle()

    def _start_waiting(self) -> None:
        if self._quarantine.busy:
            if not self._running and self._slots.idle and self._room.opens(self._quarantine.waiting):
                self._suspects.start_next()
            return
        self._slots.let_in()
        while self._slots.idle and (load := self._room.next()) is not None:
            self.start(load)
        too_many = (
            [] if self._permits is not None and self._permits.away else self._room.overflow(self._slots.most_blocked)
        )
        for load in too_many:
            for hand in load.hands:
                del self._hands[hand.key]
                hand.give_back(_SENT_BACK_S)
        self._count_waiting()

    def _count_waiting(self) -> None:
        self._slots.waiting, self._slots.blocked = self._room.startable(), self._room.blocked()
        self.look_whether_idle()
        if self._permits is not None:
            self._permits.class_waits()

    def start(self, load: Load) -> None:
        """Its handler, now. Raises as `arrive`."""
        messages = tuple(hand.message for hand in load.hands)
        load.started_at_s = self._clock()
        if self._quarantine.is_alone(load):
            self._room.enter(load)
        try:
            given = messages[0] if self._sorting.batch is None else Batch(messages)
            load.run = self._runner.start(given, lambda error: self._ends.put((load, error)))
        except BaseException:
            self._out(load)
            for hand in load.hands:
                self._drop(hand)
            self.release_waiting()
            raise
        for hand in load.hands:
            self._telemetry.started(hand.message.sent_at_s, hand.message.receive_count, load.job_class)
            hand.lane.heard(hand.key)
        self._slots.start()
        self._running.add(load)
        self._idle.clear()

    def _on_end(self, end: tuple[Load, BaseException | None]) -> None:
        load, error = end
        if load not in self._running:
            return  # the worker has left, and nobody waits for it any longer
        self._slots.finish()
        try:
            rejects = self._ended(load, error)
            if self._quarantine.is_alone(load):
                load.hands[0].note_end(spared=True)
            self._out(load)
            if not self._slots.closed:
                self._start_waiting()
        except Exception as fault:  # noqa: BLE001  raised by `run`
            self._followers.unsettled(load, fault)
            rejects = []
        if rejects:
            self._followers.start(self._reject(load, rejects), load, "tidegate-rejects")
        else:
            self._settled(load)

    async def _reject(self, load: Load, rejects: Sequence[tuple[Hand, str]]) -> None:
        try:
            await self._settler.reject(rejects)
        finally:
            self._settled(load)

    def _settled(self, load: Load) -> None:
        self._running.discard(load)
        for hand in load.hands:
            self._hands.pop(hand.key, None)
        if self._quarantine.busy and not self._slots.closed:
            self._start_waiting()
        self.look_whether_idle()

    def look_whether_idle(self) -> None:
        """Something has come or gone that `idle` waits for."""
        waits = self._slots.waiting or self._slots.blocked
        busy = self._running or waits or self._suspects.examining or self._quarantine.busy
        (self._idle.clear if busy else self._idle.set)()

    def _out(self, load: Load) -> None:
        """It has ended, or could not be started."""
        self._quarantine.over(load)
        self._room.finish(load)

    def _ended(self, load: Load, error: BaseException | None) -> list[tuple[Hand, str]]:
        for hand in load.hands:
            hand.lane.book.heard(hand.key, math.inf)
        rejects = self._settler.settle(load, error, self._clock() - load.started_at_s)
        usual_s, slots = self._telemetry.usual_service_time_s, self._slots.total
        room = room_for(usual_s, slots) if self._prefetch is None else self._prefetch
        if room != self._slots.room:
            self._slots.resize(self._slots.total, room)
        return rejects

    def _never_started(self, load: Load) -> None:
        """One message of a load that waits has lost its lease: the whole load goes back, to be handed out anew."""
        if self._room.remove(load):
            for hand in load.hands:
                self._drop(hand)
            self._count_waiting()

    def _drop(self, hand: Hand) -> None:
        self._hands.pop(hand.key, None)
        hand.give_back(0)
