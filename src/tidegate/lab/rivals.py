"""Who is compared, by which one knob each is tuned, and what it comes with when nobody tunes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tidegate.lab.peers.cdk import CdkQueueProcessing
from tidegate.lab.peers.fixed import FixedFleet, workers_for_mean, workers_for_peak
from tidegate.lab.peers.keda import Keda
from tidegate.lab.peers.latency_stepping import LatencyStepping
from tidegate.lab.peers.plain_formula import UTILIZATION, plain_formula
from tidegate.lab.peers.step_on_age import StepOnAge
from tidegate.lab.peers.target_tracking import BacklogPerInstance
from tidegate.lab.peers.wpa import PractoWpa
from tidegate.lab.perfect_sight import PerfectSight
from tidegate.lab.policy import Policy, Tidegate
from tidegate.lab.scenario import Scenario

__all__ = ["OURS", "PERFECT_SIGHT", "RIVALS", "Make", "Rival", "rival_named"]

Make = Callable[[Scenario], Policy]
"""A policy for one window: some settings depend on its target and service time."""


@dataclass(frozen=True, slots=True)
class Rival:
    """One kind of autoscaler. `make(knob)` builds it; `ladder` holds knob values from the leanest to the safest.

    A knob is relative (a share of the target, messages a slot, …), so that one ladder serves every scenario. Without a
    ladder there is nothing to tune. `default` is what its documentation gives or advises.
    """

    key: str
    title: str
    knob: str
    default: Make
    ladder: Sequence[float]
    make: Callable[[float], Make]
    uses_core: bool = False


def _falling(first: float, last: float, count: int) -> tuple[float, ...]:
    return tuple(float(value) for value in np.geomspace(first, last, count))


def _jobs_in_target(scenario: Scenario) -> float:
    """Messages that one worker can take within the target: slots × T ÷ S."""
    return scenario.slots_per_worker * scenario.target_wait_s / max(scenario.mean_service_s, 1e-9)


def _keda(share: float) -> Make:
    """queueLength between one message for every four slots and a full slot plus the target's worth of waiting ones."""
    return lambda scenario: Keda(_messages_a_worker(scenario, share), max_pods=None)


def _messages_a_worker(scenario: Scenario, share: float) -> float:
    least, most = 0.25 * scenario.slots_per_worker, scenario.slots_per_worker + _jobs_in_target(scenario)
    return float(least * (most / least) ** share)


def _plain(utilization: float) -> Make:
    return lambda _: plain_formula(utilization)


def _tracking(share: float) -> Make:
    return lambda scenario: BacklogPerInstance(share * _jobs_in_target(scenario))


def _tracking_fast(share: float) -> Make:
    return lambda scenario: BacklogPerInstance(share * _jobs_in_target(scenario), out_points=1)


def _stepping(share: float) -> Make:
    return lambda scenario: StepOnAge(share * scenario.target_wait_s)


def _latency(share: float) -> Make:
    return lambda scenario: LatencyStepping(share * scenario.target_wait_s)


def _wpa(share: float) -> Make:
    return lambda scenario: PractoWpa(_messages_a_worker(scenario, share))


def _cdk(scale: float) -> Make:
    return lambda _: CdkQueueProcessing(scale)


def _fixed(factor: float) -> Make:
    return lambda scenario: FixedFleet(max(1, round(factor * workers_for_mean(scenario))))


def _perfect(_: Scenario) -> Policy:
    return PerfectSight()


def _tidegate(raised: float) -> Make:
    """Raised: the target shortened (1 → 0.1 of it), then, below 0, a floor of so many times the mean load as well."""

    def make(scenario: Scenario) -> Policy:
        if raised == 1.0:
            return Tidegate()
        if raised > 0.0:
            return Tidegate(f"tidegate T×{raised:.2f}", target_wait_s=raised * scenario.target_wait_s)
        floor = max(scenario.min_workers, round(-raised * scenario.load_slots / scenario.slots_per_worker))
        knobs = {"target_wait_s": 0.1 * scenario.target_wait_s, "min_workers": min(floor, scenario.max_workers)}
        return Tidegate(f"tidegate floor ×{-raised:.1f}", **knobs)

    return make


OURS = Rival(
    "tidegate", "tidegate", "share of the target (below 0: floor, times the mean load)",
    _tidegate(1.0), (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, -1.0, -1.5, -2.0, -3.0, -5.0, -8.0, -16.0), _tidegate,
    uses_core=True,
)  # fmt: skip

PERFECT_SIGHT = Rival("perfect_sight", "perfect sight of the present", "", _perfect, (), lambda _: _perfect)

_AGES = _falling(2.0, 1 / 64, 11)
_TARGETS = _falling(2.0, 1 / 256, 12)
_PER_WORKER = tuple(float(share) for share in np.linspace(1.15, 0.0, 13))
_UTILIZATIONS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)

RIVALS: tuple[Rival, ...] = (
    Rival("keda", "KEDA + HPA", "queueLength, on a log scale from 1/4 a slot to 1 + T/S a slot",
          lambda _: Keda(), _PER_WORKER, _keda),
    Rival("plain", "plain formula", "utilization", _plain(UTILIZATION), _UTILIZATIONS, _plain, uses_core=True),
    Rival("tracking", "AWS target tracking", "target ÷ (slots × T/S)", _tracking(1.0), _TARGETS, _tracking),
    Rival("tracking_fast", "AWS target tracking, 1 of 1", "target ÷ (slots × T/S)",
          _tracking_fast(1.0), _TARGETS, _tracking_fast),
    Rival("step_age", "AWS step scaling on age", "threshold ÷ T", _stepping(0.5), _AGES, _stepping),
    Rival("latency", "queue-latency stepping", "top of the range ÷ T", _latency(0.5), _AGES, _latency),
    Rival("cdk", "CDK QueueProcessing", "", lambda _: CdkQueueProcessing(), (), _cdk),
    Rival("wpa", "practo WPA, 1 a slot", "", lambda scenario: PractoWpa(scenario.slots_per_worker), (), _wpa),
    Rival("fixed_mean", "fixed, mean ÷ 0.7", "÷ (mean ÷ 0.7)", _fixed(1.0), _falling(0.75, 48.0, 19), _fixed),
    Rival("fixed_peak", "fixed, p99.9", "", lambda scenario: FixedFleet(workers_for_peak(scenario)), (), _fixed),
)  # fmt: skip


def rival_named(key: str) -> Rival:
    """Raises KeyError for a name that is nobody's."""
    return {rival.key: rival for rival in (OURS, PERFECT_SIGHT, *RIVALS)}[key]
