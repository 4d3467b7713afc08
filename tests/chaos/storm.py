"""Worker processes, an endpoint behind a bad network, and somebody who kills: from first message to empty queue."""

import os
import random
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.fleet import REGION, STEP_S, journals_in, open_fleet
from tests.chaos.ledger import Record, explain
from tests.chaos.proxy import Fault, Proxy, Shares
from tidegate.aws.stand_in import QueueSender, create_queues, stand_in_clients
from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.agent import Agent
from tidegate.sandbox.demo.ledger import Ledger, Messages, read_journals, reckon
from tidegate.sandbox.events import AgentEvent, EventKind
from tidegate.sandbox.platform import Phase
from tidegate.sandbox.sqs import QueueSnapshot, SqsServer

__all__ = ["Outcome", "Storm", "Weather"]

QUEUE = "storm"
_SETTLED_S = 2.0
"""A younger process may not hear signals yet: its interpreter is still starting."""
_MAX_RECEIVES = 1_000
_UP_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Weather:
    """How bad it is. Messages come at a constant rate; everything else is spread over that time at random."""

    messages: int
    per_s: float
    workers: int
    kills: int
    terms: int
    spot_notices: int
    partition_s: float
    lease_s: int
    limit_s: float
    """From the first message on: what is not done then is lost."""
    long_share: float = 0.01
    long_s: float = 1.0
    work_s: float = 0.01
    spot_s: float = 20.0
    shares: Shares = field(default_factory=Shares)

    @property
    def lease(self) -> str:
        return f"{self.lease_s}s"

    @property
    def length_s(self) -> float:
        return self.messages / self.per_s


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left of it."""

    messages: Messages
    again: Counter[str]
    unexplained: list[str]
    faults: Counter[Fault]
    snapshot: Mapping[str, QueueSnapshot]
    events: Sequence[AgentEvent]
    parted: tuple[float, float]
    deeds: Counter[str]

    @property
    def pids(self) -> set[int]:
        return {event.pid for event in self.events if event.pid is not None}

    def bad_ends(self) -> list[AgentEvent]:
        """Workers that neither were killed nor ended with 0; in the partition one may say that it can't start."""
        since_s, until_s = self.parted[0] - 15.0, self.parted[1] + 5.0
        born_apart = {
            event.worker_id
            for event in self.events
            if event.kind is EventKind.RUNNING and since_s <= event.at_s <= until_s
        }
        return [
            event
            for event in self.events
            if event.kind is EventKind.STOPPED
            and event.killed_by != "test"
            and event.exit_code not in ((0, 2) if event.worker_id in born_apart else (0,))
        ]

    def told(self) -> str:
        """For people."""
        counts = self.messages
        again = ", ".join(f"{count} × {reason}" for reason, count in self.again.most_common()) or "none"
        faults = ", ".join(f"{count} {fault}" for fault, count in self.faults.most_common() if fault is not Fault.NONE)
        deeds = ", ".join(f"{count} {deed}" for deed, count in self.deeds.most_common())
        return (
            f"{counts.sent} sent, {counts.completed} done, {counts.lost} lost, {counts.interrupted} interrupted\n"
            f"  workers: {len(self.pids)} processes; {deeds}\n"
            f"  calls: {self.faults.total()}; {faults}\n"
            f"  ran again: {again}; without a reason: {len(self.unexplained)}\n"
            f"  finished twice: {counts.duplicates}"
        )


