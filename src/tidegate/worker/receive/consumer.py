"""Keeps the slots full: slots are reserved, then a poll asks for as many messages as they can take.

One poll at a time while a queue is idle, more while polls come back full. With several queues the rota says whose turn
it is. A queue that was empty while others have messages is asked for one message, for a second only, and then rests for
a moment: its poll holds a slot that the others could use.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.errors import CloudError
from tidegate.ports import Received
from tidegate.worker.jobs.in_hand import Jobs
from tidegate.worker.leases.lane import Lane
from tidegate.worker.receive.poller import Poller
from tidegate.worker.receive.rota import SHORT_POLL_S, Rota, Turn
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import happens_within

__all__ = ["Consumer"]

_POLL: Final = 10
_MOST_POLLS: Final = 10
_EARLY_EMPTY_PAUSE_S: Final = 1.0

logger = logging.getLogger(__name__)


class Consumer:
    """Polls for ever, until the slots are closed.

    `on_poll` is called before each receive call, `on_answer` when one is answered.
    `batch` is how many messages one slot takes: those of one call of a batch handler.
    """

    def __init__(
        self,
        pollers: Sequence[Poller],
        slots: Slots,
        jobs: Jobs,
        on_poll: Callable[[], None],
        on_answer: Callable[[], None],
        *,
        poll_wait_s: int,
        batch: int,
        clock: Callable[[], float],
    ) -> None:
        self._slots = slots
        self._jobs = jobs
        self._on_poll = on_poll
        self._on_answer = on_answer
        self._poll_wait_s = poll_wait_s
        self._batch = batch
        self._clock = clock
        self._pollers = {_turn(poller.lane, slots.most): poller for poller in pollers}
        self._rota = Rota(list(self._pollers))
        self._polls: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    async def run(self) -> None:
        """Ends when the slots are closed and the polls then outstanding are back; what they brought is returned.

        Raises Denied, Gone or Invalid when the first poll of a queue is refused, and whatever lasts longer than its
        patience: the worker can't work at all. Once a queue has answered no answer ends the polling: credentials are
        rotated, queues made again, networks mended. Also raises what kept a handler from being started.
        """
        try:
            while not self._slots.closed and self._error is None:
                self._slots.changed.clear()
                self._ask()
                await self._news()
            while self._polls:
                await asyncio.wait(self._polls)
        finally:
            await self._drop_polls()
        if self._error is not None:
            raise self._error

    def _ask(self) -> None:
        """Sends all the polls that may be sent now."""
        while (turn := self._rota.next(self._clock(), self._keeps_up)) is not None:
            reserved = self._slots.reserve(self._most(turn), self._least())
            if not reserved:
                return
            self._rota.asked(turn)
            poll = asyncio.create_task(self._poll(turn, reserved), name="tidegate-consumer-poll")
            self._polls.add(poll)
            poll.add_done_callback(self._polled)

    def _keeps_up(self, turn: Turn) -> bool:
        return not self._pollers[turn].lane.deleter.behind

    async def _news(self) -> None:
        """Waits until there may be something to ask for: a free slot, an answer, the end of a queue's rest."""
        rest_s = self._rota.rest_s(self._clock())
        if rest_s == math.inf:
            await self._slots.changed.wait()
        else:
            await happens_within(self._slots.changed, rest_s)

    def _most(self, turn: Turn) -> int:
        """Slots to reserve for a poll of this queue."""
        if self._pollers[turn].lane.plan.fifo or (not turn.hot and len(self._rota.turns) > 1):
            return 1
        return math.ceil(_POLL / self._batch)

    def _least(self) -> int:
        """Where messages are prefetched, several at once: a poll for each single one would cost ten times as much."""
        return max(1, min(_POLL, self._slots.room_left // 2))

    def _wait_s(self, turn: Turn) -> int:
        scarce = self._slots.free < 1 and any(not other.polls for other in self._rota.turns)
        return min(SHORT_POLL_S, self._poll_wait_s) if self._rota.others_hot(turn) or scarce else self._poll_wait_s

    async def _poll(self, turn: Turn, reserved: int) -> None:
        poller, wait_s = self._pollers[turn], self._wait_s(turn)
        asked = 1 if poller.lane.plan.fifo else min(_POLL, reserved * self._batch)
        sent_at_s = self._clock()
        self._on_poll()
        try:
            received, handed_out_s = await poller.ask(asked, wait_s)
        except CloudError as error:
            self._failed(turn, error)
        else:
            self._on_answer()
            self._rota.answered(turn, asked, len(received), self._clock())
            self._slots.short_polls += len(received) < asked
            if not received and self._clock() - sent_at_s < wait_s / 2:
                # SQS waits before it says "none". Whatever doesn't must not be asked hundreds of times a second.
                turn.rests_until_s = self._clock() + _EARLY_EMPTY_PAUSE_S
            self._hand_over(poller.lane, received, handed_out_s)
        finally:
            self._slots.give_back(reserved)

    def _failed(self, turn: Turn, error: CloudError) -> None:
        poller = self._pollers[turn]
        if poller.is_hopeless(error) and not self._slots.closed:
            self._error = error
        else:
            self._rota.failed(turn, self._clock() + poller.failed(error))

    def _hand_over(self, lane: Lane, received: Sequence[Received], handed_out_s: float) -> None:
        if lane.too_late(handed_out_s):
            _say_too_late(received)
        elif self._slots.closed:
            self._jobs.turn_away(lane, received, handed_out_s)
        else:
            try:
                self._jobs.arrive(lane, received, handed_out_s)
            except Exception as error:  # noqa: BLE001  raised by `run`, once no further poll is sent
                self._error = error

    def _polled(self, poll: asyncio.Task[None]) -> None:
        """A poll that died of something that nobody thought of ends the polling too."""
        self._polls.discard(poll)
        self._slots.changed.set()
        if not poll.cancelled() and (fault := poll.exception()) is not None:
            self._error = self._error or fault

    async def _drop_polls(self) -> None:
        """Only when the worker can't wait for them: what they would bring must not be taken any more."""
        for poll in self._polls:
            poll.cancel()
        if self._polls:
            await asyncio.wait(self._polls)


def _turn(lane: Lane, slots: int) -> Turn:
    """With polls enough to fill the slots in one round, and one more for what frees up meanwhile."""
    polls = slots if lane.plan.fifo else 1 + math.ceil(slots / _POLL)
    return Turn(lane.plan.weight, cap=min(_MOST_POLLS, polls))


def _say_too_late(received: Sequence[Received]) -> None:
    """They are left alone: another worker may have them, and giving back an old receipt could take them from it."""
    for message in received:
        logger.warning(
            "message %s came when its lease could be over already: left for its next turn", message.message_id
        )
