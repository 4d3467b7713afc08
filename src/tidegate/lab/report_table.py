"""The scoreboard in a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from tidegate.lab.bootstrap import Mean
from tidegate.lab.headline import Headline, Versus
from tidegate.lab.standings import Standing
from tidegate.lab.stress import Strained

__all__ = ["print_headline", "print_stresses"]

LISTED = 15


def print_headline(console: Console, head: Headline) -> None:
    """The sums, ours against each rival, and where ours loses."""
    console.print(
        f"{head.counted} of {head.cells} cells count (perfect sight of the present has at most 1 % late); "
        f"{head.made_up} cells have a target under half a trace bin"
    )
    console.print(
        f"tidegate, one untuned default: at most 1 % late in {head.on_time:.0%} of them, {head.late_share:.2%} on "
        f"average, {head.worst_hour_late_share:.1%} in the worst hour; {head.reversals_per_hour:.1f} reversals an hour"
    )
    console.print(
        f"cost ÷ achievable clairvoyant {_mean(head.regret)}, ÷ LP bound {_mean(head.over_bound)} (4 workers up)"
    )
    console.print(_table(head.versus))
    console.print(_standings(head.standings))
    _list(console, "cells that do not count: perfect sight is late there", head.not_counted)
    _list(console, "cells in which ours is late as it comes", head.late)
    lost = [f"{loss.ratio:.2f}  {loss.cell}  against {loss.rival}" for loss in head.losses]
    _list(console, "where we lose: ours ÷ tuned rival, the worst first", lost)


def print_stresses(console: Console, rows: Iterable[Strained]) -> None:
    """A row per stress and policy, as they come in."""
    table = Table(title="one thing goes wrong at a time; target 120 s, start-up 60 s, 20 slots of bursty work")
    for column in ("stress", "policy"):
        table.add_column(column)
    for column in ("late", "late after 1 h", "cost ÷ work", "most workers", "changes/h after 1 h", "added into strain"):
        table.add_column(column, justify="right")
    last = ""
    for row in rows:
        if row.stress != last:
            table.add_section()
        table.add_row(
            row.stress if row.stress != last else "",
            row.policy,
            f"{row.late_share:.2%}",
            f"{row.late_share_settled:.2%}",
            f"{row.cost:.2f}",
            str(row.peak_workers),
            f"{row.changes_per_hour_settled:.1f}",
            "–" if row.added_into_strain is None else str(row.added_into_strain),
        )
        last = row.stress
    console.print(table)


def _table(versus: Sequence[Versus]) -> Table:
    table = Table(title="ours ÷ theirs, geometric mean over cells [95 % of bootstrap draws over traces]")
    table.add_column("rival")
    for column in ("tuned by hindsight", "cells", "can't meet", "as it comes"):
        table.add_column(column, justify="right")
    for each in versus:
        table.add_row(
            each.title,
            _mean(each.tuned),
            str(each.tuned.cells if each.tuned else 0),
            str(len(each.unmet)),
            _mean(each.default),
        )
    return table


def _standings(standings: Sequence[Standing]) -> Table:
    table = Table(title="every policy as it comes: means over the cells that count, waits in targets")
    table.add_column("policy")
    late = ("late", "worst hour", "p50 ÷ T", "p99 ÷ T", "max ÷ T")
    for column in (*late, "worker-h", "cells met", "traces met", "starts/h", "rev./h"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in standings:
        table.add_row(
            each.title,
            f"{each.late_share:.2%}",
            f"{each.worst_hour_late_share:.1%}",
            *(f"{wait:.2f}" for wait in (each.wait_p50, each.wait_p99, each.wait_max)),
            f"{each.worker_hours:,.0f}",
            f"{each.cells_on_time:.0%}",
            f"{each.traces_on_time:.0%}",
            f"{each.starts_per_hour:.1f}",
            f"{each.reversals_per_hour:.1f}",
        )
    return table


def _mean(mean: Mean | None) -> str:
    return "–" if mean is None else f"{mean.value:.2f} [{mean.low:.2f}–{mean.high:.2f}]"


def _list(console: Console, title: str, names: Sequence[str]) -> None:
    if not names:
        return
    console.print(f"{title} ({len(names)}):")
    for name in names[:LISTED]:
        console.print(f"  {name}")
    if len(names) > LISTED:
        console.print(f"  and {len(names) - LISTED} more (all are in the JSON)")
