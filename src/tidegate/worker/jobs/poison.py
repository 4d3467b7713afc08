"""Keeps messages that kill workers from killing more than two: who is suspect, and whose turn it is to run alone."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.core.workers.poison import MessageNote, Ruling, Verdict, may_have_crashed, verdict
from tidegate.worker.jobs.waiting_room import Load
from tidegate.worker.leases.lane import Hand
from tidegate.worker.leases.notebook import Notebook
from tidegate.worker.message import Message

__all__ = ["Quarantine"]

_FIRST_RECEIVE: Final = "ApproximateFirstReceiveTimestamp"


class Quarantine:
    """The suspects of one worker. `wall` is the time of day; `max_receives` None: no cap.

    While one waits to run alone, or does, nothing else may start: see `busy`.
    """

    def __init__(self, notebook: Notebook, max_receives: int | None, wall: Callable[[], float]) -> None:
        self.notebook = notebook
        self._max_receives = max_receives
        self._wall = wall
        self._waiting: deque[Load] = deque()
        self._running: Load | None = None

    @property
    def busy(self) -> bool:
        """True while nothing else may start."""
        return bool(self._waiting) or self._running is not None

    @property
    def waiting(self) -> Sequence[Load]:
        """Those that are to run alone, the next one first."""
        return self._waiting

    def sort(self, hands: Sequence[Hand]) -> tuple[list[Hand], list[Hand]]:
        """Those that may run, and the suspects. A suspect that goes back before it ran is to stay suspect."""
        for hand in hands:
            hand.noted = self._suspects(hand)
        return [hand for hand in hands if not hand.noted], [hand for hand in hands if hand.noted]

    def _suspects(self, hand: Hand) -> bool:
        """Whether the fleet's notes must be asked first. False for all but a few of the messages received again."""
        message = hand.message
        if message.receive_count < 2:
            return False
        if self._max_receives is not None and message.receive_count > self._max_receives:
            return True
        return self.notebook.kept and self._may_have_crashed(message, hand.lane.book.visibility_s)

    async def rule(self, hand: Hand) -> Ruling:
        """By the notes. Without a table the receive count is all that is known; without an answer it runs."""
        if not self.notebook.kept:
            earlier = hand.message.receive_count - 1
            return verdict(hand.message.receive_count, MessageNote(receive=earlier), self._max_receives)
        note = await self.notebook.note(hand.message)
        if note is None:
            return Ruling(Verdict.RUN)
        return verdict(hand.message.receive_count, note, self._max_receives)

    def put(self, load: Load) -> None:
        """It waits until nothing else runs."""
        self._waiting.append(load)

    def next(self) -> Load | None:
        """The one that may run now, with nothing else; None while one does, or when none waits."""
        if self._running is not None or not self._waiting:
            return None
        self._running = self._waiting.popleft()
        return self._running

    def over(self, load: Load) -> None:
        """It has ended, or will not run."""
        if load is self._running:
            self._running = None

    def is_alone(self, load: Load) -> bool:
        """Whether it is the one that runs alone."""
        return load is self._running

    def empty(self) -> list[Load]:
        """Takes out all that wait."""
        loads = list(self._waiting)
        self._waiting.clear()
        return loads

    def _may_have_crashed(self, message: Message, lease_s: float) -> bool:
        first = message.attributes.get(_FIRST_RECEIVE)
        return first is None or may_have_crashed(int(first) / 1000, self._wall(), lease_s)
