"""Others in the same world: KEDA with the HPA, Little's law, and perfect sight of the present."""

import math
from collections import deque
from dataclasses import dataclass, field

from tests.outside.world import World

__all__ = ["Keda", "Little", "Sight"]


@dataclass(eq=False)
class Keda:
    """`a_worker` messages (visible or in flight) for each worker, looked at every 15 s.

    Up at once, by as many as there are or four, down to the highest recommendation of five minutes, tolerance 0.1; to
    zero after five minutes without a message. It is given workers that finish what they run, however long that takes.
    """

    a_worker: float
    every_s: float = 15.0
    kind: bool = True
    _asked: deque[tuple[float, int]] = field(default_factory=deque)
    _active_s: float = 0.0

    def tick(self, world: World) -> None:
        counts, pool = world.queue.counts(), world.scenario.pool_at(world.scenario.pool, world.now_s)
        current, depth = world.platform.desired, counts.visible + counts.in_flight
        self._active_s = world.now_s if depth else self._active_s
        if not current:
            world.set_desired(min(1, pool.max_workers) if depth else 0)
            return
        ratio = depth / (self.a_worker * current)
        wanted = current if abs(ratio - 1) <= 0.1 else math.ceil(depth / self.a_worker)
        wanted = min(max(wanted, pool.min_workers, 1), pool.max_workers)
        self._asked.append((world.now_s, wanted))
        while self._asked[0][0] < world.now_s - 300.0:
            self._asked.popleft()
        wanted = max(count for _, count in self._asked) if wanted < current else wanted
        wanted = min(wanted, current + max(current, 4))
        if not pool.min_workers and world.now_s - self._active_s > 300.0:
            wanted = 0
        world.set_desired(min(wanted, current) if wanted < current else wanted)


@dataclass(eq=False)
class Little:
    """(arrivals + backlog ÷ half the target) × service time ÷ 0.7, told the true rate and mean, five minutes' hold."""

    utilization: float = 0.7
    every_s: float = 10.0
    kind: bool = True
    _asked: deque[tuple[float, int]] = field(default_factory=deque)

    def tick(self, world: World) -> None:
        pool = world.scenario.pool_at(world.scenario.pool, world.now_s)
        drain_per_s = world.queue.counts().visible / (pool.target_wait_s / 2)
        slots = (world.rate_per_s() + drain_per_s) * mean_s(world) / self.utilization
        wanted = min(max(math.ceil(slots / pool.slots_per_worker), pool.min_workers), pool.max_workers)
        self._asked.append((world.now_s, wanted))
        while self._asked[0][0] < world.now_s - 300.0:
            self._asked.popleft()
        current = world.platform.desired
        world.set_desired(wanted if wanted > current else min(current, max(count for _, count in self._asked)))


@dataclass(eq=False)
class Sight:
    """Sees all that is there, and nothing that is not: each waiting message's age, what is starting, the true times.

    The cheapest count that starts all that waits, and all that comes at the rate of the last minute, on time; what
    can't be on time is worked off within the target. `share` of the target is used: order is loose.
    """

    share: float = 0.7
    every_s: float = 10.0
    kind: bool = True
    _asked: deque[tuple[float, int]] = field(default_factory=deque)

    def tick(self, world: World) -> None:
        scenario = world.scenario
        pool, mean, start_s = scenario.pool_at(scenario.pool, world.now_s), mean_s(world), scenario.start_up_s
        rate_per_s, slots = world.rate_per_s(), pool.slots_per_worker
        dues = self._dues(world, rate_per_s)
        alive = world.platform.alive
        here = sum(worker.ready_s is not None for worker in alive)
        coming = len(alive) - here
        wanted = math.ceil(rate_per_s * mean / slots * 0.98)
        for at_s, due in dues:
            missing = due - here * slots * (at_s / mean + 0.5) - coming * slots * max(0.0, at_s - start_s / 2) / mean
            if missing > 0:
                left_s = at_s - start_s if at_s > start_s + mean / 2 else pool.target_wait_s
                wanted = max(wanted, here + coming + math.ceil(missing * mean / left_s / slots))
            else:
                wanted = max(wanted, math.ceil(due / (at_s / mean + 0.5) / slots) if at_s > start_s else 0)
        wanted = min(max(wanted, pool.min_workers, 1 if dues[-1][1] > 0 else 0), pool.max_workers)
        self._asked.append((world.now_s, wanted))
        while self._asked[0][0] < world.now_s - start_s:
            self._asked.popleft()
        current = world.platform.desired
        world.set_desired(wanted if wanted > current else min(current, max(count for _, count in self._asked)))

    def _dues(self, world: World, rate_per_s: float) -> list[tuple[float, float]]:
        """(seconds from now, messages to have been started by then), over the target and a start-up."""
        target_s = world.scenario.pool.target_wait_s * self.share
        span_s = target_s + world.scenario.start_up_s
        times = [span_s * (i + 1) / 24 for i in range(24)]
        counts = [0] * 25
        for message in world.queue.visible():
            left_s = max(0.0, message.due_s + target_s - world.now_s)
            counts[min(24, int(left_s / span_s * 24))] += 1
        dues, sum_ = [], 0.0
        for at_s, count in zip(times, counts, strict=False):
            sum_ += count
            dues.append((at_s, sum_ + rate_per_s * max(0.0, at_s - target_s)))
        return dues


def mean_s(world: World) -> float:
    """The true mean service time of now."""
    return world.mean_s * world.slower()
