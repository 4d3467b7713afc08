"""The worker's slots: reserved before a poll, so that nothing is received that no handler will be free for soon.

Pausing is how a worker takes no more work for a while: no slot is reserved, hence no poll sent.
"""

import asyncio
from collections.abc import Callable

__all__ = ["Slots"]


class Slots:
    """`total` slots, each free, reserved for what a poll may bring, or busy with a handler.

    `room` more messages may be in hand that wait for a slot (none unless handlers are quick, see `prefetch`). Either
    number may be changed while handlers run: what is busy stays so.
    """

    def __init__(self, total: int, most: int | None = None) -> None:
        self.total = total
        self.most = total if most is None else most
        """What `total` may ever be."""
        self.room = 0
        self.busy = 0
        self.waiting = 0
        """Messages in hand that will have the next free slots."""
        self.blocked = 0
        """Messages in hand whose class has all the slots that it may have: they take of the room, not of the slots."""
        self.closed = False
        self.changed = asyncio.Event()
        """Set whenever there may be something to reserve, and by `close`."""
        self.reserved = 0
        """What polls may still bring."""
        self.short_polls = 0
        """Polls that brought less than they asked for: nothing was left in the queue."""
        self.watches: list[Callable[[int], None]] = []
        """Called with `busy` whenever that changes."""
        self.permitted: int | None = None
        """How many handlers may run by the fleet's limit, see `permits`; None: there is none."""
        self.owed = 0
        """Of those permitted, what is to be given back: handlers may end in them, and nothing more is asked for."""
        self.lapsed: Callable[[], bool] = lambda: False
        """Whether the lease of those permitted is over. Asked at each use: a process that was stopped for longer than
        the lease has answers of polls to deal with before any timer of its own."""
        self._paused = False
        self._held = False

    @property
    def usable(self) -> int:
        """How many handlers may run at once."""
        if self.permitted is None:
            return self.total
        return 0 if self.lapsed() else min(self.total, self.permitted)

    @property
    def free(self) -> int:
        """How many more messages may be asked for; none while more are blocked than may be, or none may start."""
        usable = self.usable
        if self.blocked > self.most_blocked or not usable:
            return 0
        room = 0 if self.owed else self.room_left
        return usable - self.owed + room - self.busy - self.waiting - self.reserved

    @property
    def room_left(self) -> int:
        """Of `room`, what blocked messages leave."""
        return max(0, self.room - self.blocked)

    @property
    def most_blocked(self) -> int:
        """How many messages may wait in hand for a slot of their class."""
        return self.total + self.room

    @property
    def idle(self) -> bool:
        """True when a handler could start right now."""
        return self.busy < self.usable

    def reserve(self, at_most: int, at_least: int = 1) -> int:
        """Reserves up to `at_most`; 0 when fewer than `at_least` are free, in a pause, or once `close` was called."""
        if self.closed or self._paused or self._held or self.free < at_least:
            return 0
        reserved = min(at_most, self.free)
        self.reserved += reserved
        return reserved

    def give_back(self, reserved: int) -> None:
        """A reservation ends: for what came, another count stands from now on."""
        self.reserved -= reserved
        self.changed.set()

    def start(self) -> None:
        """A handler takes a slot."""
        self.busy += 1
        self._tell()

    def finish(self) -> None:
        """A handler is done: its slot is free."""
        self.busy -= 1
        self._tell()
        self.changed.set()

    def _tell(self) -> None:
        for watch in self.watches:
            watch(self.busy)

    def resize(self, total: int, room: int) -> None:
        """From now on so many slots, and so many messages that may wait for one."""
        self.total, self.room = total, room
        self.changed.set()

    def permit(self, permitted: int, owed: int = 0) -> None:
        """From now on so many handlers may run, and of their slots so many are to be given back once they are free."""
        self.permitted, self.owed = permitted, owed
        self.changed.set()

    def pause(self) -> None:
        """No more reservations until `resume`; those that were made stand."""
        self._paused = True

    def resume(self) -> None:
        """Reservations as before."""
        self._paused = False
        self.changed.set()

    def hold(self) -> None:
        """No more reservations until `let_in`, which undoes no pause: a message is to run alone."""
        self._held = True

    def let_in(self) -> None:
        """The message that was to run alone is done."""
        if self._held:
            self._held = False
            self.changed.set()

    async def no_poll_out(self) -> None:
        """Waits until no slot is reserved: every poll is back, and what it brought has started."""
        while self.reserved:
            self.changed.clear()
            await self.changed.wait()

    def close(self) -> None:
        """No more reservations."""
        self.closed = True
        self.changed.set()
