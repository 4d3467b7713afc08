"""The default policy: hold the wait under the target for the least money, as far as the blind window allows.

A blind window is the time in which nothing can be done about what happens in it: signal lag, a tick, a start-up. Where
the target outlasts what a surge can pile up in that time, a standing backlog is carried on purpose, and regulated with
the dead time in mind. Where it does not, headroom stands ready. Between the two it blends. On top, every message has a
deadline, and capacity that is on its way is counted before more is asked for.
"""

import math
from functools import partial

from tidegate.core.bounds import at_least, at_most, within
from tidegate.core.decision import Scalar, Step, shown
from tidegate.core.estimation.adapt import BAND_SIGMAS, blind_s, growth
from tidegate.core.estimation.committed import workers_by
from tidegate.core.estimation.load import AGE_PARTS, Load
from tidegate.core.estimation.looseness import SHARDS, spread_share
from tidegate.core.estimation.outlook import to_bear_per_s
from tidegate.core.model import Pool
from tidegate.core.sizing.erlang import slots_for_target, workers_for
from tidegate.core.sizing.need import LATE_SHARE_ALLOWED, Sized
from tidegate.core.value import maker, value

__all__ = ["hold_the_wait"]

STANDING_SHARE = 0.6
"""Of the mean wait that the target bears: the rest is for what comes unforeseen."""

SPREAD_SIGMAS = 2.6
"""Waits spread about their mean: so far above it is one that is to be in time (`core.estimation.looseness`)."""

BOUND_LEAST = 0.3
"""With few messages in a queue there is no long way round the shards."""

EVEN_AGES = tuple(1.0 - part / AGE_PARTS for part in range(AGE_PARTS))
"""Where nothing is known of when messages came."""

OVERDUE_S = 1.0
"""What is late already is due in so much."""

LEAST_OF_LOAD = 0.95
"""Never fewer slots than this share of the load, however short the backlog: a fleet that is cut below its load when a
backlog runs short is short itself soon after, and goes to and fro at constant load. The calmer the pool, the nearer to
the whole load: where no surge will end the shortage, all that it saves is paid back a little later."""

ROUNDED_AWAY = 0.5
"""Of a worker, where a backlog stands: it takes up the difference, so the count goes to the nearest whole one."""

BLINDS_TO_CORRECT = 2.0
"""Blind windows that are left of the target where a backlog is given the time that its length allows: to see that the
plan for it was wrong, and to do something about it."""

FADED_SLOTS = 0.05
"""Less is none, of headroom, or of what is only expected while nothing waits. It fades by the hour in a pool that is
asleep, and rounds up to a whole worker, which else stands by for a day after the last message."""

TAU_TARGETS = 1.0
TAU_BLINDS = 2.0
"""The backlog goes to its set point over the target wait, or twice the blind window where that is longer: it is an
integrator with the blind window as dead time, and anything faster oscillates."""


@value
class _Terms:
    """What the need is made of: seconds, factors, slots."""

    lasting_per_s: float
    offered: float
    blind_s: float
    tau_s: float
    growth: float
    bound_s: float
    patience: float
    leanness: float
    standing_wait_s: float
    erlang: int
    reserve: float
    """Growth × the unanswered part of a blind window: what an error of the rate is taken to move the headroom by."""
    headroom: float
    regulated: float
    drain: float


_terms_of = maker(_Terms)


def hold_the_wait(pool: Pool, load: Load, most_workers: int) -> Sized:
    """Workers for the arrivals, the standing wait and the deadlines; the step carries every value used."""
    terms = _terms(pool, load, most_workers)
    rounded = ROUNDED_AWAY * terms.leanness * load.slots_per_worker
    slots = at_least(at_least(terms.regulated, terms.headroom) - rounded, terms.drain)
    workers = at_least(workers_for(slots, load.slots_per_worker), 1 if load.waiting > 0 else 0)
    urgent = workers_for(terms.drain, load.slots_per_worker)
    rate_error, error, calm = _errors(load, terms)
    tell = partial(_step, load, terms, slots, workers, urgent, error, calm)
    return Sized(workers, slots, tell, urgent, error, calm, BAND_SIGMAS * load.calm * rate_error)


