"""What the simulator asks every ten seconds or so: how many workers? Ours, and the shape that all rivals have."""

import random
from dataclasses import replace
from typing import Any, Protocol

from tidegate.core.decide import decide
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.lab.scenario import Floats, Scenario

__all__ = ["NO_HANDLER_IS_CUT_OFF_S", "Policy", "Tidegate", "Truth"]


class Truth(Protocol):
    """The exact present, which no policy in production can have: for perfect sight, and for tests.

    Each property is worked out when it is read, so that a policy that does not look pays nothing.
    """

    @property
    def now_s(self) -> float: ...

    @property
    def desired(self) -> int: ...

    @property
    def running(self) -> int:
        """Workers that take work: ready and not draining."""
        ...

    @property
    def starting_ready_in_s(self) -> Floats:
        """For each starting worker the seconds until it is ready (or fails), rising."""
        ...

    @property
    def slots_free_in_s(self) -> Floats:
        """For each slot of the running workers the seconds until it is free, rising; 0 for idle ones."""
        ...

    @property
    def waiting_arrivals_s(self) -> Floats:
        """When each message that waits was sent, rising."""
        ...

    @property
    def waiting(self) -> int:
        """Messages that wait."""
        ...

    @property
    def head_age_s(self) -> float:
        """How long the oldest waiting message has waited; 0 when none waits."""
        ...

    @property
    def rate_per_s(self) -> float:
        """Arrivals a second over the last 60 s (or since the start)."""
        ...

    @property
    def mean_service_s(self) -> float:
        """The scenario's true mean."""
        ...

    @property
    def start_up_s(self) -> float:
        """The scenario's true mean."""
        ...


class Policy(Protocol):
    """Sets the desired count. One object runs one simulation at a time; `reset` begins a new one."""

    @property
    def name(self) -> str: ...

    @property
    def tick_s(self) -> float:
        """Seconds between two calls of `desired`; the first is at 0."""
        ...

    @property
    def reads_fleet(self) -> bool:
        """Whether it looks at `Observation.fleet`. Where not, that is left empty, which is much faster."""
        ...

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        """Forget everything; `rng` is for policies that draw lots."""
        ...

    def desired(self, seen: Observation, truth: Truth) -> int:
        """The workers to ask for now. The simulator keeps it within the scenario's minimum and maximum."""
        ...


NO_HANDLER_IS_CUT_OFF_S = 1e9
"""The lab's workers drain to the end of their jobs, as the SDK's do when they are told to retire: nobody has to be kept
for fear that the platform stops a worker in the middle of a handler."""


class Tidegate:
    """The production policy: `core.decide` and nothing else. Knobs are settings of `core.model.Pool`."""

    reads_fleet = True

    def __init__(self, name: str = "tidegate", tick_s: float = 10.0, **knobs: Any) -> None:
        self.name = name
        self.tick_s = tick_s
        self.last: Decision | None = None
        """The latest decision, with all of its steps."""
        self._knobs = knobs
        self._pool = Pool("none", 0.0, 0, 0)
        self._state = PoolState()

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        """A new pool that has learned nothing yet."""
        pool = Pool(
            name=scenario.name,
            target_wait_s=scenario.target_wait_s,
            min_workers=scenario.min_workers,
            max_workers=scenario.max_workers,
            slots_per_worker=scenario.slots_per_worker,
            service_time_hint_s=scenario.service_time_hint_s,
            tick_s=self.tick_s,
            stop_timeout_s=NO_HANDLER_IS_CUT_OFF_S,
        )
        self._pool = replace(pool, **self._knobs)
        self._state = PoolState()
        self.last = None

    def desired(self, seen: Observation, truth: Truth) -> int:
        """What the controller would ask for at this tick."""
        self.last, self._state = decide(self._pool, self._state, seen)
        return self.last.desired
