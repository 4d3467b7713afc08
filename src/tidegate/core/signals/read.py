"""How far each signal can be trusted at this tick. Missing or stale never scales in; gone or denied is never zero."""

import math
from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from typing import Final

from tidegate.core.absence import Absence
from tidegate.core.bounds import at_most
from tidegate.core.memory import Marks
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation, Reading
from tidegate.core.signals.age import judge_age, marked
from tidegate.core.signals.fleet import FleetSignals, heard_of, sum_fleet
from tidegate.core.signals.silence import Hearing, hear, is_mixed
from tidegate.core.signals.unheard import with_unheard
from tidegate.core.value import maker, value

__all__ = [
    "METRIC_MAX_AGE_S",
    "Freshness",
    "Quiet",
    "Signals",
    "classify",
    "known_slots",
    "read_fleet",
    "read_signals",
]

METRIC_MAX_AGE_S = 180.0
"""A CloudWatch reading older than this says nothing of now. Minutes close every 60 s and arrive a minute or two later
(the normal lag is undocumented: SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html)."""

SDK_FORGOTTEN_S = 86_400.0
"""A pool of which no worker was heard for a day no longer uses the SDK, and is sized without it."""


class Freshness(StrEnum):
    """From best to worst; a sum over queues is as good as its worst part."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    DENIED = "denied"
    GONE = "gone"


_ORDER = list(Freshness)
_FRESH: Final = Freshness.FRESH
_UNSEEN: Final = Absence.UNSEEN
_NO_FAULT = (None, Absence.MISSING)
_ABSENT = {Absence.DENIED: Freshness.DENIED, Absence.GONE: Freshness.GONE}


@value
class Quiet:
    """A fair queue's quiet groups: their part of what waits and is in flight; and how many groups are noisy."""

    noisy_groups: float
    waiting: float
    in_flight: float


@value
class Signals:
    """All that the later steps use, each with how far it can be trusted.

    `waiting`, `in_flight`, `delayed` are sums over the queues that could be read; `counts` is the worst of them.
    What a worker has received and not started waits, too, and is no longer in flight here.
    `age_s` (and the time it speaks of, `age_at_s`), `sent_per_s` and `deleted_per_s` are None unless fresh; `age_s`
    also where the oldest message has not been waiting all that time (`age_note` says so). `age` says what became of
    the metric. `fleet` is None when no worker reports.
    """

    counts: Freshness
    waiting: float
    in_flight: float
    delayed: float
    age_s: float | None
    age_at_s: float | None
    sent_per_s: float | None
    deleted_per_s: float | None
    fleet_state: Freshness
    fleet: FleetSignals | None
    errors: tuple[str, ...]
    age: str = "missing"
    age_note: str = ""
    unseen: str = ""
    """Whose metrics another account does not show, and what to do."""
    oldest_sent: Marks = ()
    quiet: Quiet | None = None
    fleet_readable: bool = True
    in_groups: bool = False
    """A FIFO queue is among them: slots may be idle while messages wait for others of their group."""
    slots_at_most: float = math.inf
    """Slots of the workers that run, where none reports: no more than these of what is in flight is worked on."""
    hearing: Hearing = field(default_factory=Hearing)
    """Of the workers that run and do not report."""

    @property
    def fresh(self) -> bool:
        """Whether counts and reports are all there and fresh: else nothing is scaled in."""
        return self.counts is _FRESH and self.fleet_state is _FRESH

    @property
    def fleet_heard(self) -> bool:
        """Whether the reports tell all that workers have done: one reports, or none runs that ever did."""
        return self.fleet is not None or self.fleet_state is Freshness.FRESH

    @property
    def in_hand(self) -> float:
        """Everything that is due and not yet deleted: delayed messages are not."""
        return self.waiting + self.in_flight


_signals = maker(Signals)


def classify(reading: Reading, now_s: float, max_age_s: float) -> Freshness:
    """Fresh up to and at `max_age_s`, stale after it; absent readings keep their kind (throttled counts as missing).

    >>> classify(Reading(3, taken_at_s=100), now_s=130, max_age_s=30)
    <Freshness.FRESH: 'fresh'>
    >>> classify(Reading(None, 100, Absence.GONE), now_s=101, max_age_s=30)
    <Freshness.GONE: 'gone'>
    """
    if reading.absence is not None or reading.value is None:
        return _ABSENT.get(reading.absence or Absence.MISSING, Freshness.MISSING)
    return _FRESH if now_s - reading.taken_at_s <= max_age_s else Freshness.STALE


def read_signals(pool: Pool, state: PoolState, seen: Observation) -> Signals:
    """Sum the queues and the fleet of one observation."""
    now_s, queues = seen.now_s, seen.queues
    counts = [reading for queue in queues for reading in (queue.visible, queue.in_flight, queue.delayed)]
    worst = _worst([classify(reading, now_s, 2 * pool.tick_s) for reading in counts])
    fleet_state, fleet, hearing = read_fleet(pool, state, seen)
    waiting, in_flight, delayed = _known(counts[0::3]), _known(counts[1::3]), _known(counts[2::3])
    buffered = at_most(in_flight, fleet.buffered) if fleet else 0
    waiting, in_flight = waiting + buffered, in_flight - buffered
    ages = [queue.age_s if queue.quiet is None else queue.quiet.age_s for queue in queues]
    age_states = [classify(age, now_s, METRIC_MAX_AGE_S) for age in ages]
    oldest = _oldest(ages, age_states)
    in_hand = (waiting, in_flight) if worst is _FRESH else None
    told = oldest if _worst(age_states) is _FRESH else None
    age = judge_age(oldest, state.oldest_sent)
    unseen = [queue.age_s.detail for queue in queues if queue.age_s.absence is _UNSEEN]
    return _signals(
        counts=worst,
        waiting=waiting,
        in_flight=in_flight,
        delayed=delayed,
        age_s=age.value_s,
        age_at_s=age.at_s,
        sent_per_s=_total([queue.sent_per_s for queue in queues], now_s),
        deleted_per_s=_total([queue.deleted_per_s for queue in queues], now_s),
        fleet_state=fleet_state,
        fleet=fleet,
        errors=_errors(seen),
        age="left aside" if age.note else _best(age_states),
        age_note=age.note,
        unseen=unseen[0] if unseen else "",
        oldest_sent=marked(state.oldest_sent, told, fleet, in_hand, now_s),
        quiet=_quiet(seen),
        fleet_readable=not seen.fleet.failed,
        in_groups=True in [queue.queue.endswith(".fifo") for queue in queues],
        slots_at_most=seen.capacity.running * pool.slots_per_worker if fleet is None else math.inf,
        hearing=hearing,
    )


