"""What a run came to: how long messages waited, and what it cost."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate.lab.scenario import Floats, Scenario

__all__ = ["Outcome", "outcome_of"]

_HOUR_S = 3600.0
_ENOUGH_ARRIVALS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Waits run from a message's arrival to its first start. A message that never started counts as late."""

    policy: str
    scenario: str
    seed: int
    messages: int
    unserved: int
    """Messages that had not started when the run was given up (`simulate` says when that is)."""
    late_share: float
    worst_hour_late_share: float
    """Of the hours with at least 100 arrivals (or of the whole run where there is none)."""
    wait_p50_s: float
    wait_p99_s: float
    wait_max_s: float
    worker_seconds: float
    """Paid: from each ask to the worker's end, the minimum applied."""
    work_seconds: float
    """Worker-seconds of a fleet that is always fully busy: Σ service time ÷ slots per worker."""
    cost: float
    """worker_seconds ÷ work_seconds: 1 is perfect and out of reach. 0 when there was no work."""
    starts: int
    """Workers asked for, those that replace failed and lost ones included."""
    stops: int
    """Workers told to go: cancelled while starting, or drained."""
    changes: int
    """Times that the desired count changed."""
    reversals: int
    """Changes of the desired count against the direction of the one before."""
    changes_per_hour: float
    end_s: float
    """When the last worker-second was counted: `length_s`, or when all was done if later."""
    desired_at_s: Floats
    desired: NDArray[np.int64]
    """The desired count from each time of `desired_at_s` on, first at 0."""
    waits_s: NDArray[np.float32]
    """One per message, in the order of arrival."""


def outcome_of(
    scenario: Scenario,
    policy: str,
    seed: int,
    *,
    waits_s: Floats,
    end_s: float,
    worker_seconds: float,
    starts: int,
    stops: int,
    desired_at_s: Floats,
    desired: NDArray[np.int64],
) -> Outcome:
    """Sum a run up. `waits_s` holds NaN for messages that never started: those have waited until `end_s`."""
    work_seconds = float(scenario.service_s.sum()) / scenario.slots_per_worker
    steps = np.sign(np.diff(desired))
    return Outcome(
        policy=policy,
        scenario=scenario.name,
        seed=seed,
        messages=len(waits_s),
        **_waits(scenario, waits_s, end_s)._asdict(),
        worker_seconds=worker_seconds,
        work_seconds=work_seconds,
        cost=worker_seconds / work_seconds if work_seconds else 0.0,
        starts=starts,
        stops=stops,
        changes=len(steps),
        reversals=int(np.sum(steps[1:] != steps[:-1])),
        changes_per_hour=len(steps) / (end_s / _HOUR_S),
        end_s=end_s,
        desired_at_s=desired_at_s,
        desired=desired,
    )


class _Waits(NamedTuple):
    """What an outcome says of the waits, under its own names."""

    unserved: int
    late_share: float
    worst_hour_late_share: float
    wait_p50_s: float
    wait_p99_s: float
    wait_max_s: float
    waits_s: NDArray[np.float32]


def _waits(scenario: Scenario, waits_s: Floats, end_s: float) -> _Waits:
    unserved = np.isnan(waits_s)
    waits_s = np.where(unserved, end_s - scenario.arrivals_s, waits_s)
    late = unserved | (waits_s > scenario.target_wait_s)
    p50_s, p99_s, max_s = np.quantile(waits_s, (0.5, 0.99, 1.0)).tolist() if len(waits_s) else (0.0, 0.0, 0.0)
    return _Waits(
        unserved=int(unserved.sum()),
        late_share=float(late.mean()) if len(late) else 0.0,
        worst_hour_late_share=_worst_hour(scenario.arrivals_s, late),
        wait_p50_s=p50_s,
        wait_p99_s=p99_s,
        wait_max_s=max_s,
        waits_s=waits_s.astype(np.float32),
    )


def _worst_hour(arrivals_s: Floats, late: NDArray[np.bool_]) -> float:
    hours = (arrivals_s // _HOUR_S).astype(np.int64)
    messages, lates = np.bincount(hours), np.bincount(hours, late)
    enough = messages >= _ENOUGH_ARRIVALS
    if not enough.any():
        return float(late.mean()) if len(late) else 0.0
    return float((lates[enough] / messages[enough]).max())
