"""Who of a fleet's workers may use how much of a limit that holds for all of them together. Pure.

A limit (so many handlers at a time, in all or of one class) is that many *permits*. A worker holds some under a lease,
and takes no message for which it holds none. Each worker renews its own part of the pool's permits, under a version:
of two that write at once one reads again. Whoever writes leaves out the holders whose lease has lapsed.

The fair share is max-min: nobody gets more than it wants, and nobody could have more without taking it from one that
has no more than itself. A worker over its share starts nothing more than that, and gives back what is idle when it
renews; what a running handler uses is never taken. Where there are fewer permits than workers that want one, they take
turns: whoever has had none for a whole lease comes before those that have one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tidegate.core.stored.schema import SCHEMA

__all__ = ["CLOCKS_S", "FLEET", "Claim", "Demand", "Holder", "Permits", "Renewal", "released", "renewed"]

FLEET: Final = ""
"""The name of the limit on all handlers together; limits of classes have names of their own."""

CLOCKS_S: Final = 5.0
"""By so much the clocks of two workers may differ: a lease is over for its holder at its end, and for others then."""


class Claim(NamedTuple):
    """What a worker holds of one limit, and what it could use.

    A tuple, as a holder is: stored as JSON arrays they take half the room, and DynamoDB bills each write by the
    kilobyte of the item.
    """

    held: int
    want: int
    waits_since_s: float = 0.0
    """Since when it has held none though it wants some; 0: it does not wait."""


class Holder(NamedTuple):
    """A worker's claims by the limit's name, and when its lease ends (times of day, in seconds)."""

    until_s: float
    claims: Mapping[str, Claim]


@dataclass(frozen=True, slots=True)
class Permits:
    """All permits of a pool, by the worker that holds them."""

    holders: Mapping[str, Holder] = field(default_factory=dict)
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Demand:
    """What a worker asks for: of `limit` permits in all it uses `in_use` now and could use `want`."""

    limit: int
    in_use: int
    want: int


@dataclass(frozen=True, slots=True)
class Renewal:
    """The permits to write, and by the limit's name what the worker may use and what it is owed.

    `allowed` may be less than is held: so many may run, and beyond them nothing may be started. `share` may be more
    than is allowed: others are yet to give it back.
    """

    permits: Permits
    allowed: Mapping[str, int]
    share: Mapping[str, int]


def renewed(permits: Permits, worker_id: str, demands: Mapping[str, Demand], now_s: float, lease_s: float) -> Renewal:
    """This worker's claims as of now, its lease running `lease_s` from now. What `demands` leaves out is given back.

    >>> first = renewed(Permits(), "w1", {FLEET: Demand(limit=6, in_use=0, want=8)}, now_s=0.0, lease_s=30.0)
    >>> first.allowed
    {'': 6}
    >>> second = renewed(first.permits, "w2", {FLEET: Demand(limit=6, in_use=0, want=8)}, 1.0, 30.0)
    >>> second.allowed, second.share
    ({'': 0}, {'': 3})
    >>> renewed(second.permits, "w1", {FLEET: Demand(limit=6, in_use=5, want=8)}, 10.0, 30.0).allowed
    {'': 3}
    """
    mine = permits.holders.get(worker_id, Holder(0.0, {})).claims
    others = {
        name: holder
        for name, holder in permits.holders.items()
        if name != worker_id and now_s < holder.until_s + CLOCKS_S
    }
    claims, allowed, shares = {}, {}, {}
    for name, demand in demands.items():
        theirs = {other: holder.claims[name] for other, holder in others.items() if name in holder.claims}
        before = mine.get(name, Claim(0, 0))
        free = max(0, demand.limit - sum(claim.held for claim in theirs.values()))
        shares[name] = _share(worker_id, before._replace(want=demand.want), theirs, demand.limit, now_s - lease_s)
        allowed[name] = min(shares[name], free)
        claims[name] = _claim(before, demand, allowed[name], free, now_s)
    holder = Holder(round(now_s + lease_s, 1), claims)
    return Renewal(Permits({**others, worker_id: holder}), allowed, shares)


def released(permits: Permits, worker_id: str) -> Permits:
    """The same without this worker: whatever it held is free."""
    return Permits({name: holder for name, holder in permits.holders.items() if name != worker_id})


def _claim(before: Claim, demand: Demand, allowed: int, free: int, now_s: float) -> Claim:
    """What runs is kept, unless others were given it meanwhile because this worker's lease had lapsed."""
    held = max(min(demand.in_use, before.held), min(free, max(demand.in_use, allowed)))
    if held or not demand.want:
        return Claim(held, demand.want)
    return Claim(0, demand.want, before.waits_since_s or round(now_s, 1))


def _share(worker_id: str, claim: Claim, others: Mapping[str, Claim], limit: int, patient_since_s: float) -> int:
    """This worker's fair share: the level that all who want so much get, and one more for whoever comes first."""
    wanting = {name: each for name, each in {**others, worker_id: claim}.items() if each.want}
    if worker_id not in wanting:
        return 0
    left, level = limit, 0
    wants = sorted(each.want for each in wanting.values())
    for satisfied, want in enumerate(wants):
        level = left // (len(wants) - satisfied)
        if want > level:
            break
        left -= want
    else:
        return claim.want
    if claim.want <= level:
        return claim.want
    hungry = [name for name, each in wanting.items() if each.want > level]
    hungry.sort(key=lambda name: _turn(name, wanting[name], level, patient_since_s))
    return level + (worker_id in hungry[: left - level * len(hungry)])


def _turn(name: str, claim: Claim, level: int, patient_since_s: float) -> tuple[bool, float, bool, str]:
    """First who has waited for a lease, longest first; then who has it already, so that it does not change hands."""
    waited = 0.0 < claim.waits_since_s <= patient_since_s
    return not waited, claim.waits_since_s if waited else 0.0, claim.held <= level, name
