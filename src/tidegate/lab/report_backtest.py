"""A backtest in a terminal, and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from rich.console import Console
from rich.table import Table

from tidegate.core.explain.health import SETTLED_AFTER_S, SETTLED_SHARE
from tidegate.lab.backtest import REFERENCES, Backtest, Result
from tidegate.lab.tune import LATE_ALLOWED

__all__ = ["backtest_json", "by_cost", "cheapest_other", "on_time", "print_backtest", "verdict"]


def by_cost(results: Sequence[Result]) -> list[Result]:
    """Those on time first, each group from cheap to dear; what can't be had comes last."""
    return sorted(results, key=lambda each: (each.key in REFERENCES, not on_time(each), each.worker_hours))


def on_time(result: Result) -> bool:
    """At most 1 % of the messages late."""
    return result.outcome.late_share <= LATE_ALLOWED


def cheapest_other(told: Backtest) -> Result | None:
    """Of those that are on time and can be had, ours aside; None when there is none."""
    others = [each for each in told.results[1:] if each.key not in REFERENCES and on_time(each)]
    return min(others, key=lambda each: each.worker_hours, default=None)


def verdict(told: Backtest, price: float | None) -> str:
    """One sentence: ours, and the cheapest of the others that is on time."""
    ours = told.results[0]
    said = f"tidegate: {ours.outcome.late_share:.2%} late, {_paid(ours, price)}{_settled(told)}"
    best = cheapest_other(told)
    if best is None:
        return f"{said}; none of the others, as they come, keeps 99 % within {told.question.target_s:g} s"
    others = "of the others on time" if on_time(ours) else "of those on time, which tidegate is not,"
    return f"{said}; {others} the cheapest is {best.title} with {_paid(best, price)}"


def _settled(told: Backtest) -> str:
    """Where a day's traffic and more keeps ours at one count nearly all of the time: that a fixed pool is simpler."""
    outcome = told.results[0].outcome
    if told.length_s < SETTLED_AFTER_S or told.thinned < 1:
        return ""
    spans_s = np.diff(outcome.desired_at_s, append=outcome.end_s)
    times_s = np.bincount(outcome.desired, weights=spans_s)
    usual = int(times_s.argmax())
    share = times_s[usual] / times_s.sum()
    if share < SETTLED_SHARE:
        return ""
    return f", {share:.0%} of the time at {usual} workers (a fixed pool of {usual} is simpler)"


def _paid(result: Result, price: float | None) -> str:
    hours = f"{result.worker_hours:,.1f} worker-hours"
    return hours if price is None else f"{hours} (${result.worker_hours * price:,.2f})"


def print_backtest(console: Console, told: Backtest, price: float | None) -> None:
    """A row per policy, in order of what it costs."""
    asked = told.question
    console.print(
        f"{told.name}: {told.results[0].outcome.messages:,} messages in {told.length_s / 3600:.1f} h, "
        f"{asked.service_s:g} s each; target {asked.target_s:g} s, start-up {asked.start_up_s:g} s"
        + ("" if told.thinned == 1 else f"; {told.thinned:.1%} of the trace's messages, what they cost scaled up")
    )
    for note in told.notes:
        console.print(note, highlight=False)
    table = Table(title="every policy as it comes, those on time first")
    table.add_column("policy")
    for column in ("late", "worst hour", "p50 s", "p99 s", "max s", "worker-h", "÷ work", "changes/h"):
        table.add_column(column, justify="right")
    if price is not None:
        table.add_column("$", justify="right")
    for each in by_cost(told.results):
        outcome = each.outcome
        cells = [
            f"{outcome.late_share:.2%}",
            f"{outcome.worst_hour_late_share:.1%}",
            *(f"{wait:.1f}" for wait in (outcome.wait_p50_s, outcome.wait_p99_s, outcome.wait_max_s)),
            f"{each.worker_hours:,.1f}",
            f"{outcome.cost:.2f}",
            f"{outcome.changes_per_hour:.1f}",
        ]
        money = [] if price is None else [f"{each.worker_hours * price:,.2f}"]
        table.add_row(each.title, *cells, *money)
    console.print(table)
    console.print(verdict(told, price))


def backtest_json(told: Backtest, price: float | None) -> str:
    """The question, and each policy's figures."""
    return json.dumps(
        {
            "trace": told.name,
            "question": asdict(told.question),
            "thinned": told.thinned,
            "length_s": told.length_s,
            "price_per_worker_hour": price,
            "notes": list(told.notes),
            "verdict": verdict(told, price),
            "policies": [_figures(each, price) for each in by_cost(told.results)],
        },
        ensure_ascii=False,
        indent=1,
    )


def _figures(result: Result, price: float | None) -> dict[str, object]:
    outcome = result.outcome
    return {
        "key": result.key,
        "title": result.title,
        "setting": outcome.policy,
        "reference": result.key in REFERENCES,
        "late_share": outcome.late_share,
        "worst_hour_late_share": outcome.worst_hour_late_share,
        "unserved": outcome.unserved,
        "wait_p50_s": outcome.wait_p50_s,
        "wait_p99_s": outcome.wait_p99_s,
        "wait_max_s": outcome.wait_max_s,
        "worker_hours": result.worker_hours,
        "dollars": None if price is None else result.worker_hours * price,
        "cost": outcome.cost,
        "starts": outcome.starts,
        "changes_per_hour": outcome.changes_per_hour,
        "reversals": outcome.reversals,
    }
