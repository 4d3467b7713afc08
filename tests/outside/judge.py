"""One scenario under all contestants; the rivals' knobs are turned by hindsight."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.outside.ours import Ours
from tests.outside.result import Result
from tests.outside.rivals import Keda, Little, Sight
from tests.outside.scenario import Scenario
from tests.outside.world import World

__all__ = ["LATE_SHARE", "Verdict", "judge", "keda", "ours", "sight"]

LATE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Verdict:
    """What each came to in one scenario."""

    name: str
    ours: Result
    sight: Result
    little: Result
    keda: Result

    @property
    def blameless(self) -> bool:
        """At most 1 % late, or perfect sight of the present is late too."""
        return self.ours.late_share <= LATE_SHARE or self.sight.late_share > LATE_SHARE

    def ratio(self, rival: Result) -> float | None:
        """Our cost ÷ theirs; None where they are late."""
        return None if rival.late_share > LATE_SHARE else self.ours.cost / rival.cost


def judge(scenario: Scenario, seed: int = 1) -> Verdict:
    """The same messages for all."""
    return Verdict(
        scenario.name,
        ours(scenario, seed),
        sight(scenario, seed),
        World(scenario, Little(), seed).run(),
        keda(scenario, seed),
    )


def ours(scenario: Scenario, seed: int = 1) -> Result:
    """As it comes."""
    return World(scenario, Ours(scenario.tick_s), seed).run()


def sight(scenario: Scenario, seed: int = 1) -> Result:
    """With nearly all of the target used, or half of it."""
    return best(World(scenario, Sight(share), seed).run() for share in (0.9, 0.5))


def keda(scenario: Scenario, seed: int = 1) -> Result:
    """With the best of five depths: from a message for every two slots to a queue that takes half the target."""
    slots = scenario.pool.slots_per_worker
    world = World(scenario, Keda(slots), seed)
    a_target = 1 + scenario.pool.target_wait_s / world.mean_s
    depths = sorted({0.5, 1.0, 1.5, 1 + a_target / 4, 1 + a_target / 2})
    return best(World(scenario, Keda(slots * depth), seed).run() for depth in depths)


def best(results: Iterable[Result]) -> Result:
    """The cheapest that is not late, else the one that is least late."""

    def rank(result: Result) -> tuple[bool, float]:
        late = result.late_share > LATE_SHARE
        return late, result.late_share if late else result.cost

    return min(results, key=rank)