def _terms(pool: Pool, load: Load, most_workers: int) -> _Terms:
    target_s, mean_s = pool.target_wait_s, load.service_time.value
    blind, grown = blind_s(pool, load.start_up.value), growth(load.surge)
    mean_per_s = at_least(load.mean_per_s, load.steady_per_s)
    bound_s = mean_wait_bound_s(target_s, mean_per_s, load.loose)
    patience = _patience(pool, blind)
    leanness = load.lean * at_least(patience, within(2.0 * bound_s / blind - 1.0, 0.0, 1.0))
    standing_s = leanness * at_least(at_most(STANDING_SHARE * bound_s, bound_s - (1.0 - 1.0 / grown) * blind), 0.0)
    lasting_per_s = patience * load.steady_per_s + (1.0 - patience) * mean_per_s
    expected_per_s = leanness * lasting_per_s + (1.0 - leanness) * load.arrivals.value
    # what has not lasted need not be believed yet, as far as there is time to see: it is backlog, with its deadlines
    borne = mean_s * (load.arrivals.value - patience * at_least(load.arrivals.value - lasting_per_s, 0.0))
    most = most_workers * load.slots_per_worker
    erlang = slots_for_target(borne, target_s, mean_s, load.variation, LATE_SHARE_ALLOWED, most)
    tau_s = at_least(TAU_TARGETS * target_s, TAU_BLINDS * blind)
    lean, prompt = _lean(load, lasting_per_s, standing_s, tau_s), borne + load.waiting * _slots_each(mean_s, tau_s)
    offered = load.arrivals.value * mean_s
    unanswered = at_least(1.0 - (target_s - standing_s) / blind, 0.0)
    due = deadline_workers(pool, load, bound_s, expected_per_s, blind) * load.slots_per_worker
    to_bear = to_bear_per_s(load.outlook, load.arrivals.value, grown, unanswered)
    return _terms_of(
        lasting_per_s=lasting_per_s,
        offered=offered,
        blind_s=blind,
        tau_s=tau_s,
        growth=grown,
        bound_s=bound_s,
        patience=patience,
        leanness=leanness,
        standing_wait_s=standing_s,
        erlang=erlang,
        reserve=grown * unanswered,
        headroom=to_bear * mean_s if to_bear * mean_s >= FADED_SLOTS else 0.0,
        regulated=leanness * lean + (1.0 - leanness) * at_least(float(erlang), prompt),
        drain=due if load.waiting > 0 or due >= FADED_SLOTS else 0.0,
    )


def _errors(load: Load, terms: _Terms) -> tuple[float, float, float]:
    """(what the rate's error makes of the need, one standard deviation of the need, both in slots; how calm the pool
    is, that is how far to wait that out).

    A rate that is off by so much moves the load by as much × the service time, and the headroom with it; what the
    backlog needs it leaves alone. Where it goes by a shorter window than the steady one it has that window's error too,
    in a calm pool: in others it is the surge that it looks like. And a backlog that is led to its set point over τ
    wanders by chance alone: about as many messages come in that time as go, each a Poisson number (variance 2 λ τ). As
    calm as chance explains the pool's surges, and as the error makes whole workers: of less, rounding takes care.
    """
    mean_s = load.service_time.value
    rate_error = load.chance_per_s * mean_s * at_least(terms.reserve, 1.0)
    wander = math.sqrt(2.0 * load.arrivals.value / terms.tau_s) * mean_s
    shorter = load.calm * load.arrivals.error * mean_s * at_least(terms.reserve, 1.0)
    calm = load.calm * at_most(math.hypot(rate_error, wander, shorter) / load.slots_per_worker, 1.0)
    return rate_error, math.hypot(rate_error, calm * wander, shorter), calm


def _step(load: Load, terms: _Terms, slots: float, workers: int, urgent: int, error: float, calm: float) -> Step:
    values: dict[str, Scalar] = {
        "arrivals_per_s": shown(load.arrivals.value, 3),
        "lasting_per_s": shown(terms.lasting_per_s, 3),
        "waiting": shown(load.waiting, 1),
        "service_time_s": shown(load.service_time.value, 4),
        "offered_slots": shown(terms.offered, 3),
        "blind_s": shown(terms.blind_s, 1),
        "growth": shown(terms.growth, 3),
        "lean": shown(load.lean, 3),
        "bound_s": shown(terms.bound_s, 1),
        "looseness": shown(load.loose, 2),
        "patience": shown(terms.patience, 3),
        "leanness": shown(terms.leanness, 3),
        "standing_wait_s": shown(terms.standing_wait_s, 2),
        "erlang_slots": terms.erlang,
        "headroom_slots": shown(terms.headroom, 2),
        "regulated_slots": shown(terms.regulated, 2),
        "drain_slots": shown(terms.drain, 2),
        "running": load.committed.running,
        "starting": sum([count for _, count in load.committed.starting]),
        "slots": shown(slots, 2),
        "urgent_workers": urgent,
        "chance_per_s": shown(load.chance_per_s, 4),
        "error_slots": shown(error, 3),
        "calm": shown(calm, 3),
        "slots_per_worker": load.slots_per_worker,
        "workers": workers,
    }
    note = f"{slots:.1f} slots of work, at {load.slots_per_worker} slots per worker"
    return Step("size", values, note)


