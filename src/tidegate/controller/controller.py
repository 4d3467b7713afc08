"""All pools together: each ticks on its own, so that neither an error nor a slow answer of one touches another."""

import math
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.tick import PoolTick
from tidegate.core.decision import Decision
from tidegate.ports import Clock, EventSink, Publisher

__all__ = ["METRICS", "MOST_THREADS", "Controller", "Outcome"]

METRICS = "(metrics)"
"""In place of a pool's name, in what is said of the CloudWatch pass of all pools."""

MOST_THREADS = 200
"""A thread for each pool, so that pools whose endpoint is silent keep no thread from the others. They are started only
as they are needed. With more pools than this, silent ones can delay others by the five seconds until they give up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one pool's tick ended: with a decision, or with an error."""

    pool: str
    decision: Decision | None = None
    error: Exception | None = None

    @property
    def ok(self) -> bool:
        """False when the tick failed, or was decided around something broken (a queue gone, a call denied).

        CloudWatch does not count, though a lasting refusal of it wants mending: counts and reports carry a decision
        alone, and whoever runs a pool by this (a schedule, a Lambda's alarm) must not be told that nothing was done.
        It is said as an event of its own (`EventSink.metrics_failed`).
        """
        return self.decision is not None and not self.decision.errors


class Controller:
    """Starts ticks and never waits for them, except for the very first CloudWatch pass and in `finish`.

    `executor` runs the pools' ticks, `background` the CloudWatch pass: it is never queued behind pools.
    `publisher` gets each decision's metrics; None: nobody watches them.
    """

    def __init__(
        self,
        pools: Sequence[PoolTick],
        metrics: MinuteMetrics,
        sink: EventSink,
        executor: Executor,
        background: Executor,
        clock: Clock,
        publisher: Publisher | None = None,
    ) -> None:
        self._pools = tuple(pools)
        self._metrics = metrics
        self._sink = sink
        self._executor = executor
        self._background = background
        self._clock = clock
        self._publisher = publisher
        self._in_hand: dict[str, Future[Outcome]] = {}
        self._missed: dict[str, int] = {}

    def tick(self) -> list[Future[Outcome]]:
        """Start a tick of every pool whose previous one has ended; the others miss this one, and that is said.

        A pool's own errors go to the event sink. What comes out of here is a failure of the sink itself.
        """
        self._look_at_metrics()
        if self._publisher and self._publisher.due(self._clock.now()):
            self._background.submit(self._publish, self._publisher, self._clock.now())
        return [self._start(pool) for pool in self._pools if self._is_free(pool)]

    def least_missed(self) -> int:
        """Ticks that the pool which is best off has missed in a row. More than a few: nothing goes on any longer."""
        return min(self._missed.values(), default=0)

    def finish(self) -> list[Outcome]:
        """Wait until no tick is in hand and its metrics are published; the last outcome of each pool."""
        outcomes = [future.result() for future in self._in_hand.values()]
        if self._publisher:
            self._background.submit(self._publish, self._publisher, math.inf).result()
        return outcomes

    def _look_at_metrics(self) -> None:
        """In the background: CloudWatch delays nobody. Only the first ticks wait, as they would decide half blind."""
        if self._metrics.due(self._clock.now()):
            first = not self._metrics.asked()
            future = self._background.submit(self._refresh)
            if first:
                future.result()

    def _refresh(self) -> None:
        try:
            troubles = self._metrics.refresh(self._clock.now())
        except Exception as unexpected:  # noqa: BLE001  a fault in one sense must not stop the pools that do without
            self._sink.failed(METRICS, unexpected)
            return
        if troubles:
            self._sink.metrics_failed(troubles)

    def _publish(self, publisher: Publisher, before_s: float) -> None:
        try:
            publisher.flush(before_s)
        except Exception as error:  # noqa: BLE001  what is told of the pools must not stop them
            self._sink.not_published(error)

    def _is_free(self, pool: PoolTick) -> bool:
        if pool.name in self._in_hand and not self._in_hand[pool.name].done():
            self._missed[pool.name] = self._missed.get(pool.name, 0) + 1
            self._sink.overran(pool.name, self._missed[pool.name])
            return False
        self._missed[pool.name] = 0
        return True

    def _start(self, pool: PoolTick) -> Future[Outcome]:
        if pool.name in self._in_hand:
            self._in_hand[pool.name].result()
        self._in_hand[pool.name] = self._executor.submit(self._serve, pool)
        return self._in_hand[pool.name]

    def _serve(self, pool: PoolTick) -> Outcome:
        try:
            ticked = pool.run(self._metrics.readings())
        except Exception as error:  # noqa: BLE001  the one boundary: the others go on
            self._sink.failed(pool.name, error)
            return Outcome(pool.name, error=error)
        self._sink.decided(ticked.decision, ticked.wrote)
        if ticked.decision.state is not ticked.was:
            self._sink.changed_state(ticked.decision, ticked.was)
        if self._publisher:
            self._publisher.add(ticked.decision, ticked.wrote)
        return Outcome(pool.name, ticked.decision)
