"""What the law of slots looks at, measured: `slot_rule.auto` makes the rule, `Gauge` the looks."""

import asyncio
import logging
from collections.abc import Callable

from tidegate.core.workers.auto_slots import AutoSlots, Look, first_slots, look_every_s, next_slots
from tidegate.worker.slots import Slots

logger = logging.getLogger(__name__)

__all__ = ["Gauge", "SlotTuner"]


class Gauge:
    """Counts between two looks: the mean of what is busy, and what has ended. `clock` is a steady clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._busy = 0
        self._changed_at_s = self._looked_at_s = clock()
        self._busy_s = 0.0
        self._ended = self._failed = 0
        self._service_time_sum_s = 0.0

    def busy(self, now_busy: int) -> None:
        """From now on so many slots are busy."""
        now_s = self._clock()
        self._busy_s += self._busy * (now_s - self._changed_at_s)
        self._busy, self._changed_at_s = now_busy, now_s

    def ended(self, service_time_s: float, *, failed: bool) -> None:
        """One has ended, well or not."""
        self._ended += 1
        self._failed += failed
        self._service_time_sum_s += service_time_s

    def look(self, head_wait_s: float) -> Look:
        """What happened since the last call."""
        self.busy(self._busy)
        now_s = self._changed_at_s
        elapsed_s = now_s - self._looked_at_s
        busy = self._busy_s / elapsed_s if elapsed_s > 0 else float(self._busy)
        look = Look(now_s, head_wait_s, busy, self._ended, self._failed, self._service_time_sum_s)
        self._looked_at_s = now_s
        self._busy_s, self._service_time_sum_s = 0.0, 0.0
        self._ended = self._failed = 0
        return look


class SlotTuner:
    """A worker's slots by the law of slots: looks at what handlers do, and resizes. `run` is its task.

    What waits in the queue is not seen, but what comes from it tells how long it has waited. That is the head's wait
    as long as polls come back full. A poll that brings less has emptied the queue; and while no slot is free, nothing
    is asked and the last answer holds.
    """

    def __init__(self, rule: AutoSlots, slots: Slots, fill: Callable[[], None], clock: Callable[[], float]) -> None:
        """`fill` is called when there are more slots, for what waits in hand."""
        self._rule = rule
        self._slots = slots
        self._fill = fill
        self._gauge = Gauge(clock)
        self._state = first_slots(rule, clock())
        self._waits_s: list[float] = []
        self._head_wait_s = 0.0
        self._short_polls = 0
        slots.watches.append(self._gauge.busy)

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            await asyncio.sleep(look_every_s(self._rule))
            self._look()

    def started(self, wait_s: float | None) -> None:
        """A handler starts on a message; one that came back has waited for other reasons."""
        if wait_s is not None:
            self._waits_s.append(wait_s)

    def ended(self, service_time_s: float, *, completed: bool) -> None:
        """A handler has ended."""
        self._gauge.ended(service_time_s, failed=not completed)

    def _look(self) -> None:
        before = self._state.slots
        self._head_wait_s = self._head_wait()
        self._state = next_slots(self._rule, self._state, self._gauge.look(self._head_wait_s))
        if self._state.slots != before:
            logger.debug("slots from %d to %d", before, self._state.slots)
            self._slots.resize(self._state.slots, self._slots.room)
            self._fill()

    def _head_wait(self) -> float:
        waits_s, self._waits_s = self._waits_s, []
        emptied = self._slots.short_polls > self._short_polls
        self._short_polls = self._slots.short_polls
        if emptied:
            return 0.0
        if waits_s:
            return max(0.0, sum(waits_s) / len(waits_s))
        return 0.0 if self._slots.idle else self._head_wait_s