def _patience(pool: Pool, blind: float) -> float:
    """How far there is time to see whether a rate lasts: what the target leaves beyond a blind window, in such windows.

    None where the target is no longer than the window, or short waits are asked for; 1 from twice its length on.
    """
    return 0.0 if pool.economy == "prompt" else within(pool.target_wait_s / blind - 1.0, 0.0, 1.0)


def _lean(load: Load, lasting_per_s: float, standing_s: float, tau_s: float) -> float:
    """Slots that lead the backlog to the standing wait."""
    mean_s = load.service_time.value
    lasting, offered = lasting_per_s * mean_s, load.arrivals.value * mean_s
    least = (LEAST_OF_LOAD + (1.0 - LEAST_OF_LOAD) * load.calm) * at_most(lasting, offered)
    beyond = load.waiting - lasting_per_s * standing_s
    return at_least(lasting + beyond * _slots_each(mean_s, tau_s), least)


def _slots_each(mean_s: float, tau_s: float) -> float:
    """Slots that a message needs to be worked off within τ: never more than the one that it runs in.

    Three jobs of three hours that wait need three slots. As a stream of work, to be done in five minutes, they would be
    a hundred.
    """
    return at_most(mean_s / tau_s, 1.0)


def mean_wait_bound_s(target_s: float, rate_per_s: float, loose: float = 0.0) -> float:
    """The longest mean wait with which the longest waits are still within the target.

    The w with w + z √((shards − 1) w ÷ rate + loose × w²) = target. A FIFO queue keeps the order within a group only
    ("messages with different message group ID values might be sent and received out of order",
    FIFO-queues-understanding-logic): groups that take turns spread waits as shards do.

    >>> round(mean_wait_bound_s(120, 1.0)), round(mean_wait_bound_s(120, 100.0)), mean_wait_bound_s(120, 100.0, 1.0)
    (65, 113, 36.0)
    """
    straight = 2.0 * target_s + SPREAD_SIGMAS**2 * (SHARDS - 1) / at_least(rate_per_s, 1.0 / target_s)
    square = 1.0 - SPREAD_SIGMAS**2 * loose
    bound_s = 2.0 * target_s**2 / (straight + math.sqrt(straight**2 - 4.0 * square * target_s**2))
    return at_least(bound_s, BOUND_LEAST * target_s)


def deadline_workers(pool: Pool, load: Load, bound_s: float, expected_per_s: float, blind: float) -> float:
    """The fewest workers that start everything by its deadline, what waits and what comes until new workers are there.

    Deadlines are those of what waits, by its ages, and two for what comes after it. Those that are nearer than a new
    worker only say which of the running ones are needed.
    """
    start_up_s, mean_s, head_s = load.start_up.value, load.service_time.value, load.head_age.value
    if mean_s <= 0:
        return 0.0
    floor_s = at_least(bound_s * within(start_up_s / bound_s, 0.25, 1.0), pool.tick_s)
    deadlines = [(-later_s, load.waiting + expected_per_s * later_s) for later_s in (start_up_s / 2, start_up_s)]
    if load.waiting > 0:
        shares = load.older or EVEN_AGES
        deadlines += [(head_s * part / AGE_PARTS, load.waiting * share) for part, share in enumerate(shares)]
        # the oldest part by its oldest: the tail of a dump is all of one age
        deadlines.append((head_s, load.waiting * shares[-1]))
    most, corrigible_s = 0.0, pool.target_wait_s - BLINDS_TO_CORRECT * blind
    for age_s, due in deadlines:
        if due > 0:
            at_s = at_least(bound_s - age_s, _orderly_s(corrigible_s, age_s, due, load.loose))
            new_s = start_up_s if at_s > start_up_s else math.inf
            left_s = at_s if at_s > OVERDUE_S else OVERDUE_S
            needed = workers_by(due, left_s, load.committed, load.slots_per_worker, mean_s, new_s, floor_s)
            most = needed if needed > most else most
    return most


def _orderly_s(wait_s: float, age_s: float, due: float, loose: float) -> float:
    """The time in which so many have to be started, for the one that sees most of them before it to be in time.

    It sees `due` starts, ± `spread_share` of them. At the usual rate a queue of the bound is as long as that makes it;
    after a dump, or in a lull, it is longer, and as much more orderly. Of few that are old nearly all that time is
    over; never less than half of what an even share of the spread leaves them, else fewer would need more workers.
    """
    orderly = 1.0 / (1.0 + SPREAD_SIGMAS * spread_share(due, loose))
    spread_s, even_s = wait_s * orderly - age_s, (wait_s - age_s) * orderly / 2
    return spread_s if spread_s > even_s else even_s
