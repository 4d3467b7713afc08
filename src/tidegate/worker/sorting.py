"""What one call of the handler is given: messages by job class, in batches where the handler takes several."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.worker.lane import Hand
from tidegate.worker.message import Message
from tidegate.worker.waiting_room import Load

__all__ = ["UNSORTED", "Sorting"]


@dataclass(frozen=True, slots=True)
class Sorting:
    """`class_of` names a message's class; without it all are of one. `batch` None: one message per call."""

    class_of: Callable[[Message], str] | None = None
    class_slots: Mapping[str, int] = field(default_factory=dict)
    batch: int | None = None

    def loads(self, hands: Sequence[Hand]) -> list[Load]:
        """The hands of one poll as calls of the handler. Raises what `class_of` raises."""
        classes: dict[str, list[Hand]] = {}
        for hand in hands:
            classes.setdefault("" if self.class_of is None else self.class_of(hand.message), []).append(hand)
        size = self.batch or 1
        return [
            Load(members[start : start + size], name)
            for name, members in classes.items()
            for start in range(0, len(members), size)
        ]

    def limit(self, slots: Callable[[], int]) -> Callable[[str], int] | None:
        """How many of `slots` a class may have at once: as set, else all but one. None: no classes, no limit."""
        if self.class_of is None:
            return None
        return lambda name: self.class_slots.get(name, max(1, slots() - 1))


UNSORTED = Sorting()
