"""Long polls: receivers that wait in line, woken one by one, and never served once their connection is closed."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate.sandbox.sqs.model import Message
from tidegate.sandbox.sqs.queue import Queue

__all__ = ["Ask", "LongPolls"]

_SOONEST_S = 0.001
"""A timer that fires a hair before its time is set again; this keeps it from spinning."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One ReceiveMessage: `take` leases messages now, `hung_up` says whether nobody would read the answer."""

    take: Callable[[], list[Message]]
    hung_up: Callable[[], bool]
    wait_s: float


@dataclass(slots=True, eq=False)
class _Line:
    """The receivers of one queue in the order they came, and the timer for what comes due by itself."""

    waiting: "OrderedDict[asyncio.Event, None]" = field(default_factory=OrderedDict)
    timer: asyncio.TimerHandle | None = None
    closed: bool = False


class LongPolls:
    """The lines of all queues. Lives on one event loop; `clock` is the queues' clock (seconds)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lines: dict[Queue, _Line] = {}
        self._closed = False

    async def receive(self, queue: Queue, ask: Ask) -> list[Message]:
        """Messages at once, or the first that come within the wait, in the order of asking; else none.

        A short poll (no wait) takes what is there; a long one stands behind those that wait already.

        A woken receiver takes its messages itself, in the same step in which it looks at its connection: a receiver
        that was cancelled or cut off leaves the message where it is, for the next in line.
        """
        if ask.hung_up():
            return []
        waits = ask.wait_s > 0 and not self._closed
        if not (waits and queue in self._lines) and (messages := ask.take()):
            return messages
        return await self._in_line(queue, ask) if waits else []

    async def _in_line(self, queue: Queue, ask: Ask) -> list[Message]:
        line = self._lines.setdefault(queue, _Line())
        turn = asyncio.Event()
        line.waiting[turn] = None
        self.wake(queue)
        try:
            async with asyncio.timeout(ask.wait_s):
                return await self._wait(line, turn, ask)
        except TimeoutError:
            return []
        finally:
            self._leave(queue, line, turn)

    def wake(self, queue: Queue) -> None:
        """The queue may have something: let the first in line look. Called after every change."""
        line = self._lines.get(queue)
        if line is None:
            return
        if queue.visible:
            _call_first(line)
        self._set_timer(queue, line)

    def dismiss(self, queue: Queue) -> None:
        """Answer every open poll of a queue with nothing, at once: the queue is gone."""
        if line := self._lines.get(queue):
            line.closed = True
            for turn in line.waiting:
                turn.set()

    def close(self) -> None:
        """Answer every open poll with nothing, and let none wait from now on."""
        self._closed = True
        for queue in list(self._lines):
            self.dismiss(queue)

    async def _wait(self, line: _Line, turn: asyncio.Event, ask: Ask) -> list[Message]:
        while True:
            await turn.wait()
            turn.clear()
            if line.closed or ask.hung_up():
                return []
            if messages := ask.take():
                return messages

    def _leave(self, queue: Queue, line: _Line, turn: asyncio.Event) -> None:
        del line.waiting[turn]
        if line.waiting:
            self.wake(queue)
            return
        if line.timer:
            line.timer.cancel()
        if self._lines.get(queue) is line:
            del self._lines[queue]

    def _set_timer(self, queue: Queue, line: _Line) -> None:
        """One timer per queue, for the end of the next delay or lease; none while nobody waits."""
        if line.timer:
            line.timer.cancel()
            line.timer = None
        due_s = queue.next_due_s()
        if due_s is not None:
            delay_s = max(_SOONEST_S, due_s - self._clock())
            line.timer = asyncio.get_running_loop().call_later(delay_s, self._come_due, queue)

    def _come_due(self, queue: Queue) -> None:
        queue.advance(self._clock())
        self.wake(queue)


def _call_first(line: _Line) -> None:
    for turn in line.waiting:
        turn.set()
        return
