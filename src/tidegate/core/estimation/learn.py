"""What one tick teaches: the pool's memory with this observation added, and the load that follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tidegate.core.bounds import at_least
from tidegate.core.ceiling import learn_quick
from tidegate.core.estimation import times
from tidegate.core.estimation.adapt import (
    blind_s,
    calm_share,
    late_by_age,
    learn_lean,
    learn_margin,
    learn_surge,
    margin_by_age,
)
from tidegate.core.estimation.arrivals import (
    arrivals_per_s,
    chance_per_s,
    mean_per_s,
    steady_per_s,
    window_pair_per_s,
)
from tidegate.core.estimation.balance import (
    at_least_s,
    count_scale,
    learn_balance,
    occupancy_s,
    so_far_s,
    usual_per_s,
    without_queue,
)
from tidegate.core.estimation.classes import hinted, learn_classes, mixed
from tidegate.core.estimation.committed import commit
from tidegate.core.estimation.counts import learn_count_error
from tidegate.core.estimation.delayed import known_per_s, with_due
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.latest import learn_latest, within_proof_s
from tidegate.core.estimation.listen import listen
from tidegate.core.estimation.load import AGE_PARTS, Load
from tidegate.core.estimation.looseness import learn_looseness, looseness
from tidegate.core.estimation.moved_in import head_age_here, without_moved
from tidegate.core.estimation.outlook import learn_outlook
from tidegate.core.estimation.removals import without_removals
from tidegate.core.estimation.samples import Samples
from tidegate.core.estimation.sampling import extend_samples
from tidegate.core.estimation.typical import lasting_per_s
from tidegate.core.estimation.unread import with_unread
from tidegate.core.estimation.waiting import head_age_s, older_shares, still_waited_s, waiting
from tidegate.core.memory import ClassMemory, MovedIn
from tidegate.core.model import Balance, Looseness, Pool, PoolState, Sample, ServiceTime
from tidegate.core.observation import Observation
from tidegate.core.signals.read import Freshness, Signals
from tidegate.core.value import changed, maker, value

__all__ = ["STILL_RUNNING", "Learned", "learn"]


_FRESH: Final = Freshness.FRESH

STILL_RUNNING = "still running"
"""Where a service time is from that no handler has ended to tell."""


@value
class Learned:
    """The state after this tick, the load (None: no service time is known), and what was noticed on the way."""

    state: PoolState
    load: Load | None
    notices: tuple[str, ...]


_load_of = maker(Load)


def learn(
    pool: Pool, state: PoolState, seen: Observation, signals: Signals, moved: MovedIn | None, slots_per_worker: int
) -> Learned:
    """Service times, start-up times, arrivals, surges and waits, each by its own estimator."""
    elapsed_s = seen.now_s - state.ticked_at_s if state.ticked_at_s is not None else 0.0
    signals = _without_delays(signals)
    known = times.learn_service_time(state.service_time, signals.fleet, elapsed_s)
    classes = learn_classes(state.classes, signals.fleet, elapsed_s)
    heard = listen(pool, state, seen, signals)
    start_up = times.start_up_s(pool, heard.start_ups_s)
    balance = _balanced(state.balance, seen, signals, moved, elapsed_s)
    latest = learn_latest(state.latest, signals.fleet)
    measured = _measured(pool, state.samples, signals, known, classes, balance, latest)
    mean_s = measured[0].value if measured else 0.0
    scale = 1.0 if pool.plain else count_scale(balance, still_waited_s(state.samples))
    blind = blind_s(pool, start_up.value)
    samples, moved, notices = _sampled(pool, state, moved, seen.now_s, signals, mean_s, scale, 2 * blind)
    pair = window_pair_per_s(samples, blind)
    state = changed(
        heard,
        unsampled=0 if _is_later(samples, state.samples) else heard.unsampled,
        delayed=signals.delayed if signals.counts is _FRESH else state.delayed,
        moved_in=moved,
        balance=balance,
        service_time=known,
        latest=latest,
        classes=classes,
        quick_s=learn_quick(state, known, elapsed_s),
        samples=samples,
        count_error=learn_count_error(state.count_error, samples),
        margin=0.0 if moved is not None else _margin(pool, state, samples, signals, usual_per_s(balance), elapsed_s),
        looseness=state.looseness if moved is not None else _loosened(pool, state, signals, elapsed_s),
        lean=learn_lean(pool, state.lean, signals, elapsed_s),
        outlook=learn_outlook(state.outlook, pair, blind, elapsed_s),
        surge=learn_surge(state.surge, pair, samples, blind, elapsed_s, state.count_error),
    )
    if measured is None:
        return Learned(state, None, notices)
    load = _load(pool, state, seen, signals, measured, start_up, slots_per_worker)
    return Learned(state, load if pool.plain else with_unread(load, state, signals, seen.now_s), notices)


def _without_delays(signals: Signals) -> Signals:
    """Without the waits where messages are sent with a delay: it is part of them, and nobody can tell which."""
    if not signals.delayed or signals.fleet is None:
        return signals
    return replace(signals, fleet=replace(signals.fleet, waits=None))


def _balanced(known: Balance, seen: Observation, signals: Signals, moved: MovedIn | None, elapsed_s: float) -> Balance:
    if seen.fleet.absence is not None:  # the waits that belong to these counts will never be told
        return known
    counted = signals.waiting if signals.counts is _FRESH else 0.0  # a part of the sum is no count
    balance = learn_balance(known, signals.fleet, counted, elapsed_s)
    return without_queue(balance) if moved is not None or signals.delayed else balance


def _loosened(pool: Pool, state: PoolState, signals: Signals, elapsed_s: float) -> Looseness:
    if signals.counts is not _FRESH:
        return state.looseness
    waits = signals.fleet.waits if signals.fleet else None
    return learn_looseness(state.looseness, waits, signals.waiting, pool.target_wait_s, elapsed_s)


def _measured(
    pool: Pool,
    samples: Sequence[Sample],
    signals: Signals,
    known: ServiceTime | None,
    classes: Mapping[str, ClassMemory],
    balance: Balance,
    latest: ServiceTime | None,
) -> tuple[Estimate, float] | None:
    """The mean service time, in seconds, of the mix that starts, and its squared coefficient of variation.

    Where workers report, by as much longer or shorter as their slots are busy for more or less than they tell.
    """
    measured = times.service_time(pool, known, signals, samples) or hinted(pool)
    if measured is None:
        taken_s = so_far_s(balance, signals.fleet)
        return (Estimate(taken_s, STILL_RUNNING), 1.0) if taken_s > 0 else None
    mean, variation = mixed(pool, classes, measured)
    if known is None or pool.plain:
        return mean, variation
    found_s = within_proof_s(balance, latest, occupancy_s(balance, mean.value, variation), variation)
    return Estimate(at_least_s(balance, found_s, variation), mean.source), variation


def _is_later(samples: Sequence[Sample], before: Sequence[Sample]) -> bool:
    """Whether a sample was taken at this tick."""
    return bool(samples) and (not before or samples[-1].at_s > before[-1].at_s)


def _sampled(
    pool: Pool,
    state: PoolState,
    moved: MovedIn | None,
    now_s: float,
    signals: Signals,
    mean_s: float,
    scale: float,
    pairs_s: float,
) -> tuple[Samples, MovedIn | None, tuple[str, ...]]:
    """The samples with this tick's, without what came or went past producers and workers; and that in words."""
    error, unsampled = state.count_error, state.unsampled
    samples = extend_samples(pool, state.samples, now_s, signals, mean_s, error, scale, unsampled, pairs_s)
    notices = []
    samples, messages = without_moved(samples, moved)
    if messages and moved is not None:
        moved = MovedIn(samples[-1].at_s, now_s if moved.came_at_s is None else moved.came_at_s)
        notices.append(f"{messages:.0f} messages were moved here: a backlog to drain, and no traffic")
    if signals.fleet is None:  # what left is then known too late to say that it left unstarted
        return samples, moved, tuple(notices)
    samples, removed = without_removals(samples)
    if removed:
        notices.append(
            f"{removed:.0f} messages left unstarted (purged, expired or taken by others): no fall of the traffic"
        )
    return samples, moved, tuple(notices)


