"""How long handlers run and workers take to start, as measured, and how long an idle worker is kept for it."""

import math
from collections.abc import Mapping, Sequence

from tidegate.core.bounds import at_least, at_most
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.untold import untold_service_time
from tidegate.core.model import KnownWorker, Pool, PoolState, Sample, ServiceTime
from tidegate.core.observation import Capacity
from tidegate.core.reports import Fleet
from tidegate.core.signals.fleet import FleetSignals, known_worker
from tidegate.core.signals.news import digest
from tidegate.core.signals.read import Signals
from tidegate.core.value import value

__all__ = [
    "StartUps",
    "hold_s",
    "learn_service_time",
    "learn_start_up",
    "learn_start_up_seen",
    "pending_only",
    "record_change",
    "service_time",
    "squared_variation",
    "start_up_s",
]

HOLD_UNMEASURED_S = 120.0
HOLD_LEAST_TICKS = 3
START_UP_ASSUMED_S = 60.0
"""Until a worker was seen to start: to take it for none would leave a pool without headroom until its first raise."""

HINT_RUNS = 10.0
"""A service-time hint weighs as much as ten handler runs, so the measured mean takes over without a jump."""

UNTOLD_WITHIN = 1.25
"""What no worker told may be off by so much: counts are by 30 %, and minutes come late. A hint holds within it."""

SERVICE_TIME_MEMORY_S = 300.0
START_UPS_KEPT = 20
CLOCK_SLACK_S = 5.0
"""Workers' clocks and ours may be this far apart."""

LOOKED_LATELY_TICKS = 3.0

RAISE_FORGOTTEN_S = 900.0
"""A raise whose workers have not shown up after a quarter of an hour measures a fault, not a start-up."""


def learn_service_time(known: ServiceTime | None, fleet: FleetSignals | None, elapsed_s: float) -> ServiceTime | None:
    """Add the fleet's latest handler runs; older ones fade over five minutes, but only as newer ones replace them."""
    if fleet is None or fleet.runs == 0:
        return known
    fade = math.exp(-max(0.0, elapsed_s) / SERVICE_TIME_MEMORY_S)
    old = known or ServiceTime(0.0, 0.0, 0.0)
    return ServiceTime(
        runs=old.runs * fade + fleet.runs,
        sum_s=old.sum_s * fade + fleet.service_time_sum_s,
        square_sum_s2=old.square_sum_s2 * fade + fleet.service_time_square_sum_s2,
    )


def service_time(
    pool: Pool, known: ServiceTime | None, signals: Signals, samples: Sequence[Sample] = ()
) -> tuple[Estimate, float] | None:
    """Mean service time in seconds and its squared coefficient of variation; None when nothing is known.

    Measured by the workers, with the hint weighing as ten runs; else, where no worker reports, the hint, as far as
    Little's law on CloudWatch (`untold`) does not contradict it. Unmeasured spread counts as exponential (1).
    """
    hint = pool.service_time_hint_s
    if known is not None:
        return Estimate(_with_hint(hint, known.sum_s, known.runs), "workers"), _variation(known)
    untold = untold_service_time(samples, signals)
    if hint is None:
        return None if untold is None else (Estimate(untold.mean_s, "cloudwatch"), 1.0)
    if untold is None or not untold.runs or hint / UNTOLD_WITHIN <= untold.mean_s <= hint * UNTOLD_WITHIN:
        return Estimate(hint, "hint"), 1.0
    believed_s = untold.mean_s / UNTOLD_WITHIN if untold.mean_s > hint else untold.mean_s * UNTOLD_WITHIN
    return Estimate(_with_hint(hint, believed_s * untold.runs, untold.runs), "cloudwatch"), 1.0


def _with_hint(hint_s: float | None, sum_s: float, runs: float) -> float:
    weight = max(0.0, HINT_RUNS - runs) if hint_s is not None else 0.0
    return (sum_s + weight * (hint_s or 0.0)) / (runs + weight)


def _variation(known: ServiceTime) -> float:
    return 1.0 if known.runs < HINT_RUNS or known.sum_s <= 0 else squared_variation(known)


def squared_variation(known: ServiceTime | None) -> float:
    """The squared coefficient of variation of handler runs; 0 where there are none, or none that took any time."""
    if known is None or known.sum_s <= 0:
        return 0.0
    mean_s = known.sum_s / known.runs
    return at_least(known.square_sum_s2 / known.runs / mean_s**2 - 1.0, 0.0)


@value
class StartUps:
    """What `PoolState` remembers under the same names."""

    raises: tuple[tuple[float, int], ...]
    known_workers: Mapping[str, KnownWorker]
    start_ups_s: tuple[float, ...]


