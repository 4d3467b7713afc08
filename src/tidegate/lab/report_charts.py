"""The charts of a backtest: what arrives; and for each policy its workers, over the waits that came of them."""

import math
from collections.abc import Callable
from html import escape

import numpy as np

from tidegate.lab.backtest import Backtest, Result
from tidegate.lab.report_backtest import on_time
from tidegate.lab.report_plot import duration, nice_top, plot
from tidegate.lab.report_svg import area, bars, curve, level
from tidegate.lab.scenario import Floats

__all__ = ["arrivals", "card"]

WAIT_TOP = 3.0
"""Waits are drawn up to so many targets; what is above touches the upper edge, and the figures say how much it was."""
CUT_AT = 8.0
TOLD = 48
"""Parts of a chart that say their figures at the pointer."""


def arrivals(told: Backtest) -> str:
    """Messages a second over time."""
    top = nice_top(_most(told.arrivals_per_s))
    shown = area(told.arrivals_per_s.tolist(), top, "work") + curve(told.arrivals_per_s.tolist(), top, "edge")
    says = _told(told, told.arrivals_per_s, np.mean, lambda value: f"{value:.3g} messages/s")
    label = f"arrivals, up to {_most(told.arrivals_per_s):.3g} messages a second"
    chart = plot(shown, title="messages a second", label=label, top=top, length_s=told.length_s, told=says)
    return f'<div class="ours">{chart}</div>'


def card(result: Result, told: Backtest, *, wide: bool = False) -> str:
    """One policy; ours is wide."""
    outcome = result.outcome
    kinds = " ".join(["card", "wide", "ours"] if wide else ["card"])
    return (
        f'<section class="{kinds}"><div class="head"><h3>{escape(result.title)}</h3>'
        f'<span class="num {"soft" if on_time(result) else "warn"}">{outcome.late_share:.2%} late</span></div>'
        f'<p class="soft">{escape(outcome.policy)} · {result.worker_hours:,.1f} worker-hours · '
        f"longest wait {duration(outcome.wait_max_s)}</p>{_workers(result, told)}{_waits(result, told)}</section>"
    )


def _workers(result: Result, told: Backtest) -> str:
    asked = told.question
    work = told.arrivals_per_s * asked.service_s / asked.slots_per_worker
    ours = told.results[0].worker_hours
    top = nice_top(max(_most(each.workers) for each in told.results if each.worker_hours <= CUT_AT * ours))
    shown = area(work.tolist(), top, "work") + curve(result.workers.tolist(), top, "edge")
    says = _told(told, result.workers, np.mean, lambda value: f"{value:.3g} workers")
    label = f"workers of {escape(result.title)}, up to {_most(result.workers):,.0f}"
    return plot(shown, title="workers", label=label, top=top, length_s=told.length_s, told=says)


def _waits(result: Result, told: Backtest) -> str:
    target_s = told.question.target_s
    top = WAIT_TOP * target_s
    late = np.where(result.waits_s > target_s, result.waits_s, np.nan)
    shown = bars(result.waits_s.tolist(), top, "wait") + bars(late.tolist(), top, "over")
    shown += level(target_s, top, "target")
    says = _told(told, result.waits_s, np.nanmax, lambda value: f"longest wait {duration(value)}")
    most = duration(result.outcome.wait_max_s)
    label = f"longest waits of {escape(result.title)}, up to {most}; target {duration(target_s)}"
    return plot(
        shown,
        title="longest wait, seconds",
        label=label,
        top=top,
        length_s=told.length_s,
        told=says,
        ticks=(0.0, target_s, top),
    )


def _told(told: Backtest, values: Floats, join: Callable[[Floats], float], says: Callable[[float], str]) -> list[str]:
    """A figure for each part of the chart: its time, and what `values` come to in it."""
    parts = np.array_split(values, min(TOLD, len(values)))
    starts_s = np.cumsum([0, *(len(part) for part in parts)]) * told.length_s / len(values)
    return [
        f"{duration(begin_s)} – {duration(end_s)}: {_joined(part, join, says)}"
        for part, begin_s, end_s in zip(parts, starts_s, starts_s[1:], strict=False)
    ]


def _joined(part: Floats, join: Callable[[Floats], float], says: Callable[[float], str]) -> str:
    known = part[~np.isnan(part)]
    return says(float(join(known))) if len(known) else "no messages"


def _most(values: Floats) -> float:
    most = float(np.nanmax(values, initial=0.0))
    return 0.0 if math.isnan(most) else most
