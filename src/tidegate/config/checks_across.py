"""What the common settings and several pools mean together."""

import re
from collections.abc import Iterable, Iterator

from tidegate.config.checks import check_pool
from tidegate.config.checks_bottlenecks import check_bottlenecks
from tidegate.config.checks_objective import check_objective
from tidegate.config.checks_schedule import check_schedule
from tidegate.config.claims import Claim, Claims
from tidegate.config.environment import plain_name
from tidegate.config.findings import ABSENT, Finding
from tidegate.config.models import Settings
from tidegate.config.resources import Match, queue_of, service_of

__all__ = ["check", "check_names"]

_POOL_NAME = re.compile(r"(?=.{1,64}\Z)[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*", re.ASCII)


def check(settings: Settings) -> Iterator[Finding]:
    """Every fault and warning that rests on more than one setting."""
    yield from _common(settings)
    for name, pool in settings.pools.items():
        at = ("pools", name)
        yield from check_pool(at, pool, settings)
        yield from check_bottlenecks(at, pool)
        yield from check_objective(at, pool)
        yield from check_schedule(at, pool)
    yield from _same_capacity(settings)
    yield from _same_queue(settings)


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


def _same_capacity(settings: Settings) -> Iterator[Finding]:
    """Each pool's against those before it; with the first that has the same it is told once."""
    services, groups = Claims[str](), dict[str, str]()
    for name, pool in settings.pools.items():
        if pool.ecs:
            service = service_of(pool.ecs.cluster, pool.ecs.service, settings.region)
            claim = services.first(service)
            services.add(service, name)
            if claim:
                yield _capacity_twice(claim.owner, name, "ecs", pool.ecs.service, "ECS service")
        elif pool.asg and (first := groups.setdefault(pool.asg, name)) != name:
            yield _capacity_twice(first, name, "asg", pool.asg, "Auto Scaling group")


def _capacity_twice(mine: str, theirs: str, key: str, value: str, what: str) -> Finding:
    problem = f"is the {what} of the pool {mine!r} too: {mine!r} and {theirs!r} would undo each other's counts"
    fix = "give each pool its own, or make them one pool with several queues"
    among = tuple(("pools", name, side) for name in (mine, theirs) for side in ("ecs", "asg"))
    return Finding(("pools", theirs, key), value, problem, fix, among)


def _same_queue(settings: Settings) -> Iterator[Finding]:
    claims = Claims[str]()
    for name, pool in settings.pools.items():
        queues = [(text, queue_of(text, settings.region)) for text in pool.all_queues]
        key = "queue" if pool.queue is not None else "queues"
        yield from (
            _queue_twice(claim, name, key, text) for text, queue in queues if (claim := claims.first(queue)) is not None
        )
        for _, queue in queues:  # after all of them were looked for: a queue twice in one pool is that pool's fault
            claims.add(queue, name)


def _queue_twice(claim: Claim[str], theirs: str, key: str, text: str) -> Finding:
    """A fault, not a warning: each pool would start workers for the whole backlog, so twice what is needed."""
    sure = claim.match is Match.YES
    may_be = "is" if sure else "may be (one is written without its Region or account)"
    problem = f"{may_be} the queue of the pool {claim.owner!r} too: both would start workers for all of its messages"
    fix = "make them one pool" if sure else "write both as ARN or URL; if they are one queue, make them one pool"
    sides = (("pools", name, side) for name in (claim.owner, theirs) for side in ("queue", "queues"))
    return Finding(("pools", theirs, key), text, problem, fix, (("region",), *sides), warning=not sure)
