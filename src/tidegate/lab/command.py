"""`tidegate lab scoreboard` and `tidegate backtest` on the command line."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tidegate.lab.cells import LOADS, TIMES_S, Cell, Windows, cells
from tidegate.lab.command_backtest import backtest
from tidegate.lab.command_files import console, directory, progress
from tidegate.lab.headline import Headline, headline
from tidegate.lab.parts import Task
from tidegate.lab.report_table import print_headline, print_stresses
from tidegate.lab.scoreboard import Row, run, stresses
from tidegate.lab.stress import STRESS_RUNS, Strained, run_stresses
from tidegate.lab.subject import OpenPool
from tidegate.lab.traces import SYNTHETIC, load_trace
from tidegate.stores.output import writable, write

__all__ = ["main"]

FULL = Windows(seeds=5, max_messages=20_000, max_length_s=6 * 3600.0)
QUICK = Windows(seeds=2, max_messages=4_000, max_length_s=1.5 * 3600.0)
STRESS_HOURS, QUICK_STRESS_HOURS = 4.0, 1.5
QUICK_LOAD = 20.0
QUICK_TIMES_S = TIMES_S[:5]


def main(args: list[str], open_pool: OpenPool | None = None) -> int:
    """Run `lab …` or `backtest …` as `args` say; the exit code. `open_pool` opens the pool of `backtest --pool`.

    Raises ConfigError for a trace that can't be read, and typer's usage errors.
    """
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    lab = typer.Typer(help="Policies in virtual time.", no_args_is_help=True)
    lab.command()(scoreboard)
    lab.command()(stress)
    lab.callback()(_lab)
    app.add_typer(lab, name="lab")
    app.command()(backtest)
    code: Any = typer.main.get_command(app).main(args, prog_name="tidegate", standalone_mode=False, obj=open_pool)
    return int(code or 0)


def _lab() -> None:
    """Policies in virtual time."""


def scoreboard(
    trace: Annotated[list[Path] | None, typer.Option(help="CSV file t_s,count; may be repeated.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer cells, seeds and messages: minutes.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything to this file.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Keep what is worked out here, and take it from here.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = os.cpu_count() or 1,
    seeds: Annotated[int | None, typer.Option(min=1, help="Windows a cell.")] = None,
    max_messages: Annotated[int | None, typer.Option(min=100, help="Messages a window.")] = None,
    hours: Annotated[float | None, typer.Option(min=0.5, help="Longest window, in hours.")] = None,
    load: Annotated[list[float] | None, typer.Option(min=1, help="Offered load in slots; may be repeated.")] = None,
    stress_rows: Annotated[bool, typer.Option("--stress/--no-stress", help="With the rows of `lab stress`.")] = True,
) -> int:
    """Ours, untuned, against every rival tuned by hindsight; without --trace on the synthetic traces.

    Every trace is tried at loads of 5, 20 and 200 slots (or those of --load) and at six pairs of target wait and
    start-up time (--quick: 20 slots, five pairs). What the columns mean is in docs/scoreboard.md.
    """
    writable("--json", json_file)
    directory("--cache", cache)
    traces = _traces(trace)
    base = QUICK if quick else FULL
    longest_s = base.max_length_s if hours is None else hours * 3600.0
    windows = Windows(seeds or base.seeds, max_messages or base.max_messages, longest_s)
    wanted = _cells(traces, load, quick=quick)
    rows = _run(wanted, windows, processes, cache)
    strained = _stresses(processes, QUICK_STRESS_HOURS if quick else STRESS_HOURS) if stress_rows else []
    head = headline(rows)
    print_headline(console(), head)
    if strained:
        print_stresses(console(), strained)
    write("--json", json_file, board_json(windows, rows, head, strained) + "\n")
    return 0


def stress(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the rows to this file.")] = None,
    seed: Annotated[int, typer.Option(help="Of the traffic and everything else that is left to chance.")] = 1,
) -> int:
    """One thing goes wrong at a time: wrong service times and counts, failed starts, a slow dependency, …"""
    writable("--json", json_file)
    with progress() as bar:
        rows = list(bar.track(run_stresses(seed=seed), total=STRESS_RUNS, description="runs"))
    print_stresses(console(), rows)
    write("--json", json_file, json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1) + "\n")
    return 0


def board_json(windows: Windows, rows: list[Row], head: Headline, strained: list[Strained]) -> str:
    """Everything: the sums, the stress rows, and each policy's figures in each cell."""
    told = {
        "windows": asdict(windows),
        "headline": asdict(head),
        "stress": [asdict(row) for row in strained],
        "cells": [_row_json(row) for row in rows],
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _row_json(row: Row) -> dict[str, object]:
    parts = {key: asdict(part) for key, part in row.parts.items()}
    return {"name": row.cell.name, **asdict(row.cell), "counts": row.counts, "made_up": row.made_up, "parts": parts}


def _cells(traces: list[str], loads: list[float] | None, *, quick: bool) -> list[Cell]:
    if quick:
        return cells(traces, loads=loads or (QUICK_LOAD,), times_s=QUICK_TIMES_S)
    return cells(traces, loads=loads or LOADS)


def _traces(files: list[Path] | None) -> list[str]:
    for file in files or []:
        load_trace(file)  # a fault in it is said now, not by a process half an hour from now
    return [str(file) for file in files or []] or list(SYNTHETIC)


def _stresses(processes: int, hours: float) -> list[Strained]:
    with progress() as bar:
        shown = bar.add_task("stress rows", total=STRESS_RUNS)
        return stresses(processes, hours, lambda: bar.update(shown, advance=1))


def _run(wanted: list[Cell], windows: Windows, processes: int, cache: Path | None) -> list[Row]:
    with progress() as bar:
        shown = bar.add_task("cells × policies", total=0)
        total = 0

        def planned(count: int) -> None:
            nonlocal total
            total += count
            bar.update(shown, total=total)

        def done(task: Task) -> None:
            bar.update(shown, advance=1)

        return run(wanted, windows, processes=processes, cache=cache, planned=planned, done=done)
