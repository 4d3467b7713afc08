"""What a table of costs says of the limits: which cells count, and whether each limit holds in all of these."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.worker.cells import Cell, Cost, Table
from tests.bench.worker.contestants import CONTENDERS, LIMIT, OURS

__all__ = ["LEAST_CELLS", "Verdict", "not_bound_by_the_client", "verdicts"]

LEAST_CELLS: Final = 6
_SERVER_SHARE: Final = 0.80
_CLIENT_SHARE: Final = 0.90
_LOOP: Final = "boto3 loop"
_LANGUAGES: Final = {each.name: each.language for each in CONTENDERS}

Costs = Mapping[str, Cost]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One limit: its sentence, and whether it holds; None where no cell says anything.

    `hoped`: it was set for the best of Python, and a bare loop in threads, which keeps no lease, may be that.
    """

    holds: bool | None
    text: str
    hoped: bool = False

    @property
    def line(self) -> str:
        """For the end of the table."""
        return f"{'HOLDS' if self.holds else 'no verdict' if self.holds is None else 'MISSED'}: {self.text}"


@dataclass(frozen=True, slots=True)
class _Limit:
    """`figure` is what a cell shows; None where it has nothing to show."""

    name: str
    figure: Callable[[Cell, Costs], float | None]
    least: float | None = None
    most: float | None = None
    hoped: bool = False


def not_bound_by_the_client(cost: Cost) -> str | None:
    """Why this cell says nothing of our worker's speed; None when it does."""
    if cost.server_share >= _SERVER_SHARE:
        return f"the endpoint took {cost.server_share:.0%} of its core"
    if cost.worker_share <= _CLIENT_SHARE:
        return f"the worker took {cost.worker_share:.0%} of its core"
    return None


def verdicts(table: Table) -> list[Verdict]:
    """Each limit in the cells that are bound by the client."""
    counting = {cell: costs for cell, costs in table.items() if not_bound_by_the_client(costs[OURS]) is None}
    return [_judged(limit, counting) for limit in _LIMITS]


def _judged(limit: _Limit, table: Table) -> Verdict:
    shown = {cell: figure for cell, costs in table.items() if (figure := limit.figure(cell, costs)) is not None}
    if not shown:
        return Verdict(None, f"{limit.name}: no cell says", limit.hoped)
    missed = [cell.name for cell, figure in shown.items() if not _keeps(limit, figure)]
    worst = max(shown.values()) if limit.least is None else min(shown.values())
    text = f"{limit.name}: held in {len(shown) - len(missed)} of {len(shown)} cells, at worst {worst:.2f}"
    return Verdict(not missed, text + (f"; missed at {'; '.join(missed)}" if missed else ""), limit.hoped)


def _keeps(limit: _Limit, figure: float) -> bool:
    return (limit.least is None or figure >= limit.least) and (limit.most is None or figure <= limit.most)


def _times_the_limit(_: Cell, costs: Costs) -> float | None:
    return costs[OURS].rate_per_s / costs[LIMIT].rate_per_s if LIMIT in costs else None


def _rivals(costs: Costs, languages: Sequence[str], but: str) -> Iterator[float]:
    for name, cost in costs.items():
        if name not in (OURS, LIMIT, but) and _LANGUAGES[name] in languages:
            yield cost.rate_per_s


def _times_the_best(*languages: str, but: str = "") -> Callable[[Cell, Costs], float | None]:
    def figure(_: Cell, costs: Costs) -> float | None:
        best = max(_rivals(costs, languages, but), default=None)
        return None if best is None else costs[OURS].rate_per_s / best

    return figure


def _calls_at_100(cell: Cell, costs: Costs) -> float | None:
    return costs[OURS].calls if cell.concurrency == 100 else None


_LIMITS: Final = (
    _Limit("at least 0.85 × the bare aiobotocore loop", _times_the_limit, least=0.85),
    _Limit("at least 2 × the best library of Python", _times_the_best("Python", but=_LOOP), least=2.0),
    _Limit(
        "at least 2 × the best of Python, the boto3 loop included", _times_the_best("Python"), least=2.0, hoped=True
    ),
    _Limit("at least 1.0 × the best of all", _times_the_best("Python", "Node"), least=1.0),
    _Limit("at most 0.25 calls per message at 100", _calls_at_100, most=0.25),
)
