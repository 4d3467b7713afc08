"""One demo from start to verdict."""

import random
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidegate.ports import Clock
from tidegate.sandbox.demo.cast import QUEUE, Cast
from tidegate.sandbox.demo.frames import Frame, History
from tidegate.sandbox.demo.ledger import Messages
from tidegate.sandbox.demo.logs import DecisionLog
from tidegate.sandbox.demo.settings import DemoSettings
from tidegate.sandbox.demo.trace import Plan
from tidegate.sandbox.demo.traffic import Traffic
from tidegate.sandbox.demo.verdict import Verdict, reach_verdict

__all__ = ["Demo", "Outcome", "Scene"]

STEP_S = 0.25
READY_LIMIT_S = 20.0
"""Begin anyway after this long: a controller that can't decide must show, not hang."""


class Scene:
    """What somebody who watches (or meddles) is shown at each step."""

    def __init__(self, cast: Cast, history: History, log: DecisionLog) -> None:
        self.cast, self.history, self.log = cast, history, log
        self.fresh: list[dict[str, Any]] = []
        """The decisions since the last step, as the controller logged them."""

    @property
    def frame(self) -> Frame:
        """The newest look."""
        return self.history.frames[-1]


class Outcome:
    """What a demo came to: the verdict, the messages behind it, and the errors in words."""

    def __init__(self, verdict: Verdict, messages: Messages, errors: list[str]) -> None:
        self.verdict, self.messages, self.errors = verdict, messages, errors


class Demo:
    """Runs in the caller's thread; `on_step` is called four times a second and may meddle through `scene.cast`.

    `plan` is `trace.plan(settings)`.
    """

    def __init__(self, settings: DemoSettings, plan: Plan, clock: Clock, on_step: Callable[[Scene], None]) -> None:
        self._settings, self._plan, self._clock, self._on_step = settings, plan, clock, on_step
        self._faults: list[str] = []

    def run(self) -> Outcome:
        """From the first message until the queue is empty (or the drain limit is over). Nothing is left running."""
        rng = random.Random(self._settings.seed)  # noqa: S311 - work times, nothing secret
        with tempfile.TemporaryDirectory(prefix="tidegate-demo-") as home:
            cast = Cast(self._settings, Path(home), self._clock)
            cast.start()
            try:
                traffic = Traffic(cast.sender, self._plan.times_s, self._settings.service_time_s, rng, self._clock)
                scene = Scene(cast, History(), DecisionLog(cast.controller_log))
                self._play(scene, traffic)
            finally:
                cast.stop()
            final = scene.frame.running
            return Outcome(*reach_verdict(cast, scene.log, scene.history.peak_workers, final, self._faults))

    def _play(self, scene: Scene, traffic: Traffic) -> None:
        """Traffic starts when the house is as a user's would be: the minimum of workers up, the controller ticking."""
        opened_s = self._clock.now()
        while not self._ready(scene, opened_s):
            self._step(scene, opened_s)
        began_s = self._clock.now()
        scene.history.begin()
        traffic.start()
        try:
            while not self._over(scene, traffic, began_s):
                self._step(scene, began_s)
        finally:
            traffic.stop()
        if traffic.error is not None:
            self._faults.append(f"traffic: {traffic.error}")

    def _ready(self, scene: Scene, opened_s: float) -> bool:
        up = scene.history.frames and scene.frame.running >= self._settings.min_workers and scene.log.decisions > 0
        return bool(up) or self._clock.now() - opened_s > self._settings.start_up_s + READY_LIMIT_S

    def _step(self, scene: Scene, began_s: float) -> None:
        self._clock.wait(threading.Event(), STEP_S)
        self._look(scene, began_s)

    def _look(self, scene: Scene, began_s: float) -> None:
        scene.fresh = scene.log.read()
        desired = int(scene.log.recent[-1]["desired"]) if scene.log.recent else self._settings.min_workers
        snapshot = scene.cast.sqs.snapshot()[QUEUE]
        scene.history.add(self._clock.now() - began_s, snapshot, scene.cast.agent, desired)
        self._on_step(scene)
        scene.cast.tend_controller()

    def _over(self, scene: Scene, traffic: Traffic, began_s: float) -> bool:
        elapsed_s = self._clock.now() - began_s
        if elapsed_s < self._plan.length_s and traffic.error is None:
            return False
        done = traffic.finished.is_set() and scene.cast.ledger.open() == 0
        return done or elapsed_s >= self._plan.length_s + self._settings.drain_limit_s
