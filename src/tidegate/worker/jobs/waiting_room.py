"""Messages in hand that wait for a slot, by job class: none of the classes may take every slot.

A class is known only once a message has been received. So one whose class has all the slots that it may have waits in
hand, its lease kept, and takes no slot from the others. Only when as many wait like this as may are further ones sent
back, and each at its first receive only: a receive more is what that costs, and a redrive policy counts it. So one that
comes again stays, and when too many of these wait nothing more is received. A queue for each class has neither trouble.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tidegate.worker.fleet.limits import ClassLoad
from tidegate.worker.handlers.run_handler import Run
from tidegate.worker.leases.lane import Hand

__all__ = ["Load", "WaitingRoom", "in_hand"]


@dataclass(slots=True, eq=False)
class Load:
    """What one call of the handler is about: one message, or a batch, of one class."""

    hands: Sequence[Hand]
    job_class: str = ""
    run: Run | None = None
    started_at_s: float = 0.0
    told_to_leave: bool = False


class WaitingRoom:
    """`limit_of` gives a class's slots. First come, first served among those whose class has a slot left."""

    def __init__(self, limit_of: Callable[[str], int] | None = None) -> None:
        self._limit_of = limit_of
        self._waiting: dict[str, deque[tuple[int, Load]]] = {}
        self._running: Counter[str] = Counter()
        self._came = 0

    def add(self, load: Load) -> None:
        """It waits for its turn."""
        self._came += 1
        self._waiting.setdefault(load.job_class, deque()).append((self._came, load))

    def next(self) -> Load | None:
        """The one to start now, or None when all that wait are of classes that have their slots already."""
        if not self._waiting:
            return None
        open_ones = [name for name in self._waiting if not self._full(name)]
        if not open_ones:
            return None
        name = min(open_ones, key=lambda each: self._waiting[each][0][0])
        _, load = self._waiting[name].popleft()
        if not self._waiting[name]:
            del self._waiting[name]
        self._running[name] += 1
        return load

    def finish(self, load: Load) -> None:
        """One that `next` gave has ended."""
        self._running[load.job_class] -= 1
        if not self._running[load.job_class]:
            del self._running[load.job_class]

    def startable(self) -> int:
        """How many wait for nothing but a free slot."""
        return self._count(full=False)

    def blocked(self) -> int:
        """How many wait for a slot of their class."""
        return self._count(full=True)

    def _count(self, *, full: bool) -> int:
        if not self._waiting:
            return 0
        return sum(len(loads) for name, loads in self._waiting.items() if self._full(name) is full)

    def overflow(self, most: int) -> list[Load]:
        """Takes out of those that wait for their class the newest that were never handed out before, down to `most`."""
        if not self._waiting or (over := self.blocked() - most) <= 0:
            return []
        new = [each for name, loads in self._waiting.items() if self._full(name) for each in loads if _is_new(each[1])]
        new.sort(key=lambda each: each[0], reverse=True)
        return [load for _, load in new[:over] if self.remove(load)]

    def remove(self, load: Load) -> bool:
        """Takes one out that waits. False when it does not."""
        loads = self._waiting.get(load.job_class, deque())
        kept = deque(each for each in loads if each[1] is not load)
        if len(kept) == len(loads):
            return False
        if kept:
            self._waiting[load.job_class] = kept
        else:
            del self._waiting[load.job_class]
        return True

    def opens(self, outside: Sequence[Load]) -> bool:
        """Whether there is a slot for the class of the first of those that wait elsewhere."""
        return bool(outside) and not self._full(outside[0].job_class)

    def enter(self, load: Load) -> None:
        """One that never waited here runs, until `finish`."""
        self._running[load.job_class] += 1

    def loads(self) -> Mapping[str, ClassLoad]:
        """What is in hand of each class."""
        return {
            name: ClassLoad(self._running[name], len(self._waiting.get(name, ())))
            for name in {*self._running, *self._waiting}
        }

    def empty(self) -> list[Load]:
        """Takes out all that wait."""
        loads = [load for waiting in self._waiting.values() for _, load in waiting]
        self._waiting.clear()
        return loads

    def _full(self, name: str) -> bool:
        return self._limit_of is not None and self._running[name] >= self._limit_of(name)


def in_hand(room: WaitingRoom, outside: Sequence[Load]) -> dict[str, ClassLoad]:
    """What runs and waits of each class, with those that wait elsewhere, to run alone."""
    loads = dict(room.loads())
    for load in outside:
        before = loads.get(load.job_class, ClassLoad())
        loads[load.job_class] = replace(before, waiting=before.waiting + 1)
    return loads


def _is_new(load: Load) -> bool:
    return all(hand.message.receive_count == 1 for hand in load.hands)
