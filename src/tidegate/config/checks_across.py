"""What the common settings and several pools mean together."""

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from tidegate.config.checks import check_pool
from tidegate.config.checks_schedule import check_schedule
from tidegate.config.environment import plain_name
from tidegate.config.findings import ABSENT, Finding
from tidegate.config.models import PoolSettings, Settings
from tidegate.config.resources import Match, queue_of, service_of

__all__ = ["check", "check_names"]

_POOL_NAME = re.compile(r"(?=.{1,64}\Z)[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*", re.ASCII)

Named = tuple[str, PoolSettings]


def check(settings: Settings) -> Iterator[Finding]:
    """Every fault and warning that rests on more than one setting."""
    yield from _common(settings)
    for name, pool in settings.pools.items():
        at = ("pools", name)
        yield from check_pool(at, pool, settings)
        yield from check_schedule(at, pool)
    for one, other in combinations(settings.pools.items(), 2):
        yield from _same_capacity(one, other, settings.region)
        yield from _same_queue(one, other, settings.region)


def check_names(names: Iterable[str]) -> Iterator[Finding]:
    """What is wrong with the pools' names; it holds whatever else is wrong with the pools."""
    seen: dict[str, str] = {}
    for name in names:
        if not _POOL_NAME.fullmatch(name):
            fix = "use 1 to 64 letters and digits, with single -, _ or . between them, such as [pools.order-intake]"
            yield Finding(("pools", name), name, "is no name for a pool", fix)
        elif (first := seen.setdefault(plain_name(name), name)) != name:
            problem = (
                f"differs from the pool {first!r} only in capitals, -, _ or ., so a variable can't tell them apart"
            )
            yield Finding(("pools", name), name, problem, "rename one of them")


def _common(settings: Settings) -> Iterator[Finding]:
    table, state_dir = ("table",), ("state_dir",)
    if settings.table is not None and settings.state_dir is not None:
        fix = "keep table (DynamoDB), or state_dir (files on one machine)"
        yield Finding(state_dir, settings.state_dir, "is set together with table", fix, (table,))
    elif settings.table is None and settings.state_dir is None:
        problem = "and state_dir are not set: what was learned is lost at a restart, and workers' reports are not seen"
        fix = "set table to a DynamoDB table, or state_dir to a directory on one machine"
        yield Finding(table, ABSENT, problem, fix, warning=True)


def _same_capacity(one: Named, other: Named, region: str | None) -> Iterator[Finding]:
    (mine, my), (theirs, their) = one, other
    if my.ecs and their.ecs:
        key, value, what = "ecs", their.ecs.service, "ECS service"
        place, other_place = (service_of(ecs.cluster, ecs.service, region) for ecs in (my.ecs, their.ecs))
        same = place.match(other_place) != Match.NO
    elif my.asg and their.asg:
        key, value, same, what = "asg", their.asg, my.asg == their.asg, "Auto Scaling group"
    else:
        return
    if same:
        problem = f"is the {what} of the pool {mine!r} too: {mine!r} and {theirs!r} would undo each other's counts"
        fix = "give each pool its own, or make them one pool with several queues"
        among = tuple(("pools", name, side) for name in (mine, theirs) for side in ("ecs", "asg"))
        yield Finding(("pools", theirs, key), value, problem, fix, among)


def _same_queue(one: Named, other: Named, region: str | None) -> Iterator[Finding]:
    """A fault, not a warning: each pool would start workers for the whole backlog, so twice what is needed."""
    (mine, my), (theirs, their) = one, other
    for text in their.all_queues:
        matches = {queue_of(text, region).match(queue_of(own, region)) for own in my.all_queues}
        sure = Match.YES in matches
        if not sure and Match.MAYBE not in matches:
            continue
        may_be = "is" if sure else "may be (one is written without its Region or account)"
        key = "queue" if their.queue is not None else "queues"
        problem = f"{may_be} the queue of the pool {mine!r} too: both would start workers for all of its messages"
        fix = "make them one pool" if sure else "write both as ARN or URL; if they are one queue, make them one pool"
        among = (("region",), *(("pools", name, side) for name in (mine, theirs) for side in ("queue", "queues")))
        yield Finding(("pools", theirs, key), text, problem, fix, among, warning=not sure)
