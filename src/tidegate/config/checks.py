"""What one pool's settings mean together. Each check yields what it finds; none needs another to have passed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

from tidegate.config.claims import Claims
from tidegate.config.findings import ABSENT, At, Finding
from tidegate.config.models import Settings
from tidegate.config.pool import PoolSettings
from tidegate.config.resources import Match, Resource, alarm_of, cluster_in, cluster_of, queue_of
from tidegate.core.notation.durations import format_duration
from tidegate.core.workers.leases import LeaseRisk, lease_risk

__all__ = ["check_pool"]

Check = Callable[[At, PoolSettings, Settings], Iterator[Finding]]


def check_pool(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    """Every fault and warning about this pool, which is at `at`."""
    for check in _CHECKS:
        yield from check(at, pool, settings)


def _one_kind_of_queue(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    queue, queues = (*at, "queue"), (*at, "queues")
    if pool.queue is None and pool.queues is None:
        yield Finding(
            queue, ABSENT, "is missing: the pool has no queue", 'set queue = "NAME", or queues = [...]', (queues,)
        )
    elif pool.queue is not None and pool.queues is not None:
        yield Finding(queue, pool.queue, "is set together with queues", "keep one of the two", (queues,))


def _each_queue_once(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    queues = [queue_of(text, settings.region) for text in pool.queues or ()]
    yield from _each_once((*at, "queues"), pool.queues or (), queues, "write both as ARN or URL")


def _each_alarm_once(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    alarms = [alarm_of(text, settings.region) for text in pool.hold_on_alarms]
    yield from _each_once((*at, "hold_on_alarms"), pool.hold_on_alarms, alarms, "write both as ARN")


def _each_once(at: At, texts: Sequence[str], resources: Sequence[Resource], tell: str) -> Iterator[Finding]:
    """`resources` are what the texts name; `tell` is how two that may be one are told apart."""
    claims = Claims[int]()
    for place, (text, resource) in enumerate(zip(texts, resources, strict=True)):
        claim = claims.first(resource)
        claims.add(resource, place)
        if claim and claim.match is Match.YES:
            yield Finding((*at, place), text, "is in the list twice", "remove one of them", (("region",),))
        elif claim:
            problem = "may be in the list twice (one is written without its Region or account)"
            yield Finding((*at, place), text, problem, f"{tell}; remove one if they are one", warning=True)


def _one_kind_of_capacity(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    ecs, asg = (*at, "ecs"), (*at, "asg")
    if pool.ecs is None and pool.asg is None:
        fix = 'set ecs = { cluster = "NAME", service = "NAME" }, or asg = "NAME"'
        yield Finding(ecs, ABSENT, "is missing: the pool has nothing to scale", fix, (asg,))
    elif pool.ecs is not None and pool.asg is not None:
        fix = "keep one of the two; make a second pool for the other"
        yield Finding(asg, pool.asg, "is set together with ecs", fix, (ecs,))


def _service_in_its_cluster(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    said = cluster_in(pool.ecs.service) if pool.ecs else None
    if pool.ecs is None or said is None:
        return
    home = cluster_of(pool.ecs.cluster)
    if home.match(replace(said, name=said.name or home.name)) is Match.NO:
        there = f"the cluster {said.name} of " if said.name else ""
        problem = f"is in {there}{said.region}, account {said.account}, and not in ecs.cluster = {pool.ecs.cluster!r}"
        fix = "write the service and the cluster that it is in"
        yield Finding((*at, "ecs", "service"), pool.ecs.service, problem, fix, ((*at, "ecs", "cluster"),))


def _minimum_and_maximum(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    if pool.min_workers > pool.max_workers:
        yield Finding(
            (*at, "min_workers"),
            pool.min_workers,
            f"is more than max_workers = {pool.max_workers}",
            f"lower it to {pool.max_workers} or less, or raise max_workers",
            ((*at, "max_workers"),),
        )


def _ramp(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    if pool.ramp.percent == 0 and pool.ramp.workers == 0:
        fix = "set ramp = { percent = 400, workers = 20 } or at least workers = 1"
        yield Finding((*at, "ramp"), asdict(pool.ramp), "adds no workers at all: both are 0", fix)
    elif pool.ramp.workers == 0 and pool.min_workers == 0:
        problem = "is 0 while min_workers is 0: any percentage of no workers is none, so the first is never added"
        yield Finding(
            (*at, "ramp", "workers"), 0, problem, "set it to 1 or more", ((*at, "min_workers"), (*at, "ramp"))
        )


def _lease(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    every, lease = pool.lease_heartbeat_s, pool.visibility_timeout_s
    if every is None:
        return
    place, among = (*at, "lease_heartbeat"), ((*at, "visibility_timeout"),)
    risk = None if lease is None else lease_risk(every, lease)
    if lease is None or risk is None:
        return
    sure = risk is LeaseRisk.LAPSES
    compared = "not shorter than" if sure else "more than half of"
    problem = f"is {compared} visibility_timeout = {_text(lease)}: {risk}"
    yield Finding(place, _text(every), problem, f"set it to {_text(lease / 3)} or less", among, warning=not sure)


def _start_up(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    start_up = pool.start_up_hint_s
    if start_up is None:
        return
    if pool.hold_s is not None and pool.hold_s < start_up:
        problem = (
            f"is shorter than start_up_hint = {_text(start_up)}: workers are taken away sooner than new ones can come"
        )
        yield Finding((*at, "hold"), _text(pool.hold_s), problem, f"set it to {_text(start_up)} or more", warning=True)
    if pool.target_wait_s is not None and pool.target_wait_s < start_up:
        problem = (
            f"is shorter than start_up_hint = {_text(start_up)}: "
            "a burst above the capacity that stands ready will be late, whatever the controller does"
        )
        fix = "keep spare capacity with min_workers or a lower utilization, start workers faster, or raise the target"
        yield Finding((*at, "target_wait"), _text(pool.target_wait_s), problem, fix, warning=True)


def _times(at: At, pool: PoolSettings, settings: Settings) -> Iterator[Finding]:
    target, tick = pool.target_wait_s, settings.tick_s
    if target is not None and tick > target:
        problem = f"is shorter than tick = {_text(tick)}: messages can be late before the controller has looked"
        fix = f"set tick to {_text(target / 2)} or less"
        yield Finding((*at, "target_wait"), _text(target), problem, fix, warning=True)
    service = pool.service_time_hint_s
    if service is not None and pool.stop_timeout_s < service:
        problem = (
            f"is shorter than service_time_hint = {_text(service)}: workers that the platform does not spare are not "
            "scaled in while any is busy, and deployments interrupt handlers"
        )
        fix = f"let workers be protected (docs/worker.md), or set it (and the platform's) to more than {_text(service)}"
        yield Finding((*at, "stop_timeout"), _text(pool.stop_timeout_s), problem, fix, warning=True)


def _text(seconds: float) -> str:
    return format_duration(seconds)


_CHECKS: tuple[Check, ...] = (
    _one_kind_of_queue,
    _each_queue_once,
    _each_alarm_once,
    _service_in_its_cluster,
    _one_kind_of_capacity,
    _minimum_and_maximum,
    _ramp,
    _lease,
    _start_up,
    _times,
)
