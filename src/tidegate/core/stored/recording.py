"""One tick, whole: what was decided and everything that it was decided from, as one line of JSON."""

from dataclasses import dataclass
from typing import Final, Literal

from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.stored.schema import SCHEMA

__all__ = ["KIND", "Record"]

KIND: Final = "tidegate tick"
"""Stands in each line, so that another program's JSON lines are not taken for a recording."""


@dataclass(frozen=True, slots=True)
class Record:
    """Each stands for itself: it can be recomputed without the lines around it, which rotation may have taken away.

    `pool` are the settings as they held at the tick, `before` is the state that the tick began with.
    """

    pool: Pool
    before: PoolState
    observation: Observation
    decision: Decision
    schema: int = SCHEMA
    kind: Literal["tidegate tick"] = KIND
