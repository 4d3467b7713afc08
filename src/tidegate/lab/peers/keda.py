"""KEDA's aws-sqs-queue scaler and the HorizontalPodAutoscaler that it feeds.

Sources: keda.sh/docs/latest/scalers/aws-sqs, keda.sh/docs/latest/reference/scaledobject-spec (pollingInterval 30,
cooldownPeriod 300, minReplicaCount 0), kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale (the formula,
tolerance 0.1, 15 s, the default scaling policies). A pod is a worker.
"""

import math
import random
from collections import deque

from tidegate.core.observation import Observation
from tidegate.lab.peers.minutes import in_flight, visible
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["Keda"]

SYNC_S = 15.0
POLL_S = 30.0
TOLERANCE = 0.1
STABILISE_S = 300.0
COOLDOWN_S = 300.0
UP_PODS = 4
"""Up to the larger of this many pods and a doubling per 15 s; down as far as the stabilised recommendation goes."""


class Keda:
    """`queue_length` messages (visible + in flight) a worker: the scaler's one knob, 5 when left out.

    Every 15 s the HPA asks for ceil(messages ÷ queue_length) unless the ratio to what is there is within 10 %. It goes
    up at once, at most to the double or by four pods a sync, and down to the highest recommendation of five minutes.
    From 0 to 1 and from 1 to 0 it is KEDA itself: it looks every 30 s, and needs 300 s without a message. An unreadable
    metric changes nothing. `max_pods` is 100 when nobody says otherwise; None leaves the scenario's maximum alone.
    """

    tick_s = SYNC_S
    reads_fleet = False

    def __init__(self, queue_length: float = 5.0, max_pods: int | None = 100) -> None:
        self.queue_length, self._max_pods = queue_length, max_pods
        self.name = f"KEDA queueLength {queue_length:g}"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._minimum = scenario.min_workers
        self._maximum = scenario.max_workers if self._max_pods is None else min(self._max_pods, scenario.max_workers)
        self._recommended = deque([(0.0, scenario.initial_workers)])  # a new HPA begins with what it finds
        self._active_at_s, self._polled_at_s = 0.0, -math.inf

    def desired(self, seen: Observation, truth: Truth) -> int:
        current, now_s = seen.capacity.desired, seen.now_s
        waiting, running = visible(seen), in_flight(seen)
        if waiting is None or running is None:
            return current
        messages = waiting + running
        if self._polled_at_s + POLL_S <= now_s + 1e-6:
            self._polled_at_s = now_s
            if messages > 0:
                self._active_at_s = now_s
            switched = self._switch(current, messages, now_s)
            if switched is not None:
                self._recommended.clear()
                return switched
        return self._autoscale(current, messages, now_s) if current > 0 else 0

    def _switch(self, current: int, messages: float, now_s: float) -> int | None:
        """From 0 to 1 and back, which KEDA does itself; None where that is not the case."""
        if current == 0 and messages > 0:
            return max(1, self._minimum)
        if current > 0 and self._minimum == 0 and now_s - self._active_at_s >= COOLDOWN_S:
            return 0
        return None

    def _autoscale(self, current: int, messages: float, now_s: float) -> int:
        ratio = messages / (self.queue_length * current)
        wanted = current if abs(ratio - 1.0) <= TOLERANCE else math.ceil(messages / self.queue_length)
        wanted = min(max(wanted, self._minimum, 1), self._maximum)
        self._recommended.append((now_s, wanted))
        while self._recommended[0][0] <= now_s - STABILISE_S:
            self._recommended.popleft()
        if wanted < current:
            return min(current, max(each for _, each in self._recommended))
        return min(wanted, max(2 * current, current + UP_PODS))
