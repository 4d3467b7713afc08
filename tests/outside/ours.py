"""tidegate in this world: what its controller would see at a tick, `decide`, and what it would do."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.outside.world import World
from tidegate import Decision, Observation, PoolState, decide
from tidegate.core.absence import Absence
from tidegate.core.observation import QueueObservation, Reading
from tidegate.core.reports import Fleet

__all__ = ["Ours"]


@dataclass(eq=False)
class Ours:
    """`note` is shown every decision."""

    every_s: float = 10.0
    kind: bool = False
    state: PoolState = field(default_factory=PoolState)
    note: Callable[[World, Observation, Decision], None] | None = None

    def tick(self, world: World) -> None:
        """Observe, decide, tell the workers, set the count."""
        seen = observe(world)
        pool = replace(world.scenario.pool_at(world.scenario.pool, world.now_s), tick_s=self.every_s)
        before = self.state
        decision, self.state = decide(pool, before, seen)
        if self.note is not None:
            self.note(world, seen, decision)
        world.crew.directive = self.state.directive
        if not world.set_desired(decision.desired):
            self.state = replace(self.state, desired=before.desired)


def observe(world: World) -> Observation:
    """What can be had of the world now."""
    now_s, counts = world.now_s, world.queue.counts()
    minutes = [one for one in world.minutes[-12:] if one.seen_s <= now_s]
    none = Reading(None, now_s, Absence.MISSING)
    age = sent = deleted = none
    if minutes:
        last = minutes[-1]
        age = none if last.age_s is None else Reading(last.age_s, last.end_s)
        sent, deleted = Reading(last.sent / 60.0, last.end_s), Reading(last.deleted / 60.0, last.end_s)
    queue = QueueObservation(
        queue="own.fifo" if world.scenario.fifo else "own",
        visible=Reading(counts.visible, now_s),
        in_flight=Reading(counts.in_flight, now_s),
        delayed=Reading(counts.delayed, now_s),
        age_s=age,
        sent_per_s=sent,
        deleted_per_s=deleted,
    )
    return Observation(now_s, (queue,), world.platform.capacity(now_s), _fleet(world))


def _fleet(world: World) -> Fleet:
    if not world.scenario.signals.reporting:
        return Fleet(world.now_s, absence=Absence.MISSING)
    dark = world.scenario.faults.table_outage
    if dark is not None and dark[0] <= world.now_s < dark[1]:
        return Fleet(world.now_s, absence=Absence.THROTTLED)
    return Fleet(world.now_s, world.crew.heard())