def learn_start_up(state: PoolState, capacity: Capacity, fleet: Fleet) -> StartUps:
    """Match each worker's first receive call with the oldest raise of the desired count that it can have answered.

    Start-up time runs from the raise to the first receive call, so it holds the platform's placement, the image pull
    and the process's own start. A worker that was started before the raise, as its own clock has it, answers another.
    """
    asked = [(at_s, n) for at_s, n in state.raises if capacity.taken_at_s - at_s <= RAISE_FORGOTTEN_S]
    known, newly_ready = _known_and_ready(state.known_workers, fleet)
    measured: list[float] = []
    for ready_at_s, started_at_s in sorted(newly_ready):
        place = next((i for i, (at_s, _) in enumerate(asked) if at_s - CLOCK_SLACK_S <= started_at_s), None)
        if place is not None:
            at_s, missing = asked[place]
            measured.append(max(0.0, ready_at_s - at_s))
            asked[place : place + 1] = [(at_s, missing - 1)] if missing > 1 else []
    return StartUps(
        raises=tuple(asked),
        known_workers=state.known_workers if fleet.failed else known,  # those that are not seen are no strangers then
        start_ups_s=(*state.start_ups_s, *measured)[-START_UPS_KEPT:] if measured else state.start_ups_s,
    )


def learn_start_up_seen(pool: Pool, state: PoolState, capacity: Capacity) -> StartUps:
    """The same where no worker reports: by how many more run than at the last tick, as the platform counts.

    What a process does between that and its first receive call is not seen, so the hint is believed where it is longer.
    An instance of an Auto Scaling group counts long before anything works on it: less than a minute is not believed.
    """
    known_s = START_UP_ASSUMED_S if capacity.removes_by_name else 0.0
    least_s = known_s if pool.start_up_hint_s is None else pool.start_up_hint_s
    asked = [(at_s, n) for at_s, n in state.raises if capacity.taken_at_s - at_s <= RAISE_FORGOTTEN_S]
    come, measured = capacity.running - state.presence.there, []
    while come > 0 and asked:
        at_s, missing = asked[0]
        taken = min(come, missing)
        measured += [at_least(capacity.taken_at_s - at_s, least_s)] * taken
        come -= taken
        asked[:1] = [(at_s, missing - taken)] if missing > taken else []
    if state.ticked_at_s is None or capacity.taken_at_s - state.ticked_at_s > LOOKED_LATELY_TICKS * pool.tick_s:
        measured = []  # they may have come long ago
    return StartUps(
        raises=pending_only(asked, at_least(capacity.desired - capacity.running, 0)),
        known_workers=state.known_workers,
        start_ups_s=(*state.start_ups_s, *measured)[-START_UPS_KEPT:] if measured else state.start_ups_s,
    )


def _known_and_ready(
    before: Mapping[str, KnownWorker], fleet: Fleet
) -> tuple[dict[str, KnownWorker], list[tuple[float, float]]]:
    """What to remember of the workers, and (first receive, start) of each that polls and has not been timed yet."""
    known, ready = {}, []
    for worker in fleet.workers:
        name = digest(worker.worker_id)
        known[name], was = known_worker(worker), before.get(name)
        if worker.first_receive_at_s is not None and not (was and was.timed):
            ready.append((worker.first_receive_at_s, worker.started_at_s))
    return known, ready


def pending_only(raises: Sequence[tuple[float, int]], most: int) -> tuple[tuple[float, int], ...]:
    """The raises without the oldest, so that no more than `most` workers are waited for: others have come in silence.

    >>> pending_only(((10.0, 2), (20.0, 3)), most=4), pending_only(((10.0, 2),), most=0)
    (((10.0, 1), (20.0, 3)), ())
    """
    left: list[tuple[float, int]] = []
    for at_s, count in reversed(raises):
        kept = min(count, most)
        if kept > 0:
            left.append((at_s, kept))
        most -= kept
    return tuple(reversed(left))


def record_change(raises: Sequence[tuple[float, int]], now_s: float, change: int) -> tuple[tuple[float, int], ...]:
    """Remember a raise; a cut takes back raises that nobody has answered yet, the newest first."""
    left = [*raises, (now_s, change)] if change > 0 else list(raises)
    cut = -change
    while cut > 0 and left:
        at_s, missing = left.pop()
        if missing > cut:
            left.append((at_s, missing - cut))
        cut -= missing
    return tuple(left)


def start_up_s(pool: Pool, measured_s: Sequence[float]) -> Estimate:
    """The 90 % quantile of the measured start-up times; until there is one, the hint, or a minute.

    The plain formula assumes nothing that was neither measured nor given: none then.
    """
    if measured_s:
        ordered = sorted(measured_s)
        return Estimate(ordered[at_most(len(ordered) - 1, int(0.9 * len(ordered)))], "measured")
    if pool.start_up_hint_s is not None:
        return Estimate(pool.start_up_hint_s, "hint")
    return Estimate(0.0 if pool.plain else START_UP_ASSUMED_S, "unmeasured")


def hold_s(pool: Pool, start_up: Estimate, share: float = 1.0) -> float:
    """How long fewer workers must have been enough: the setting, or a share of what a new worker takes to start.

    To keep an idle worker costs as much as to start one after that time: see `core.estimation.holding`.
    """
    if pool.hold_s is not None:
        return pool.hold_s
    known_s = HOLD_UNMEASURED_S if start_up.source == "unmeasured" else start_up.value
    return at_least(share * known_s, HOLD_LEAST_TICKS * pool.tick_s)
