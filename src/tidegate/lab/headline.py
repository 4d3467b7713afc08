"""The scoreboard's sums: who keeps the target, and what ours costs against each of the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidegate.lab.bootstrap import Mean, geometric_mean
from tidegate.lab.rivals import OURS, RIVALS, Rival
from tidegate.lab.scoreboard import CLAIRVOYANT, Row
from tidegate.lab.standings import Standing, standings
from tidegate.lab.tune import Score

__all__ = ["Headline", "Loss", "Versus", "headline"]

MEAN_WORKERS_FOR_REGRET = 4.0
SLOTS_PER_WORKER = 4

Pick = Callable[[Row], float | None]


@dataclass(frozen=True, slots=True)
class Versus:
    """Ours against one rival, over the cells that count. Below 1 ours is the cheaper one."""

    key: str
    title: str
    tuned: Mean | None
    """Ours (raised where it is late, until it is not) ÷ the rival tuned by hindsight, where the rival has an answer."""
    unmet: tuple[str, ...]
    """Cells in which no setting of the rival's knob is on time (at up to 30 times the cost of the work)."""
    default: Mean | None
    """Ours as it comes ÷ the rival as it comes, late or not."""
    default_late_share: float
    """Mean over the cells."""
    default_on_time: float
    """Share of the cells in which the rival as it comes has at most 1 % late."""
    default_reversals_per_hour: float


@dataclass(frozen=True, slots=True)
class Loss:
    """A cell in which a tuned rival is cheaper than ours."""

    cell: str
    rival: str
    ratio: float


@dataclass(frozen=True, slots=True)
class Headline:
    """Everything that the table shows."""

    cells: int
    counted: int
    made_up: int
    on_time: float
    """Share of the counted cells in which ours, untuned, has at most 1 % late."""
    late_share: float
    worst_hour_late_share: float
    reversals_per_hour: float
    versus: tuple[Versus, ...]
    regret: Mean | None
    """Ours (raised where late) ÷ the achievable clairvoyant, at four or more mean workers."""
    over_bound: Mean | None
    not_counted: tuple[str, ...]
    late: tuple[str, ...]
    losses: tuple[Loss, ...]
    """Every one, the worst first."""
    standings: tuple[Standing, ...]


def headline(rows: Sequence[Row]) -> Headline:
    """Sum up; every share and mean is over the cells that count."""
    counted = [row for row in rows if row.counts]
    ours = [score for row in counted if (score := row.default(OURS.key)) is not None]
    large = [row for row in counted if row.cell.load_slots >= MEAN_WORKERS_FOR_REGRET * SLOTS_PER_WORKER]
    return Headline(
        cells=len(rows),
        counted=len(counted),
        made_up=sum(row.made_up for row in rows),
        on_time=_mean([float(each.met) for each in ours]),
        late_share=_mean([each.late_share for each in ours]),
        worst_hour_late_share=_mean([each.worst_hour_late_share for each in ours]),
        reversals_per_hour=_mean([each.reversals_per_hour for each in ours]),
        versus=tuple(_versus(rival, counted) for rival in RIVALS),
        regret=_ratio(large, _raised, lambda row: _cost(row.tuned(CLAIRVOYANT))),
        over_bound=_ratio(large, _raised, lambda row: row.bound),
        not_counted=tuple(row.cell.name for row in rows if not row.counts),
        late=tuple(row.cell.name for row in counted if not _met(row.default(OURS.key))),
        losses=_losses(counted),
        standings=standings(rows),
    )


def _versus(rival: Rival, counted: Sequence[Row]) -> Versus:
    defaults = [score for row in counted if (score := row.default(rival.key)) is not None]
    return Versus(
        key=rival.key,
        title=rival.title,
        tuned=_ratio(counted, _raised, lambda row: _cost(row.tuned(rival.key))),
        unmet=tuple(row.cell.name for row in counted if row.tuned(rival.key) is None),
        default=_ratio(counted, lambda row: _cost(row.default(OURS.key)), lambda row: _cost(row.default(rival.key))),
        default_late_share=_mean([each.late_share for each in defaults]),
        default_on_time=_mean([float(each.met) for each in defaults]),
        default_reversals_per_hour=_mean([each.reversals_per_hour for each in defaults]),
    )


def _ratio(rows: Sequence[Row], ours: Pick, theirs: Pick) -> Mean | None:
    by_trace: dict[str, list[float]] = {}
    for row in rows:
        mine, other = ours(row), theirs(row)
        if mine and other:
            by_trace.setdefault(row.cell.trace, []).append(mine / other)
    return geometric_mean(by_trace)


def _raised(row: Row) -> float | None:
    return _cost(row.tuned(OURS.key))


def _cost(score: Score | None) -> float | None:
    return None if score is None else score.cost


def _met(score: Score | None) -> bool:
    return score is not None and score.met


def _losses(counted: Sequence[Row]) -> tuple[Loss, ...]:
    found = [
        Loss(row.cell.name, rival.title, mine / theirs)
        for row in counted
        for rival in RIVALS
        if (mine := _raised(row)) and (theirs := _cost(row.tuned(rival.key))) and mine > theirs
    ]
    return tuple(sorted(found, key=lambda loss: -loss.ratio))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