def _quiet(seen: Observation) -> Quiet | None:
    """Of all fair queues together; None unless each tells it freshly. A queue that is not fair is all quiet."""
    fair = [queue.quiet for queue in seen.queues if queue.quiet is not None]
    if not fair:
        return None
    noisy = _total([quiet.noisy_groups for quiet in fair], seen.now_s)
    waiting = _total([quiet.visible for quiet in fair], seen.now_s)
    in_flight = _total([quiet.in_flight for quiet in fair], seen.now_s)
    if noisy is None or waiting is None or in_flight is None:
        return None
    others = [queue for queue in seen.queues if queue.quiet is None]
    return Quiet(noisy, waiting + _known(q.visible for q in others), in_flight + _known(q.in_flight for q in others))


def read_fleet(pool: Pool, state: PoolState, seen: Observation) -> tuple[Freshness, FleetSignals | None, Hearing]:
    """What the reports tell of all workers, how far they can be trusted, and what is made of those not heard of.

    No store at all (absence MISSING) is a pool without the SDK and fine. A store that failed is MISSING or DENIED. Once
    a pool has reported, running workers that are silent make it STALE: they may be busy for all that is known. Those
    that were asked for and have not polled yet are excused; and while others report, so are those that have been silent
    for long (`core.signals.silence`), retired (the count falls for these) or not.
    """
    if seen.fleet.absence is not None and seen.fleet.failed:
        known = Hearing(state.silence, state.mixed_at_s, mixed=is_mixed(state, seen.now_s))
        return _ABSENT.get(seen.fleet.absence, Freshness.MISSING), None, known
    fleet = sum_fleet(state, seen.fleet, seen.now_s, pool.target_wait_s)
    heard = len(heard_of(seen.fleet.workers, seen.now_s)) if fleet is None else fleet.heard
    hearing = hear(state, seen, heard, uses_sdk=fleet is not None or _reported_lately(state, seen.now_s))
    if fleet is not None and hearing.unheard:
        told_s = seen.now_s - pool.tick_s - 2 * fleet.heartbeat_s
        fleet = with_unheard(fleet, hearing.unheard, sum([each.since_s >= told_s for each in state.retired]))
    return (Freshness.STALE if hearing.stale else _FRESH), fleet, hearing


def _reported_lately(state: PoolState, now_s: float) -> bool:
    return state.reported_at_s is not None and now_s - state.reported_at_s <= SDK_FORGOTTEN_S


def known_slots(pool: Pool, state: PoolState, signals: Signals, now_s: float) -> int:
    """Slots of a worker: as the workers report them, as they last did where none is heard of, else the setting's."""
    if signals.fleet is not None:
        return signals.fleet.slots_per_worker
    remembered = state.slots_per_worker if _reported_lately(state, now_s) else None
    return pool.slots_per_worker if remembered is None else remembered


def _worst(states: list[Freshness]) -> Freshness:
    return max(states, key=_ORDER.index) if states.count(_FRESH) < len(states) else _FRESH


def _best(states: list[Freshness]) -> Freshness:
    """One that is fresh is enough to go by."""
    return _FRESH if _FRESH in states else min(states, key=_ORDER.index)


def _known(readings: Iterable[Reading]) -> float:
    """The sum of what could be read: a lower bound where a queue could not."""
    total: float = 0
    for reading in readings:
        if reading.absence is None and reading.value is not None:
            total += reading.value
    return total


def _oldest(ages: list[Reading], states: list[Freshness]) -> Reading | None:
    fresh = [age for age, state in zip(ages, states, strict=True) if state is _FRESH]
    return max(fresh, key=lambda age: age.value or 0.0) if len(fresh) > 1 else fresh[0] if fresh else None


def _total(readings: list[Reading], now_s: float) -> float | None:
    """The sum when every queue has a fresh reading, else None: half a sum would read as a fall in traffic."""
    for reading in readings:
        if classify(reading, now_s, METRIC_MAX_AGE_S) is not _FRESH:
            return None
    return _known(readings)


def _errors(seen: Observation) -> tuple[str, ...]:
    """A sentence for all that was refused or failed of this pool's own, each once.

    Not for CloudWatch's minutes: they are read for all pools together, whose decisions do without them, and whoever
    reads them says so once.
    """
    failed = [queue for queue in seen.queues if queue.visible.absence not in _NO_FAULT]
    if not failed and not seen.fleet.failed:
        return ()
    said = [f"{queue.queue}: {queue.visible.detail or queue.visible.absence}" for queue in failed]
    if seen.fleet.failed:
        said.append(f"fleet: {seen.fleet.detail or seen.fleet.absence}")
    return tuple(dict.fromkeys(said))
