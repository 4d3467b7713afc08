"""Demos whose jobs outlast the stop timeout: whoever is stopped in mid-work shows as interrupted."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tidegate.aws.dynamodb import DynamoFleetTable
from tidegate.aws.stand_in import stand_in_clients
from tidegate.controller.controls import pin
from tidegate.core.model import Pool
from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.demo.cast import QUEUE
from tidegate.sandbox.demo.run import Demo, Outcome, Scene
from tidegate.sandbox.demo.settings import DemoSettings
from tidegate.sandbox.demo.trace import Plan
from tidegate.sandbox.events import EventKind

LONG_JOBS = replace(
    DemoSettings(),
    service_time_s=6.0,
    stop_timeout_s=4.0,
    slots=4,
    max_workers=6,
    start_up_s=0.5,
    hold_s=2.0,
    tick_s=1.0,
    heartbeat_s=1.0,
    poll_wait_s=1,
    visibility_s=8,
    target_wait_s=600.0,
)
"""Handlers run for 6 s on average, and a worker is killed 4 s after SIGTERM, 2 s of which are its grace."""


@dataclass
class Pins:
    """An operator who pins the pool to each count in turn, to the next once there are so many; the last one stays.

    From `until_s` on the last one is pinned, whoever's turn it is.
    """

    counts: tuple[int, ...]
    until_s: float = math.inf
    settle_s: float = 2.0
    set: list[int] = field(default_factory=list)
    there_since_s: float | None = None

    def __call__(self, scene: Scene) -> None:
        over = scene.frame.at_s >= self.until_s
        if over and len(self.set) < len(self.counts):
            self.set += self.counts[len(self.set) : -1]
            self._pin(scene)
        elif not self.set:
            self._pin(scene)
        elif scene.frame.running != self.set[-1]:
            self.there_since_s = None
        elif self.there_since_s is None:
            self.there_since_s = scene.frame.at_s
        elif scene.frame.at_s - self.there_since_s >= self.settle_s and len(self.set) < len(self.counts):
            self._pin(scene)

    def _pin(self, scene: Scene) -> None:
        environment = scene.cast.environment
        clients = stand_in_clients(environment["AWS_ENDPOINT_URL"], environment["AWS_REGION"])
        store = DynamoFleetTable(clients.dynamodb(), "tidegate")
        count, self.there_since_s = self.counts[len(self.set)], None
        pin(store, Pool(QUEUE, 600.0, 1, scene.cast.settings.max_workers), count, "a test", time.time())
        self.set.append(count)


@dataclass
class Watched:
    """Counts what the platform did, as `play`'s `on_step`, and passes the scene on."""

    then: Callable[[Scene], None]
    scene: Scene | None = None

    def __call__(self, scene: Scene) -> None:
        self.scene = scene
        if scene.frame.at_s > 0:
            self.then(scene)

    def stopped_for(self, reason: str) -> int:
        """Workers that the platform stopped for this reason."""
        assert self.scene is not None
        events = self.scene.cast.agent.events()
        return sum(event.kind is EventKind.STOPPING and event.reason == reason for event in events)


def play(settings: DemoSettings, on_step: Callable[[Scene], None], length_s: float, per_s: float) -> Outcome:
    """Messages at a constant rate for `length_s`; the demo ends when all of them are done."""
    times_s = [n / per_s for n in range(int(length_s * per_s))]
    return Demo(replace(settings, length_s=length_s), Plan(times_s, length_s, 0), SystemClock(), on_step).run()


def assert_nobody_was_interrupted(outcome: Outcome) -> None:
    verdict = outcome.verdict
    assert outcome.errors == [], outcome.errors
    assert (verdict.lost, verdict.interrupted, verdict.duplicates) == (0, 0, 0), verdict
    assert verdict.completed == verdict.sent > 50, verdict
