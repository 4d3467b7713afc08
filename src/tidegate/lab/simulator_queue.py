"""The queue and the slots that serve it: which message starts when, and where. The simulator's inner loop.

No event per completion: as a slot's next free time is known when it starts a message, the earliest free slot and the
next arrival are all that a start depends on (the recursion of J. Kiefer and J. Wolfowitz, Trans. AMS 78, 1955).
"""

import random
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from itertools import chain
from math import inf

import numpy as np
from numpy.typing import NDArray

from tidegate.lab.scenario import Downstream, Floats, Scenario

__all__ = ["Runs", "SimulatedQueue"]

_NOBODY = (inf, -1)
"""Keeps a heap from being empty: a slot that is never free, a message that never returns."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Handler runs that have started, in the order of their starts; `ends_s` may lie ahead."""

    starts_s: Floats
    ends_s: Floats
    slots: NDArray[np.int64]
    messages: NDArray[np.int64]


class SimulatedQueue:
    """Messages that wait, in shards, and slots that take them. `poison` holds the messages whose runs all fail.

    The slot that has been idle for longest takes the next message: long polls are answered in the order they came in.
    """

    def __init__(self, scenario: Scenario, poison: frozenset[int], seed: int) -> None:
        shards = 1 if scenario.order == "fifo" else scenario.shards
        messages = len(scenario.arrivals_s)
        self._scenario = scenario
        self._arrivals_s: list[float] = [*scenario.arrivals_s.tolist(), inf]
        self._service_s: list[float] = scenario.service_s.tolist()
        self._shard_of: list[int] = np.random.default_rng(seed).integers(shards, size=messages).tolist()
        self._shards: list[deque[int]] = [deque() for _ in range(shards)]
        self._waiting: list[deque[int]] = []  # the shards that hold messages
        self._random = random.Random(f"{seed} shard read next").random
        self._free = [_NOBODY]  # heap of (free from, slot)
        self._returns = [_NOBODY]  # heap of (visible again, message)
        self._next = 0
        self._now_s = 0.0
        self._poison = poison
        self._plain = not self.repeats and scenario.downstream is None
        self._busy_until_s: list[float] = []
        self._held: dict[int, tuple[int, float]] = {}  # slot -> message and end of its latest run
        self._failures: dict[int, int] = {}
        self._returned_s = array("d")
        self._log = array("d")  # start, end, slot, message of each run, flat

    def run_until(self, until_s: float) -> None:
        """Start everything that can start before `until_s`, and put back what is visible again by then."""
        while True:
            reached_s = self._start_until(min(until_s, self._returns[0][0]))
            self._now_s = reached_s
            if self._returns[0][0] <= reached_s:
                self._put_back(heappop(self._returns)[1])
            elif reached_s >= until_s:
                return

    def _start_until(self, until_s: float) -> float:
        """The hot loop: under a microsecond a message. Stops early where a failed message becomes visible again."""
        arrivals_s, service_s, shard_of, shards = self._arrivals_s, self._service_s, self._shard_of, self._shards
        free, waiting, plain, log = self._free, self._waiting, self._plain, self._log.extend
        following = self._next
        while True:
            free_s, slot = free[0]
            horizon_s = free_s if free_s < until_s else until_s
            while arrivals_s[following] <= horizon_s:
                shard = shards[shard_of[following]]
                if not shard:
                    waiting.append(shard)
                shard.append(following)
                following += 1
            if waiting:
                start_s = max(free_s, self._now_s)
                if start_s >= until_s:
                    break
                message = self._pop_waiting()
            elif (start_s := arrivals_s[following]) < until_s:
                message = following
                following += 1
            else:
                break
            if plain:
                end_s = start_s + service_s[message]
            else:
                end_s = self._end(message, slot, start_s)
                until_s = min(until_s, self._returns[0][0])
            heapreplace(free, (end_s, slot))
            log((start_s, end_s, slot, message))
        self._next = following
        return until_s

    def _pop_waiting(self) -> int:
        """The head of a shard, drawn at random from those that hold messages."""
        at = int(self._random() * len(self._waiting))
        shard = self._waiting[at]
        message = shard.popleft()
        if not shard:
            del self._waiting[at]
        return message

    def _end(self, message: int, slot: int, start_s: float) -> float:
        """When this run ends, with what can befall it: a strained downstream, a failure."""
        service_s = self._service_s[message]
        if self._scenario.downstream is not None:
            service_s *= self._strain(self._scenario.downstream, start_s)
        end_s = start_s + service_s
        heappush(self._busy_until_s, end_s)
        self._held[slot] = (message, end_s)
        if message in self._poison:
            failures = self._failures[message] = self._failures.get(message, 0) + 1
            if failures < self._scenario.max_receives:
                heappush(self._returns, (end_s + self._scenario.retry_after_s, message))
        return end_s

    def _strain(self, downstream: Downstream, start_s: float) -> float:
        busy_until_s = self._busy_until_s
        while busy_until_s and busy_until_s[0] <= start_s:
            heappop(busy_until_s)
        over = (len(busy_until_s) + 1) / downstream.capacity_slots
        strained: float = max(1.0, over) ** downstream.strain
        return strained

    def _put_back(self, message: int) -> None:
        """Visible again: a FIFO queue keeps its place, a standard queue makes it the last of its shard."""
        shard = self._shards[self._shard_of[message]]
        if not shard:
            self._waiting.append(shard)
        if self._scenario.order == "fifo":
            shard.appendleft(message)
        else:
            shard.append(message)
        self._returned_s.append(self._now_s)

    def open(self, slots: Iterable[int]) -> None:
        """These slots take messages from now on."""
        for slot in slots:
            heappush(self._free, (self._now_s, slot))

    def close(self, workers: Sequence[range]) -> list[float]:
        """These workers' slots take no more messages. When the last of each worker's is done with what it holds.

        All at once: a fleet of a thousand that is sent home worker by worker would be looked through a thousand times.
        """
        place = {slot: number for number, slots in enumerate(workers) for slot in slots}
        done_s = [self._now_s] * len(workers)
        for free_s, slot in self._free:
            if slot in place:
                done_s[place[slot]] = max(done_s[place[slot]], free_s)
        self._free[:] = [entry for entry in self._free if entry[1] not in place]
        heapify(self._free)
        return done_s

    def lose(self, slots: range) -> list[tuple[int, float]]:
        """These slots are gone; what they held returns after its lease. Those messages, and when they would have ended.

        A poison message's lost run counts as the failed one that it would have been, so it is not among them.
        """
        self.close([slots])
        held = [self._held.pop(slot) for slot in slots if slot in self._held]
        lost = [(message, end_s) for message, end_s in held if end_s > self._now_s and message not in self._poison]
        for message, end_s in lost:
            heappush(self._returns, (self._now_s + self._scenario.lease_s, message))
            self._busy_until_s.remove(end_s)
        heapify(self._busy_until_s)
        return lost

    def take_runs(self) -> Runs:
        """All runs that have started since the last call."""
        starts_s, ends_s, slots, messages = np.array(self._log).reshape(-1, 4).T
        del self._log[:]
        return Runs(starts_s, ends_s, slots.astype(np.int64), messages.astype(np.int64))

    def take_returns(self) -> Floats:
        """When messages became visible again, since the last call."""
        returned_s = np.array(self._returned_s)
        del self._returned_s[:]
        return returned_s

    @property
    def repeats(self) -> bool:
        """Whether a message can start more than once in this scenario."""
        return bool(self._poison) or self._scenario.spot_losses_per_hour > 0

    @property
    def all_started(self) -> bool:
        """Nothing waits, nothing will come, nothing will come back."""
        return not self._waiting and self._next == len(self._service_s) and self._returns[0] is _NOBODY

    def slots_free_at(self) -> list[tuple[float, int]]:
        """(free from, slot) of every open slot, in no order; idle ones have been free for some time."""
        return [entry for entry in self._free if entry is not _NOBODY]

    def waiting_messages(self) -> list[int]:
        """Every message that waits, in the order of sending."""
        return sorted(chain.from_iterable(self._waiting))

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting))

    def oldest_waiting(self) -> int | None:
        """The message sent first of those that wait, without those that failed so often that SQS puts them last.

        A message received three times or more leaves the age metric:
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
        """
        if not self.repeats:
            return min((shard[0] for shard in self._waiting), default=None)
        failures = self._failures
        candidates = (m for m in chain.from_iterable(self._waiting) if failures.get(m, 0) < _POISONED_AFTER)
        return min(candidates, default=None)


_POISONED_AFTER = 3
