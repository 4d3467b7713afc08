"""A backtest as one page that opens from disk: no script, no network, light and dark, as good on a phone."""

from html import escape

from tidegate.lab.backtest import REFERENCES, Backtest, Result
from tidegate.lab.report_backtest import by_cost, cheapest_other, on_time, verdict
from tidegate.lab.report_charts import arrivals, card
from tidegate.lab.report_figures import figures_table
from tidegate.lab.report_plot import duration
from tidegate.lab.report_style import STYLE

__all__ = ["backtest_html"]

CUT_AT = 8.0
"""Bars and worker charts reach to so many times ours: one that goes astray would leave the others invisible."""


def backtest_html(told: Backtest, price: float | None) -> str:
    """The whole page."""
    ordered = by_cost(told.results)
    ours = told.results[0]
    title = f"tidegate backtest: {escape(told.name)}"
    parts = [
        f"<h1>Backtest: {escape(told.name)}</h1><p>{_about(told)}</p>",
        f'<div class="tiles">{_tiles(told, price)}</div>',
        f"<p>{escape(verdict(told, price))}.</p>",
        f'<h2>What it costs</h2><p class="soft">{_LEGEND}</p>',
        f'<div class="card bars">{"".join(_bar(each, _top(told), price) for each in ordered)}</div>',
        f'<h2>What arrives</h2><div class="card wide">{arrivals(told)}</div>',
        f'<h2>Workers, and how long messages waited</h2><p class="soft">{_CHARTS}</p>',
        f'<div class="cards">{card(ours, told, wide=True)}'
        + "".join(card(each, told) for each in ordered if each is not ours)
        + "</div>",
        f'<h2>All figures</h2><div class="card scroll">{figures_table(ordered, price)}</div>',
        f'<h2>About these figures</h2><ul class="soft">{_small_print(told)}</ul>',
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


_LEGEND = (
    "Worker-hours paid, from the ask to the end; those on time first. Striped orange: more than 1 % of the messages "
    "late. Dashed: not to be had, they see what no program can. A bar that fades out goes on."
)
_CHARTS = (
    "The line is the mean number of workers asked for, the shade the work that arrives, in workers that are always "
    "busy. Below: the longest wait of the messages that arrived at each time, orange where it is over the target (the "
    "dashed line); the axis ends at three targets."
)


def _about(told: Backtest) -> str:
    asked = told.question
    return (
        f"{told.results[0].outcome.messages:,} messages in {duration(told.length_s)}, {duration(asked.service_s)} of "
        f"work each on average, workers of {asked.slots_per_worker} slots that take {duration(asked.start_up_s)} to "
        f"start. Target: no message waits longer than {duration(asked.target_s)}."
    )


def _tiles(told: Backtest, price: float | None) -> str:
    ours = told.results[0]
    late = f"of the messages waited longer than {duration(told.question.target_s)}"
    tiles = [
        ("late", f"{ours.outcome.late_share:.2%}", late, not on_time(ours)),
        ("paid", f"{ours.worker_hours:,.1f} h", _dollars(ours, price) or "worker-hours, start-ups included", False),
        (
            "99 % started within",
            duration(ours.outcome.wait_p99_s),
            f"the last after {duration(ours.outcome.wait_max_s)}",
            False,
        ),
    ]
    best = cheapest_other(told)
    if best is not None and ours.worker_hours:
        ratio = f"× {best.worker_hours / ours.worker_hours:.2f}"
        tiles.append(("cheapest other on time", ratio, f"of tidegate's worker-hours: {best.title}", False))
    return "".join(
        f'<div class="card"><span class="soft">{head}</span><b{" class=warn" if warn else ""}>{value}</b>'
        f'<span class="soft">{escape(tail)}</span></div>'
        for head, value, tail, warn in tiles
    )


def _dollars(result: Result, price: float | None) -> str:
    return "" if price is None else f"${result.worker_hours * price:,.2f}"


def _top(told: Backtest) -> float:
    """Where the bars end: the dearest of those that don't go astray."""
    ours = told.results[0].worker_hours
    return max(each.worker_hours for each in told.results if each.worker_hours <= CUT_AT * ours)


def _bar(result: Result, top: float, price: float | None) -> str:
    late, cut = result.outcome.late_share, result.worker_hours > top
    kinds = {
        "is-ours": result.key == "tidegate",
        "is-late": not on_time(result),
        "is-reference": result.key in REFERENCES,
        "is-cut": cut,
    }
    paid = " · ".join(filter(None, (f"{result.worker_hours:,.1f} h", _dollars(result, price))))
    wide = 100.0 if cut or top <= 0 else 100.0 * result.worker_hours / top
    words = f'<span class="{"soft" if on_time(result) else "warn"}">{late:.2%} late</span>'
    return (
        f'<div class="{" ".join(["bar", *(kind for kind, holds in kinds.items() if holds)])}">'
        f'<span class="name">{escape(result.title)}</span>'
        f'<div class="track"><div class="fill" style="width:{wide:.1f}%"></div></div>'
        f'<span class="num">{paid} · {words}</span></div>'
    )


def _small_print(told: Backtest) -> str:
    said = [*told.notes]
    if told.thinned != 1:
        said.append(f"Simulated with {told.thinned:.1%} of the messages, workers scaled up.")
    said.append("Every policy as it comes, none tuned to this trace; the target applies to all of them.")
    order = "in the order of sending" if told.question.fifo else "in random order, as a standard queue is"
    said.append(
        "Simulated by tidegate's lab: arrivals fall anywhere within their bin, counts are up to 60 s old and 30 % off, "
        f"the queue is read {order}."
    )
    return "".join(f"<li>{escape(each)}</li>" for each in said)
