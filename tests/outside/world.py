"""The simulation: every message and every worker by itself, in virtual time."""

import math
import random
from collections.abc import Iterator
from typing import Protocol

from tests.outside.crew import Crew
from tests.outside.events import Events
from tests.outside.platform import LOOK_EVERY_S, Platform
from tests.outside.polls import Polls
from tests.outside.result import Result, waits_of
from tests.outside.scenario import Scenario
from tests.outside.sqs import FifoQueue, Message, Minute, Queue, RandomQueue, StandardQueue
from tests.outside.workers import Worker

__all__ = ["Policy", "World"]

_LONGEST_BACKOFF_S = 900.0
_WATCHED_AFTER_S = 3600.0
"""After the last message and twice its target: a run ends there whatever is left."""


class Policy(Protocol):
    """Whoever sets the desired count. `kind`: its workers are chosen and drained as kindly as can be."""

    every_s: float
    kind: bool

    def tick(self, world: "World") -> None:
        """Look, and call `world.set_desired`."""


class World:
    """One run of a scenario under a policy; the same seed brings the same messages to every policy."""

    def __init__(self, scenario: Scenario, policy: Policy, seed: int = 1) -> None:
        self.scenario, self.policy = scenario, policy
        self.events, self.chance = Events(), random.Random(seed * 7919 + 1)
        self.messages = scenario.traffic(random.Random(seed))
        kind = FifoQueue if scenario.fifo else RandomQueue if scenario.at_random else StandardQueue
        self.queue: Queue = kind(self.chance, noise=scenario.signals.noise)
        self.polls = Polls(self.chance)
        self.crew = Crew(scenario, self.events, self.chance, self.polls, self._offer, self._killed, policy.kind)
        self.platform = Platform(scenario, self.crew, self.chance, policy.kind)
        self.minutes: list[Minute] = []
        self.mean_s = sum(one.service_s for one in self.messages) / max(1, len(self.messages))
        self._sent = 0
        self._worked_s = 0.0
        self._changes = self._turns = self._way = 0
        self._asked: int | None = None

    @property
    def now_s(self) -> float:
        """Virtual time."""
        return self.events.now_s

    def run(self) -> Result:
        """Until all has been worked on, or long after it should have been."""
        self._set_up()
        end_s, events, messages = self.scenario.hours * 3600.0, self.events, self.messages
        limit_s = end_s + 2 * self.scenario.pool.target_wait_s + _WATCHED_AFTER_S
        while events.now_s < limit_s:
            if self._sent < len(messages) and messages[self._sent].comes_s <= events.next_s:
                message = messages[self._sent]
                self._sent += 1
                events.now_s = message.comes_s
                self._send(message)
                continue
            events.play()
            if events.now_s >= end_s and self._sent >= len(messages) and self.queue.is_empty:
                break
        return self._result()

    def _set_up(self) -> None:
        scenario, pool = self.scenario, self.scenario.pool
        soon = sum(message.service_s for message in self.messages if message.comes_s < 600.0) / 600.0
        first = math.ceil(soon / pool.slots_per_worker / 0.7)
        self.platform.desired = min(max(first, pool.min_workers), pool.max_workers)
        for host in range(self.queue.hosts):
            self.events.at(self.chance.random() * scenario.signals.count_every_s, self._publish, host)
        self._look()
        self.events.at(60.0, self._minute)
        self.events.at(self.policy.every_s, self._tick)
        for at_s in scenario.faults.deploys_s:
            self.events.at(at_s, self._deploy)
        if scenario.faults.purge_s is not None:
            self.events.at(scenario.faults.purge_s, self._purge)

    def _publish(self, host: int) -> None:
        self.queue.publish(host)
        self.events.after(self.scenario.signals.count_every_s, self._publish, host)

    def _look(self) -> None:
        self.platform.look(self.now_s)
        self.events.after(LOOK_EVERY_S, self._look)

    def _tick(self) -> None:
        outage = self.scenario.faults.outage
        if outage is None or not outage[0] <= self.now_s < outage[1]:
            self.policy.tick(self)
        self.events.after(self.policy.every_s, self._tick)

    def _minute(self) -> None:
        queue, signals = self.queue, self.scenario.signals
        if signals.metric_lag_s is not None:
            age_s = queue.oldest_age_s(self.now_s, self._worked_on() if signals.age_counts_in_flight else ())
            self.minutes.append(Minute(self.now_s, self.now_s + signals.metric_lag_s, age_s, queue.sent, queue.deleted))
            queue.sent = queue.deleted = 0
        self.events.after(60.0, self._minute)

    def _worked_on(self) -> Iterator[Message]:
        return (message for worker in self.crew.all for message in worker.running)

    def _deploy(self) -> None:
        self.platform.revision += 1

    def _purge(self) -> None:
        for message in self.queue.purge():
            message.counts = False

    def _send(self, message: Message) -> None:
        if message.due_s > self.now_s:
            self.queue.delayed += 1
            self.events.at(message.due_s, self._due, message)
        else:
            self.queue.send(message)
            self._offer()

    def _due(self, message: Message) -> None:
        self.queue.delayed -= 1
        self.queue.send(message)
        self._offer()

    def _offer(self) -> None:
        """To those that poll, while there is something to be had."""
        while self.polls:
            message = self.queue.receive()
            if message is None:
                return
            self._start(self.polls.pick(), message)

    def _start(self, worker: Worker, message: Message) -> None:
        first = message.started_s is None
        if first:
            message.started_s = self.now_s
        for tally in worker.tallies(message):
            tally.begin(self.now_s - message.sent_s if first else None)
        worker.running.add(message)
        self.polls.note(worker)
        self.events.after(message.service_s * self.slower(), self._end, worker, message, self.now_s)

    def slower(self) -> float:
        """By what factor runs take longer now than they did at first."""
        slower = self.scenario.faults.slower
        return slower[1] if slower and self.now_s >= slower[0] else 1.0

    def _end(self, worker: Worker, message: Message, began_s: float) -> None:
        if message not in worker.running:  # it was killed
            return
        worker.running.discard(message)
        self._worked_s += self.now_s - began_s
        failed = message.receives <= message.failures
        for tally in worker.tallies(message):
            tally.end(self.now_s - began_s, failed=failed)
        if failed:
            self._hide(message, min(_LONGEST_BACKOFF_S, 30.0 * 2 ** (message.receives - 1)))
        else:
            self.queue.delete(message)
        self.polls.note(worker)
        self._offer()
        self.crew.let_go(worker)

    def _killed(self, worker: Worker, message: Message) -> None:
        """The SDK gives it back at once; else its visibility timeout has to end."""
        self._hide(message, 0.0 if worker.reports else 2 * self.mean_s + 30.0)

    def _hide(self, message: Message, delay_s: float) -> None:
        self.events.after(delay_s, self._come_back, message)

    def _come_back(self, message: Message) -> None:
        self.queue.come_back(message)
        self._offer()

    def rate_per_s(self) -> float:
        """Of the last minute: for those who are granted sight."""
        sent = 0
        while sent < self._sent and self.messages[self._sent - 1 - sent].comes_s >= self.now_s - 60.0:
            sent += 1
        return sent / min(60.0, max(self.now_s, 1.0))

    def set_desired(self, count: int) -> bool:
        """False when the platform refuses."""
        faults = self.scenario.faults
        if faults.refused and self.chance.random() < faults.refused:
            return False
        before = self.platform.desired if self._asked is None else self._asked
        self._asked = count
        if count != before:
            way = 1 if count > before else -1
            self._changes += 1
            self._turns += way == -self._way
            self._way = way
            self.events.after(faults.takes_effect_s, self._apply, count)
        return True

    def _apply(self, count: int) -> None:
        self.platform.desired = count
        self.platform.look(self.now_s)

    def _result(self) -> Result:
        paid_s = self.crew.paid_s + sum(self.now_s - worker.asked_s for worker in self.crew.all)
        return Result(
            waits=waits_of(self.messages, self.scenario.pool.target_wait_s, self.now_s),
            cost=paid_s * self.scenario.pool.slots_per_worker / max(self._worked_s, 1e-9),
            changes=self._changes,
            turns=self._turns,
            interrupted=self.crew.interrupted,
            most=self.platform.most,
            mean=paid_s / max(self.now_s, 1.0),
            finished_s=self.now_s,
        )
