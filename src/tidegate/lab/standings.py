"""Every policy as it comes over the cells that count: lateness, waits, what it costs, how restless it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.lab.rivals import OURS, PERFECT_SIGHT, RIVALS
from tidegate.lab.scoreboard import CLAIRVOYANT, Row
from tidegate.lab.tune import LATE_ALLOWED, Score

__all__ = ["Standing", "standings"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Means over cells, but for sums of worker-hours and the worst of hours. Waits in targets: 1 is just on time."""

    key: str
    title: str
    cells: int
    cells_on_time: float
    """Share of the cells with at most 1 % late."""
    traces_on_time: float
    """Share of the traces whose cells have at most 1 % late on average."""
    late_share: float
    worst_hour_late_share: float
    """Mean over cells of the worst hour of any window."""
    wait_p50: float
    wait_p99: float
    wait_max: float
    worker_hours: float
    starts_per_hour: float
    reversals_per_hour: float


def standings(rows: Sequence[Row]) -> tuple[Standing, ...]:
    """Ours, the rivals, and the two references; those that no cell has a score of are left out."""
    titles = {each.key: each.title for each in (OURS, *RIVALS, PERFECT_SIGHT)}
    titles[CLAIRVOYANT] = "achievable clairvoyant"
    found = {
        key: [(row, score) for row in rows if row.counts and (score := _score(row, key)) is not None] for key in titles
    }
    return tuple(_standing(key, titles[key], scored) for key, scored in found.items() if scored)


def _score(row: Row, key: str) -> Score | None:
    """As it comes; the clairvoyant only exists tuned."""
    return row.tuned(key) if key == CLAIRVOYANT else row.default(key)


def _standing(key: str, title: str, scored: Sequence[tuple[Row, Score]]) -> Standing:
    scores = [score for _, score in scored]
    by_trace: dict[str, list[float]] = {}
    for row, score in scored:
        by_trace.setdefault(row.cell.trace, []).append(score.late_share)
    return Standing(
        key=key,
        title=title,
        cells=len(scored),
        cells_on_time=_mean([float(score.met) for score in scores]),
        traces_on_time=_mean([float(_mean(late) <= LATE_ALLOWED) for late in by_trace.values()]),
        late_share=_mean([score.late_share for score in scores]),
        worst_hour_late_share=_mean([score.worst_hour_late_share for score in scores]),
        wait_p50=_mean([score.wait_p50_s / row.cell.target_s for row, score in scored]),
        wait_p99=_mean([score.wait_p99_s / row.cell.target_s for row, score in scored]),
        wait_max=_mean([score.wait_max_s / row.cell.target_s for row, score in scored]),
        worker_hours=sum(score.worker_hours for score in scores),
        starts_per_hour=_mean([score.starts_per_hour for score in scores]),
        reversals_per_hour=_mean([score.reversals_per_hour for score in scores]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
