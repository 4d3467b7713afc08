"""What a run came to: how long messages waited, and what it cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.lab.scenario import Floats

__all__ = ["Outcome"]


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
