"""A backtest as one page that opens from disk: no script, no network, light and dark, as good on a phone."""

from html import escape

import numpy as np

from tidegate.lab.backtest import REFERENCES, Backtest, Result
from tidegate.lab.report_backtest import by_cost, verdict
from tidegate.lab.report_svg import area, bar, curve, framed, level
from tidegate.lab.scenario import Floats
from tidegate.lab.tune import LATE_ALLOWED

__all__ = ["backtest_html"]

WAIT_TOP = 3.0
"""Waits are drawn up to so many targets; what is above touches the upper edge, and the figures say how much it was."""

STYLE = """
:root { color-scheme: light dark; --page: #fcfcfb; --ink: #1d1f23; --soft: #62666d; --line: #dfe1e4; --ours: #2a66d9;
  --fill: #a9c4f5; --other: #8a9099; --late: #c8501e; --target: #1d1f23; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --ink: #e9eaec; --soft: #9ba0a8; --line: #33373d;
  --ours: #6ea3ff; --fill: #2c4a80; --other: #7b818a; --late: #ff8a57; --target: #e9eaec; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; } h3 { font-size: 1rem; margin: 0; }
p { margin: .3rem 0; } .soft { color: var(--soft); font-size: .9rem; } .verdict { font-size: 1.1rem; }
svg { display: block; width: 100%; } svg.chart { height: 6rem; border-bottom: 1px solid var(--line); }
svg.bar { height: .9rem; } polyline, line { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.fill { fill: var(--fill); } .edge { stroke: var(--ours); } .wait { stroke: var(--ours); }
.others .fill { fill: var(--line); } .others .edge, .others .wait { stroke: var(--other); }
.target { stroke: var(--target); stroke-dasharray: 5 4; }
.ours { fill: var(--ours); } .ontime { fill: var(--other); } .late { fill: var(--late); }
.reference { fill: none; stroke: var(--other); stroke-width: 2; vector-effect: non-scaling-stroke; }
.cost { margin: .5rem 0; } .cost div, .head { display: flex; justify-content: space-between; gap: 1rem; }
.figures { font-variant-numeric: tabular-nums; white-space: nowrap; } .warn { color: var(--late); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1.2rem 1.6rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
"""


def backtest_html(told: Backtest, price: float | None) -> str:
    """The whole page."""
    ordered = by_cost(told.results)
    asked = told.question
    told_of = (
        f"{told.results[0].outcome.messages:,} messages in {_time(told.length_s)}, {asked.service_s:g} s of work each "
        f"on average, workers of {asked.slots_per_worker} slots that take {asked.start_up_s:g} s to start. "
        f"Target: no message waits longer than {asked.target_s:g} s."
    )
    parts = [
        f"<h1>Backtest: {escape(told.name)}</h1><p>{told_of}</p>",
        f'<p class="verdict">{escape(verdict(told, price))}.</p>',
        "<h2>What it costs</h2>",
        '<p class="soft">Worker-hours paid from the ask to the end. Orange: more than 1 % of the messages late. '
        "Outlines can't be had: they see what no program can.</p>",
        *(_cost(each, max(r.worker_hours for r in told.results if _drawn(r, told)), price) for each in ordered),
        "<h2>What arrives</h2>",
        _traffic(told),
        "<h2>Workers, and how long messages waited</h2>",
        '<p class="soft">Above the mean number of workers asked for, on one scale; below the longest wait of the '
        f"messages that arrived at each time, up to {WAIT_TOP:g} targets; the dashed line is the target.</p>",
        '<div class="cards">' + "".join(_card(each, told) for each in ordered) + "</div>",
        "<h2>All figures</h2>" + _table(ordered, price),
        f'<p class="soft">{_small_print(told)}</p>',
    ]
    title = f"tidegate backtest: {escape(told.name)}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _drawn(result: Result, told: Backtest) -> bool:
    """Bars are scaled to what costs up to eight times ours: one that goes astray would leave the others invisible."""
    return result.worker_hours <= 8 * told.results[0].worker_hours