def _load(
    pool: Pool,
    state: PoolState,
    seen: Observation,
    signals: Signals,
    measured: tuple[Estimate, float],
    start_up: Estimate,
    slots_per_worker: int,
) -> Load:
    samples = state.samples
    arrivals = arrivals_per_s(pool, samples, signals, measured[0].value, state.count_error)
    calm = calm_share(state.surge, arrivals.value, blind_s(pool, start_up.value))
    waits = _waiting_now(pool, state, arrivals, signals, seen.now_s)
    head_age = head_age_here(head_age_s(samples, signals), state.moved_in, seen.now_s)
    return _load_of(
        arrivals=with_due(arrivals, signals.delayed),
        waiting=waits,
        head_age=head_age,
        older=older_shares(samples, waits, head_age.value, AGE_PARTS),
        service_time=measured[0] if pool.plain else _with_margin(measured[0], state.margin),
        variation=measured[1],
        start_up=start_up,
        slots_per_worker=slots_per_worker,
        steady_per_s=at_least(steady_per_s(samples, pool, arrivals), known_per_s(signals.delayed)),
        mean_per_s=mean_per_s(samples, pool, arrivals),
        committed=commit(state, seen, signals, start_up.value),
        lean=state.lean,
        surge=state.surge,
        outlook=state.outlook,
        chance_per_s=chance_per_s(samples, arrivals, state.count_error),
        calm=calm,
        fifo=False not in [queue.queue.endswith(".fifo") for queue in seen.queues],
        loose=looseness(state.looseness),
        delayed=signals.delayed,
        typical_per_s=lasting_per_s(samples) if pool.finish_in_s is not None else 0.0,
    )


def _with_margin(service_time: Estimate, margin: float) -> Estimate:
    return Estimate(service_time.value * (1.0 + margin), service_time.source)


def _margin(pool: Pool, state: PoolState, samples: Samples, signals: Signals, usual: float, elapsed_s: float) -> float:
    """Not asked where messages were moved in: old when they came, their waits say nothing of this pool."""
    fleet = signals.fleet
    limited = bool(state.lows) and state.desired is not None and state.lows[-1][1] > state.desired
    if fleet is not None:
        return learn_margin(state.margin, fleet.waits, fleet.told_s, usual, elapsed_s, limited=limited)
    late_share = late_by_age(pool.target_wait_s, signals, samples) if signals.fleet_heard else None
    return margin_by_age(state.margin, late_share, elapsed_s, limited=limited)


def _waiting_now(pool: Pool, state: PoolState, arrivals: Estimate, signals: Signals, now_s: float) -> float:
    """While the fleet is silent no sample is taken, but what the counts show is there all the same."""
    samples = state.samples
    reckoned = waiting(samples, arrivals, signals, pool, state.count_error)
    return reckoned if samples and samples[-1].at_s >= now_s else max(reckoned, signals.waiting)
