"""Keep what every decision was made from, so that it can be made again: `tidegate replay`."""

from collections.abc import Callable

from tidegate.controller.tick import Decide
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.stored.recording import Record

__all__ = ["Keep", "recorded"]

Keep = Callable[[Record], None]
"""Takes one record. It raises nothing: what can't be kept is lost, and the tick goes on."""


def recorded(decide: Decide, keep: Keep) -> Decide:
    """`decide`, handing each decision to `keep` with all that it was made from.

    A decision that another controller's save made void is among them: it was made all the same, and a tick that was
    tried again is told by its time.
    """

    def deciding(pool: Pool, state: PoolState, observation: Observation) -> tuple[Decision, PoolState]:
        decision, after = decide(pool, state, observation)
        keep(Record(pool, state, observation, decision))
        return decision, after

    return deciding
