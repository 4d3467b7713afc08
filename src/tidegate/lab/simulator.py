"""One run: a scenario under a policy, in virtual time, message by message."""

import random
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tidegate.core.absence import Absence
from tidegate.core.observation import Capacity, Observation
from tidegate.core.reports import Fleet
from tidegate.lab.fleet import Platform
from tidegate.lab.fleet_reports import BEATS_TO_LIVE_S, FleetReports
from tidegate.lab.outcome import Outcome, outcome_of
from tidegate.lab.policy import Policy
from tidegate.lab.scenario import Scenario
from tidegate.lab.signals import QueueSignals
from tidegate.lab.simulator_present import Present
from tidegate.lab.simulator_queue import SimulatedQueue

__all__ = ["Outcome", "simulate"]

_MINUTE_S = 60.0


def simulate(scenario: Scenario, policy: Policy, seed: int) -> Outcome:
    """Run it to the end: the traffic is over and every message done.

    A policy that does not get there is stopped at three times the scenario's length plus ten times its target wait and
    start-up time plus an hour; what has not started by then is unserved. Same arguments, same outcome.
    """
    return _Run(scenario, policy, seed).outcome()


@dataclass(slots=True)
class _Desired:
    """The desired count over time."""

    at_s: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def note(self, now_s: float, count: int) -> None:
        if not self.counts or self.counts[-1] != count:
            self.at_s.append(now_s)
            self.counts.append(count)


class _Run:
    """The queue, the platform and the senses of one run, kept at the same time."""

    def __init__(self, scenario: Scenario, policy: Policy, seed: int) -> None:
        self._scenario, self._policy, self._seed = scenario, policy, seed
        self._give_up_s = 3 * scenario.length_s + 10 * (scenario.target_wait_s + scenario.start_up_s) + 3600.0
        poison = _poison(scenario, seed)
        self._queue = SimulatedQueue(scenario, poison, seed)
        self._platform = Platform(scenario, self._queue, seed)
        self._signals = QueueSignals(scenario, self._queue, poison, self._give_up_s, seed)
        self._reports = FleetReports(scenario, poison)
        self._present = Present(scenario, self._queue, self._platform)
        self._waits_s = np.full(len(scenario.arrivals_s), np.nan)
        self._desired = _Desired([0.0], [scenario.initial_workers])
        self._last_end_s = 0.0

    def outcome(self) -> Outcome:
        """Let it run and sum it up."""
        self._policy.reset(self._scenario, random.Random(f"{self._seed} policy"))
        end_s = self._let_run()
        return outcome_of(
            self._scenario,
            self._policy.name,
            self._seed,
            waits_s=self._waits_s,
            end_s=end_s,
            worker_seconds=self._platform.paid_worker_seconds(end_s),
            starts=len(self._platform.workers),
            stops=self._platform.stops,
            desired_at_s=np.array(self._desired.at_s),
            desired=np.array(self._desired.counts),
        )

    def _let_run(self) -> float:
        """From event to event; when the last worker-second is counted."""
        next_tick_s, next_minute_s = 0.0, _MINUTE_S
        while True:
            now_s = min(self._platform.next_event_s, next_minute_s, next_tick_s)
            self._queue.run_until(now_s)
            if self._platform.next_event_s <= now_s:
                self._pass_platform_event(now_s)
            elif next_minute_s <= now_s:
                if self._scenario.age_counts_in_flight:
                    self._take_stock()
                self._signals.pass_minute(now_s)
                next_minute_s += _MINUTE_S
            else:
                self._take_stock()
                done_s = self._done_s()
                if done_s <= now_s:
                    return done_s
                self._tick(now_s)
                next_tick_s += self._policy.tick_s

    def _done_s(self) -> float:
        """When all was or will be done, as far as that is known: never before the traffic's end."""
        if self._queue.all_started:
            return max(self._scenario.length_s, self._last_end_s)
        return self._give_up_s

    def _pass_platform_event(self, now_s: float) -> None:
        self._platform.pass_event(now_s)
        if self._platform.lost:
            self._take_stock()
            self._signals.take_back(self._platform.lost, now_s)
            self._platform.lost.clear()

    def _tick(self, now_s: float) -> None:
        self._present.now_s = now_s
        wanted = self._policy.desired(self._observe(now_s), self._present)
        wanted = min(max(wanted, self._scenario.min_workers), self._scenario.max_workers)
        if wanted != self._platform.desired:
            self._platform.set_desired(wanted, now_s)
        self._desired.note(now_s, wanted)

    def _observe(self, now_s: float) -> Observation:
        platform = self._platform
        return Observation(
            now_s=now_s,
            queues=(self._signals.read(now_s),),
            capacity=Capacity(
                target="lab",
                taken_at_s=now_s,
                desired=platform.desired,
                running=len(platform.running),
                pending=len(platform.starting),
            ),
            fleet=self._observe_fleet(now_s),
        )

    def _observe_fleet(self, now_s: float) -> Fleet:
        if not self._policy.reads_fleet:
            return Fleet(now_s, absence=Absence.MISSING, detail="this policy does not read it")
        return Fleet(now_s, self._reports.read(now_s, self._platform.present_since(now_s - BEATS_TO_LIVE_S)))

    def _take_stock(self) -> None:
        """Tell everybody about the handler runs that have started since the last time."""
        runs = self._queue.take_runs()
        self._signals.add(runs, self._queue.take_returns())
        if len(runs.messages) == 0:
            return
        self._last_end_s = max(self._last_end_s, float(runs.ends_s.max()))
        again = self._note_waits(runs.messages, runs.starts_s)
        if self._policy.reads_fleet:
            self._reports.add(runs, again)

    def _note_waits(self, messages: NDArray[np.int64], starts_s: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Note each message's first start; which of these starts were no first ones."""
        if not self._queue.repeats:
            self._waits_s[messages] = starts_s - self._scenario.arrivals_s[messages]
            return np.zeros(len(messages), bool)
        _, firsts = np.unique(messages, return_index=True)
        again = np.ones(len(messages), bool)
        again[firsts] = ~np.isnan(self._waits_s[messages[firsts]])
        first = ~again
        self._waits_s[messages[first]] = starts_s[first] - self._scenario.arrivals_s[messages[first]]
        return again


def _poison(scenario: Scenario, seed: int) -> frozenset[int]:
    if scenario.poison_share == 0:
        return frozenset()
    draws = random.Random(f"{seed} poison")
    return frozenset(i for i in range(len(scenario.arrivals_s)) if draws.random() < scenario.poison_share)