class Storm:
    """`run` plays it once. Every process that it starts has ended when it returns."""

    def __init__(self, weather: Weather, seed: int) -> None:
        self._weather = weather
        self._rng = random.Random(seed)
        self._seed = seed
        self._clock = SystemClock()
        self._ledger = Ledger(QUEUE)
        self._deeds: Counter[str] = Counter()
        self._parted = (0.0, 0.0)

    def run(self) -> Outcome:
        """Blocks until every message is done, or the limit is over."""
        with tempfile.TemporaryDirectory(prefix="tidegate-chaos-") as home, ExitStack() as stack:
            server = stack.enter_context(SqsServer(observer=self._ledger, region=REGION, rng=random.Random(self._seed)))
            clients = stand_in_clients(server.url, REGION)
            url = create_queues(clients, QUEUE, self._weather.lease_s, _MAX_RECEIVES)
            proxy = stack.enter_context(Proxy(server.url, self._weather.shares, self._seed))
            options = {"--queue": url, "--slots": "8", "--poll-wait": "1", "--visibility-timeout": self._weather.lease}
            agent = open_fleet(stack, Path(home), self._weather.workers, proxy.url, options, lambda _: 30.0)
            agent.start()
            try:
                self._play(agent, proxy, QueueSender(clients, url))
            finally:
                agent.stop()
            return self._outcome(server, proxy, agent, journals_in(Path(home)))

    def _play(self, agent: Agent, proxy: Proxy, sender: QueueSender) -> None:
        self._until_all_poll(proxy)
        weather, began_s = self._weather, self._clock.now()
        due = self._deeds_due()
        parts_s = self._rng.uniform(0.3, 0.5) * weather.length_s
        sent, past_s = 0, 0.0
        while past_s < weather.limit_s and (sent < weather.messages or self._ledger.open()):
            self._clock.wait(threading.Event(), STEP_S)
            past_s = self._clock.now() - began_s
            behind = min(weather.messages, int(past_s * weather.per_s)) - sent
            sender.send([self._body() for _ in range(behind)])
            sent += behind
            self._part(proxy, began_s, parts_s)
            while due and due[-1][0] <= past_s:
                self._do(agent, due.pop()[1])

    def _until_all_poll(self, proxy: Proxy) -> None:
        """A storm that finds nobody at work would prove nothing."""
        until_s = self._clock.now() + _UP_WITHIN_S
        while proxy.polls < 2 * self._weather.workers and self._clock.now() < until_s:
            self._clock.wait(threading.Event(), STEP_S)

    def _part(self, proxy: Proxy, began_s: float, parts_s: float) -> None:
        now_s = self._clock.now()
        if self._parted == (0.0, 0.0) and now_s - began_s >= parts_s:
            self._parted = (now_s, now_s + self._weather.partition_s)
            proxy.part()
        elif now_s >= self._parted[1]:
            proxy.mend()

    def _deeds_due(self) -> list[tuple[float, str]]:
        """What is done and when, the latest first."""
        weather = self._weather
        deeds = ["kill -9"] * weather.kills + ["SIGTERM"] * weather.terms + ["spot notice"] * weather.spot_notices
        times = sorted((self._rng.uniform(_SETTLED_S, weather.length_s) for _ in deeds), reverse=True)
        self._rng.shuffle(deeds)
        return list(zip(times, deeds, strict=True))

    def _do(self, agent: Agent, deed: str) -> None:
        """To somebody who is up; where nobody is, to nobody."""
        now_s = self._clock.now()
        up = [each for each in agent.workers() if each.phase is Phase.RUNNING and now_s - each.since_s > _SETTLED_S]
        if not up:
            return
        victim = self._rng.choice(up)
        self._deeds[deed] += 1
        if deed == "kill -9":
            agent.kill(victim.worker_id)
        elif deed == "spot notice":
            agent.interrupt_spot(victim.worker_id, self._weather.spot_s)
        elif victim.pid is not None:
            os.kill(victim.pid, signal.SIGTERM)

    def _body(self) -> str:
        weather = self._weather
        work_s = (
            weather.long_s if self._rng.random() < weather.long_share else self._rng.expovariate(1 / weather.work_s)
        )
        return f'{{"work_s": {work_s:.4f}}}'

    def _outcome(self, server: SqsServer, proxy: Proxy, agent: Agent, journals: Path) -> Outcome:
        events, runs = agent.events(), read_journals(journals)
        killed = {event.pid for event in events if event.killed_by == "test" and event.pid is not None}
        record = Record(killed, proxy.unanswered_at_s, self._parted, self._weather.lease_s)
        again, unexplained = explain(runs, record)
        messages = reckon(*self._ledger.accounts(), runs, killed, self._weather.limit_s)
        return Outcome(messages, again, unexplained, proxy.counts, server.snapshot(), events, self._parted, self._deeds)