def _cost(result: Result, top: float, price: float | None) -> str:
    late = result.outcome.late_share
    kind = "late" if late > LATE_ALLOWED else "ours" if result.key == "tidegate" else "ontime"
    kind = "reference" if result.key in REFERENCES else kind
    paid = f"{result.worker_hours:,.1f} h" + ("" if price is None else f" · ${result.worker_hours * price:,.2f}")
    words = f'<span class="{"warn" if late > LATE_ALLOWED else "soft"}">{late:.2%} late</span>'
    label = escape(f"{result.title}: {paid}, {late:.2%} late")
    return (
        f'<div class="cost"><div><span>{escape(result.title)}</span>'
        f'<span class="figures">{paid} · {words}</span></div>'
        + framed(bar(result.worker_hours, top, kind), label, "bar")
        + "</div>"
    )


def _traffic(told: Backtest) -> str:
    top = _top(told.arrivals_per_s)
    shown = area(told.arrivals_per_s.tolist(), top, "fill") + curve(told.arrivals_per_s.tolist(), top, "edge")
    return f'<p class="soft">up to {top:,.2f} messages a second</p>' + framed(shown, "arrivals", "chart") + _axis(told)


def _card(result: Result, told: Backtest) -> str:
    outcome, target_s = result.outcome, told.question.target_s
    most = max(_top(each.workers) for each in told.results if _drawn(each, told))
    workers = result.workers.tolist()
    waits = curve(result.waits_s.tolist(), WAIT_TOP * target_s, "wait") + level(target_s, WAIT_TOP * target_s, "target")
    shown = area(workers, most, "fill") + curve(workers, most, "edge")
    late = outcome.late_share > LATE_ALLOWED
    return (
        f'<section class="{"ours-card" if result.key == "tidegate" else "others"}">'
        f'<div class="head"><h3>{escape(result.title)}</h3>'
        f'<span class="figures {"warn" if late else "soft"}">{outcome.late_share:.2%} late</span></div>'
        f'<p class="soft">{escape(outcome.policy)} · up to {result.workers.max(initial=0.0):,.0f} workers · '
        f"longest wait {outcome.wait_max_s:,.0f} s</p>"
        + framed(shown, f"workers, up to {most:,.0f}", "chart")
        + framed(waits, f"waits, up to {WAIT_TOP:g} targets", "chart")
        + _axis(told)
        + "</section>"
    )


def _table(ordered: list[Result], price: float | None) -> str:
    heads = ["policy", "late", "worst hour", "p50 s", "p99 s", "max s", "worker-hours", "cost ÷ work", "changes/h"]
    heads += [] if price is None else ["$"]
    rows = "".join(_row(each, price) for each in ordered)
    return (
        '<div class="scroll"><table><thead><tr>'
        + "".join(f"<th>{head}</th>" for head in heads)
        + f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(result: Result, price: float | None) -> str:
    outcome = result.outcome
    values = [
        escape(result.title),
        f"{outcome.late_share:.2%}",
        f"{outcome.worst_hour_late_share:.1%}",
        *(f"{wait:,.1f}" for wait in (outcome.wait_p50_s, outcome.wait_p99_s, outcome.wait_max_s)),
        f"{result.worker_hours:,.1f}",
        f"{outcome.cost:.2f}",
        f"{outcome.changes_per_hour:.1f}",
        *([] if price is None else [f"{result.worker_hours * price:,.2f}"]),
    ]
    return "<tr>" + "".join(f"<td>{value}</td>" for value in values) + "</tr>"


def _axis(told: Backtest) -> str:
    return f'<div class="head soft"><span>0</span><span>{_time(told.length_s)}</span></div>'


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"


def _top(values: Floats) -> float:
    return max(float(np.nanmax(values, initial=0.0)), 1e-9)


def _small_print(told: Backtest) -> str:
    thinned = "" if told.thinned == 1 else f"Simulated with {told.thinned:.1%} of the messages, workers scaled up. "
    return (
        f"{thinned}Simulated by tidegate's lab: arrivals fall anywhere within their bin, counts are up to 60 s old and "
        "30 % off, a standard queue is read in random order. Every policy as it comes, none tuned to this trace."
    )
