"""What the scoreboard is made of: one policy in one cell."""

from dataclasses import dataclass

from tidegate.lab.cells import Cell, Windows
from tidegate.lab.tune import Score

__all__ = ["Part", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """Work out the policy named `key` in this cell."""

    cell: Cell
    windows: Windows
    key: str


@dataclass(frozen=True, slots=True)
class Part:
    """The policy as it comes, and tuned to the least cost that is on time (None: there is none, or no knob).

    `bound` is the optimum's cost ÷ work, for the linear program.
    """

    default: Score | None = None
    tuned: Score | None = None
    bound: float | None = None
