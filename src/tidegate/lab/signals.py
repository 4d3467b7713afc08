"""What a policy can see of the queue: counts that are late and approximate, and CloudWatch's minutes."""

import random
from bisect import bisect_left
from math import inf

import numpy as np

from tidegate.core.absence import Absence
from tidegate.core.observation import QueueObservation, Reading
from tidegate.lab.scenario import Floats, Scenario
from tidegate.lab.simulator_queue import Runs, SimulatedQueue

__all__ = ["QueueSignals", "Tally"]

_MINUTE_S = 60


class Tally:
    """How many times something had happened before a whole second. Times may lie ahead, and be taken back again."""

    def __init__(self, length_s: float, look_back_s: float) -> None:
        self._per_second = np.zeros(int(length_s) + 2, np.int32)
        self._look_back_s = int(look_back_s) + 2 * _MINUTE_S
        self._settled_s = 0
        self._settled = 0

    def add(self, times_s: Floats, by: int = 1) -> None:
        """Times after the tally's length count as its last second."""
        if len(times_s) == 0:
            return
        seconds = np.minimum(times_s, len(self._per_second) - 1).astype(np.int64)
        np.add.at(self._per_second, seconds, by)

    def before(self, second: int) -> int:
        """The events before `second`, which may be at most the look-back (and two minutes) before the latest asked."""
        if second - self._settled_s > 4 * self._look_back_s:
            settle_s = second - self._look_back_s
            self._settled += int(self._per_second[self._settled_s : settle_s].sum())
            self._settled_s = settle_s
        return self._settled + int(self._per_second[self._settled_s : second].sum())


class QueueSignals:
    """One queue as GetQueueAttributes and CloudWatch show it. Feed it every run before asking it anything."""

    def __init__(self, scenario: Scenario, queue: SimulatedQueue, poison: frozenset[int], length_s: float, seed: int):
        self._scenario = scenario
        self._queue = queue
        self._arrivals_s: list[float] = scenario.arrivals_s.tolist()
        self._poison = np.zeros(len(self._arrivals_s), bool)
        self._poison[list(poison)] = True
        self._random = random.Random(f"{seed} counts")
        self._started, self._returned, self._left_flight, self._deleted = (
            Tally(length_s, scenario.count_lag_s + scenario.metric_lag_s) for _ in range(4)
        )
        self._in_flight: list[tuple[float, float]] = []  # (sent, leaves flight); kept only where the age counts them
        self._ages_s: list[float] = []
        self._metrics: tuple[Reading, ...] = (Reading(None, 0.0, Absence.MISSING, "no minute is over yet"),) * 3
        self._metrics_of = -1

    def add(self, runs: Runs, returned_s: Floats) -> None:
        """Handler runs, and messages that became visible again. A failed run's message stays in flight until then."""
        failed = self._poison[runs.messages]
        leaves_s = runs.ends_s + failed * self._scenario.retry_after_s
        self._started.add(runs.starts_s)
        self._returned.add(returned_s)
        self._left_flight.add(leaves_s)
        self._deleted.add(runs.ends_s[~failed])
        if self._scenario.age_counts_in_flight:
            sent_s = self._scenario.arrivals_s[runs.messages]
            self._in_flight += zip(sent_s.tolist(), leaves_s.tolist(), strict=True)

    def take_back(self, lost: list[tuple[int, float]], now_s: float) -> None:
        """These runs won't end: their worker is lost, and their messages stay in flight until their leases lapse."""
        ends_s = np.array([end_s for _, end_s in lost])
        self._left_flight.add(ends_s, by=-1)
        self._deleted.add(ends_s, by=-1)
        self._left_flight.add(np.full(len(lost), now_s + self._scenario.lease_s))

    def pass_minute(self, now_s: float) -> None:
        """A minute ends: note the age for it."""
        oldest = self._queue.oldest_waiting()
        sent_at_s = inf if oldest is None else self._arrivals_s[oldest]
        if self._scenario.age_counts_in_flight:
            self._in_flight = [entry for entry in self._in_flight if entry[1] > now_s]
            sent_at_s = min([sent_at_s, *(sent_s for sent_s, _ in self._in_flight)])
        self._ages_s.append(max(0.0, now_s - sent_at_s))

    def read(self, now_s: float) -> QueueObservation:
        """What the controller sees at this tick."""
        age_s, sent_per_s, deleted_per_s = self._read_metrics(now_s)
        return QueueObservation(
            queue=self._scenario.name,
            visible=Reading(self._blur(self.visible_before(self._look_at(now_s))), now_s),
            in_flight=Reading(self._blur(self.in_flight_before(self._look_at(now_s))), now_s),
            delayed=Reading(0.0, now_s),
            age_s=age_s,
            sent_per_s=sent_per_s,
            deleted_per_s=deleted_per_s,
        )

    def visible_before(self, second: int) -> int:
        """Messages that waited just before a whole second."""
        sent = bisect_left(self._arrivals_s, second)
        return sent + self._returned.before(second) - self._started.before(second)

    def in_flight_before(self, second: int) -> int:
        """Messages in flight just before a whole second: in a handler, or failed and not visible again yet."""
        return self._started.before(second) - self._left_flight.before(second)

    def _look_at(self, now_s: float) -> int:
        return max(0, int(now_s - self._random.random() * self._scenario.count_lag_s))

    def _blur(self, count: int) -> float:
        error = self._scenario.count_error
        return float(round(count * self._random.uniform(1 - error, 1 + error)))

    def _read_metrics(self, now_s: float) -> tuple[Reading, ...]:
        """Age, sent and deleted a second, of the newest minute that can be read."""
        minute = int((now_s - self._scenario.metric_lag_s) // _MINUTE_S) - 1
        if minute > self._metrics_of:
            self._metrics_of = minute
            begin_s, end_s = minute * _MINUTE_S, (minute + 1) * _MINUTE_S
            sent = bisect_left(self._arrivals_s, end_s) - bisect_left(self._arrivals_s, begin_s)
            deleted = self._deleted.before(end_s) - self._deleted.before(begin_s)
            values = (self._ages_s[minute], sent / _MINUTE_S, deleted / _MINUTE_S)
            self._metrics = tuple(Reading(value, float(end_s)) for value in values)
        return self._metrics
