"""Every figure of a backtest: one list of columns, for the page's table and for JSON."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from tidegate.lab.backtest import REFERENCES, Result
from tidegate.lab.tune import LATE_ALLOWED

__all__ = ["COLUMNS", "Column", "figures_table"]


@dataclass(frozen=True, slots=True)
class Column:
    """`key` is the figure's name in JSON; `text` writes it for people."""

    key: str
    title: str
    value: Callable[[Result], float]
    text: Callable[[float], str]


COLUMNS = (
    Column("late_share", "late", lambda each: each.outcome.late_share, lambda value: f"{value:.2%}"),
    Column(
        "worst_hour_late_share",
        "worst hour",
        lambda each: each.outcome.worst_hour_late_share,
        lambda value: f"{value:.1%}",
    ),
    Column("wait_p50_s", "median wait, s", lambda each: each.outcome.wait_p50_s, lambda value: f"{value:,.1f}"),
    Column("wait_p99_s", "99 % wait, s", lambda each: each.outcome.wait_p99_s, lambda value: f"{value:,.1f}"),
    Column("wait_max_s", "longest wait, s", lambda each: each.outcome.wait_max_s, lambda value: f"{value:,.1f}"),
    Column("worker_hours", "worker-hours", lambda each: each.worker_hours, lambda value: f"{value:,.1f}"),
    Column("cost", "cost ÷ work", lambda each: each.outcome.cost, lambda value: f"{value:.2f}"),
    Column("starts", "starts", lambda each: each.outcome.starts, lambda value: f"{value:,.0f}"),
    Column("changes_per_hour", "changes/h", lambda each: each.outcome.changes_per_hour, lambda value: f"{value:.1f}"),
)


def figures_table(ordered: Sequence[Result], price: float | None) -> str:
    """A row per policy. Each cell carries its figure in full (`data-value`), as the JSON has it."""
    columns = COLUMNS if price is None else (*COLUMNS, _priced(price))
    heads = "".join(f'<th scope="col">{title}</th>' for title in ("policy", *(column.title for column in columns)))
    rows = "".join(_row(each, columns) for each in ordered)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _priced(price: float) -> Column:
    return Column("dollars", "$", lambda each: each.worker_hours * price, lambda value: f"{value:,.2f}")


def _row(result: Result, columns: Sequence[Column]) -> str:
    kinds = {
        "is-ours": result.key == "tidegate",
        "is-late": result.outcome.late_share > LATE_ALLOWED,
        "is-reference": result.key in REFERENCES,
    }
    cells = "".join(
        f'<td data-figure="{column.key}" data-value="{value!r}">{column.text(value)}</td>'
        for column in columns
        for value in [float(column.value(result))]
    )
    named = " ".join(kind for kind, holds in kinds.items() if holds)
    return f'<tr class="{named}" data-policy="{result.key}"><td>{escape(result.title)}</td>{cells}</tr>'
