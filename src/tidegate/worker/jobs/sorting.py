"""What one call of the handler is given: messages by job class, in batches where the handler takes several."""

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tidegate.worker.jobs.waiting_room import Load
from tidegate.worker.leases.lane import Hand
from tidegate.worker.message import Message

__all__ = ["UNSORTED", "Sorting"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sorting:
    """`class_of` names a message's class; without it all are of one. `batch` None: one message per call."""

    class_of: Callable[[Message], str] | None = None
    class_slots: Mapping[str, int] = field(default_factory=dict)
    batch: int | None = None

    def loads(self, hands: Sequence[Hand]) -> list[Load]:
        """The hands of one poll as calls of the handler."""
        classes: dict[str, list[Hand]] = {}
        for hand in hands:
            classes.setdefault(self._class(hand.message), []).append(hand)
        size = self.batch or 1
        return [
            Load(members[start : start + size], name)
            for name, members in classes.items()
            for start in range(0, len(members), size)
        ]

    def _class(self, message: Message) -> str:
        """A message whose class nobody can tell has none, and goes to the handler, which judges bad ones anyway."""
        if self.class_of is None:
            return ""
        try:
            name: object = self.class_of(message)
        except Exception as error:  # noqa: BLE001  its text may quote the body
            where = "".join(traceback.format_tb(error.__traceback__)).rstrip()
            logger.error("message %s has no class: class_of raised %s\n%s", message.id, type(error).__qualname__, where)  # noqa: TRY400
            return ""
        if isinstance(name, str):
            return name
        logger.error("message %s has no class: class_of gave %s, no text", message.id, type(name).__qualname__)
        return ""

    def limit(
        self, slots: Callable[[], int], of_the_fleet: Callable[[str], int | None] | None = None
    ) -> Callable[[str], int] | None:
        """How many of `slots` a class may have at once: as set, else all but one. None: no classes, no limit.

        `of_the_fleet` is what the fleet's limit of a class leaves to this worker; None where it has none.
        """
        if self.class_of is None:
            return None

        def here(name: str) -> int:
            return self.class_slots.get(name, max(1, slots() - 1))

        if of_the_fleet is None:
            return here
        permitted = of_the_fleet

        def both(name: str) -> int:
            limit = permitted(name)
            return here(name) if limit is None else min(here(name), limit)

        return both


UNSORTED = Sorting()
