"""One of a worker's queues with everything that belongs to it: its leases, their heartbeat, its deletes."""

import asyncio
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tidegate.ports import Received, WorkQueue
from tidegate.worker.backoff import Random
from tidegate.worker.leases.book import LeaseBook, LeaseLimits
from tidegate.worker.leases.deletes import Deleter
from tidegate.worker.leases.keeper import LeaseKeeper
from tidegate.worker.leases.notebook import Notebook
from tidegate.worker.message import Message, message_from
from tidegate.worker.telemetry.dependencies import DependencyLog

__all__ = ["Hand", "Lane", "QueuePlan", "open_lane"]


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """A queue of a worker: how its settings write it, its share of the slots, whether it is FIFO."""

    name: str
    weight: float = 1.0
    fifo: bool = False


class Lane:
    """Leases, deletes and returns of one queue. `clock` is steady, `wall` the time of day."""

    def __init__(
        self,
        plan: QueuePlan,
        queue: WorkQueue,
        book: LeaseBook,
        keeper: LeaseKeeper,
        deleter: Deleter,
        calls: DependencyLog,
        notes: Notebook,
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self.plan = plan
        self.queue = queue
        self.book = book
        self.keeper = keeper
        self.deleter = deleter
        self.notes = notes
        self._calls = calls
        self._clock = clock
        self._wall = wall
        self.progress_at_s = -math.inf
        """When a handler last said that it goes on."""

    def tasks(self) -> list[asyncio.Task[None]]:
        """What must run as long as the worker does."""
        return [
            asyncio.create_task(self.keeper.run(), name=f"tidegate-lease-keeper of {self.plan.name}"),
            asyncio.create_task(self.deleter.run(), name=f"tidegate-deleter of {self.plan.name}"),
        ]

    def too_late(self, handed_out_s: float) -> bool:
        """True when messages handed out then may be another worker's by now, or before their leases can be extended."""
        return self.book.too_late(handed_out_s, self._clock())

    def take(self, received: Received, handed_out_s: float) -> "Hand":
        """A message is in hand: its lease runs since SQS handed it out."""
        key = self.book.take(received.receipt_handle, handed_out_s)
        message = message_from(
            received,
            self._wall(),
            self._calls,
            longest_s=self.book.longest_s - (self._clock() - handed_out_s),
            queue=self.plan.name,
            lease=_Control(self, key, asyncio.get_running_loop()),
        )
        return Hand(self, key, received, message)

    def heard(self, key: int) -> None:
        """The handler of this message starts, or says that it goes on."""
        self.book.heard(key, self._clock())

    def progressed(self, key: int) -> None:
        """The handler of this message says that it goes on."""
        self.progress_at_s = self._clock()
        self.heard(key)


@dataclass(slots=True, eq=False)
class Hand:
    """A message in hand, from its receive until it is settled."""

    lane: Lane
    key: int
    received: Received
    message: Message
    noted: bool = False

    def held(self) -> bool:
        """True while the message is this worker's and nothing was sent that gives it up."""
        return self.lane.book.holds(self.key)

    def give_back(self, visible_after_s: int, *, spared: bool = True) -> None:
        """It becomes visible again so many seconds from now (0: at once); `spared`: by no fault of its own."""
        self.note_end(spared=spared)
        self.lane.keeper.give_back(self.key, visible_after_s)

    def note_end(self, *, spared: bool) -> None:
        """This receive has ended in an orderly way, whatever comes of it: its worker has not died of it."""
        if not self.noted:
            self.noted = True
            self.lane.notes.ended(self.message, spared=spared)

    def delete(self) -> None:
        """It is done."""
        self.lane.deleter.add(self.key, self.received.receipt_handle, self.message.id)


class _Control:
    """A message's wishes about its lease, brought from whatever thread to the SDK's loop."""

    __slots__ = ("_key", "_lane", "_loop")

    def __init__(self, lane: Lane, key: int, loop: asyncio.AbstractEventLoop) -> None:
        self._lane, self._key, self._loop = lane, key, loop

    def extend(self, for_s: float) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lane.keeper.want, self._key, for_s)

    def progress(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lane.progressed, self._key)


def open_lane(
    plan: QueuePlan,
    queue: WorkQueue,
    visibility_s: int,
    limits: LeaseLimits,
    keys: Iterator[int],
    *,
    on_lost: Callable[[int], None],
    on_uncertain: Callable[[], None],
    on_caught_up: Callable[[], None],
    calls: DependencyLog,
    notes: Notebook,
    clock: Callable[[], float],
    wall: Callable[[], float],
    random: Random,
) -> Lane:
    """A lane whose leases last `visibility_s`; `on_lost` hears the key of each lease that is lost."""
    book = LeaseBook(visibility_s, limits, keys)
    keeper = LeaseKeeper(queue, book, on_lost, clock)
    deleter = Deleter(queue, book, keeper, on_uncertain, on_caught_up, clock, random)
    return Lane(plan, queue, book, keeper, deleter, calls, notes, clock, wall)
