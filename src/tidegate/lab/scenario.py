"""Everything that a run needs besides the policy: the work, the target, and how the cloud behaves."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Downstream", "Floats", "Scenario"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Downstream:
    """What the handlers call. Above `capacity_slots` busy slots it serves each call more slowly.

    A handler that starts while b slots are busy (its own included) runs max(1, b / capacity_slots) ** `strain` times as
    long. At `strain` 1 more slots buy nothing, above 1 they buy less than nothing: the dependency thrashes.
    """

    capacity_slots: float
    strain: float = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """One pool with one queue. Times are seconds from the start of the run; one service time per arrival.

    Raises ValueError when a value is out of range or the arrays don't match.
    """

    name: str
    arrivals_s: Floats
    """When each message is sent, rising."""
    service_s: Floats
    """How long each message keeps a slot busy."""
    target_wait_s: float
    start_up_s: float
    """Mean time from asking for a worker to its first receive call."""
    length_s: float
    """The traffic's length. The policy runs, and cost counts, from 0 until then or until all is done, if later."""
    slots_per_worker: int = 4
    start_up_spread: float = 0.25
    """Start-up times are uniform within `start_up_s` × (1 ± this)."""
    order: Literal["sharded", "fifo"] = "sharded"
    """sharded: a standard queue, many shards of which one is read at random. fifo: strictly in order of sending."""
    shards: int = 8
    count_lag_s: float = 60.0
    """Each count that a policy reads is between 0 and so many seconds old; visible and in flight each on their own."""
    count_error: float = 0.3
    """Each count that a policy reads is off by a factor within 1 ± this."""
    metric_lag_s: float = 60.0
    """CloudWatch's minutes can be read so long after their end."""
    age_counts_in_flight: bool = False
    """Whether ApproximateAgeOfOldestMessage counts messages in flight, which AWS does not document."""
    failed_start_share: float = 0.0
    """Share of starts that end, when the worker should be ready, in a failure; the platform then starts another."""
    spot_losses_per_hour: float = 0.0
    """How often a running worker is lost without warning; the platform then starts another."""
    lease_s: float = 60.0
    """A lost worker's messages are visible again after so long."""
    poison_share: float = 0.0
    """Share of messages whose every run fails."""
    retry_after_s: float = 30.0
    """A message whose run failed is visible again after so long."""
    max_receives: int = 5
    """After so many runs a failing message leaves for the dead-letter queue."""
    downstream: Downstream | None = None
    billing_minimum_s: float = 60.0
    """A worker is paid from the ask until it is gone, and for at least so long."""
    min_workers: int = 0
    max_workers: int = 10_000
    initial_workers: int = 0
    """Workers that are there, and ready, at the start."""
    service_time_hint_s: float | None = None

    def __post_init__(self) -> None:
        for problem, wrong in self._checks().items():
            if wrong:
                raise ValueError(f"scenario {self.name}: {problem}")

    def _checks(self) -> dict[str, bool]:
        arrivals, service = self.arrivals_s, self.service_s
        return {
            "as many service times as arrivals": arrivals.shape != service.shape or arrivals.ndim != 1,
            "arrivals_s rises, from 0 on": bool(np.any(np.diff(arrivals) < 0)) or bool(np.any(arrivals < 0)),
            "service_s is above 0": not bool(np.all(service > 0)),
            "arrivals end by length_s": bool(np.any(arrivals > self.length_s)),
            "target_wait_s, start_up_s are 0 or more": min(self.target_wait_s, self.start_up_s) < 0,
            "length_s is above 0": self.length_s <= 0,
            "slots_per_worker, shards, max_receives are 1 or more": min(
                self.slots_per_worker, self.shards, self.max_receives
            )
            < 1,
            "start_up_spread, count_error, the shares are within 0 and 1": not all(
                0 <= share <= 1
                for share in (self.start_up_spread, self.count_error, self.failed_start_share, self.poison_share)
            ),
            "lags, lease, retry, billing minimum and losses are 0 or more": min(
                self.count_lag_s,
                self.metric_lag_s,
                self.lease_s,
                self.retry_after_s,
                self.billing_minimum_s,
                self.spot_losses_per_hour,
            )
            < 0,
            "min_workers ≤ initial_workers ≤ max_workers": not (
                0 <= self.min_workers <= self.initial_workers <= self.max_workers
            ),
        }

    @property
    def mean_service_s(self) -> float:
        """Of all messages; 0 without any."""
        return float(self.service_s.mean()) if len(self.service_s) else 0.0

    @property
    def load_slots(self) -> float:
        """Offered load: the slots that the work keeps busy on average over `length_s`."""
        return float(self.service_s.sum()) / self.length_s
