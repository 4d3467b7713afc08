"""`tidegate backtest` on the command line."""

from pathlib import Path
from typing import Annotated

import typer

from tidegate.core.durations import parse_duration
from tidegate.errors import ConfigError, Fault
from tidegate.lab.backtest import RUNS, Backtest, Question
from tidegate.lab.backtest import backtest as run_backtest
from tidegate.lab.command_files import console, progress, writable
from tidegate.lab.report_backtest import backtest_json, print_backtest
from tidegate.lab.report_html import backtest_html
from tidegate.lab.traces import Bin, load_trace

__all__ = ["backtest"]


def backtest(
    trace: Annotated[Path, typer.Option(help="CSV file t_s,count: each bin's start and its arrivals.")],
    target_wait: Annotated[str, typer.Option(help="The wait that no message should exceed.")] = "60s",
    service_time: Annotated[str, typer.Option(help="Mean time that a handler runs.")] = "1s",
    start_up: Annotated[str, typer.Option(help="From asking for a worker to its first receive.")] = "60s",
    slots: Annotated[int, typer.Option(min=1, help="Messages that a worker handles at a time.")] = 4,
    variation: Annotated[float, typer.Option(min=0, help="Squared coefficient of variation of the run time.")] = 1.0,
    min_workers: Annotated[int, typer.Option(min=0, help="Never fewer.")] = 0,
    max_workers: Annotated[int | None, typer.Option(min=1, help="Never more; left out: twice the peak.")] = None,
    fifo: Annotated[bool, typer.Option("--fifo", help="Messages are read in the order of sending.")] = False,
    price_per_worker_hour: Annotated[float | None, typer.Option(min=0, help="In dollars.")] = None,
    max_messages: Annotated[int, typer.Option(min=100, help="Thin out a longer trace.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of everything that is left to chance.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page with charts to this file.")] = None,
) -> int:
    """What tidegate, its rivals as they come and fixed fleets would have cost on this traffic, and how late they were.

    Nothing is tuned to the trace. Run time and start-up time are yours to measure: the SDK's heartbeats show both.
    """
    writable("--json", json_file)
    writable("--html", html_file)
    if max_workers is not None and max_workers < min_workers:
        fix = f"raise it to {min_workers} or more, or lower --min-workers"
        raise ConfigError([Fault("--max-workers", max_workers, "is below --min-workers", fix)])
    question = Question(
        target_s=_positive("--target-wait", target_wait),
        start_up_s=_positive("--start-up", start_up),
        service_s=_positive("--service-time", service_time),
        variation=variation,
        slots_per_worker=slots,
        min_workers=min_workers,
        max_workers=max_workers,
        max_messages=max_messages,
        fifo=fifo,
        seed=seed,
    )
    told = _run(_messages(trace), trace.stem, question)
    print_backtest(console(), told, price_per_worker_hour)
    if json_file is not None:
        json_file.write_text(backtest_json(told, price_per_worker_hour) + "\n", encoding="utf-8")
    if html_file is not None:
        html_file.write_text(backtest_html(told, price_per_worker_hour), encoding="utf-8")
    return 0


def _messages(trace: Path) -> list[Bin]:
    bins = load_trace(trace)
    if not any(each.count for each in bins):
        raise ConfigError([Fault("--trace", str(trace), "holds no messages", "give a trace with arrivals in it")])
    return bins


def _positive(option: str, text: str) -> float:
    fix = 'write seconds above zero ("30") or a number with a unit ("30s", "2m")'
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise ConfigError([Fault(option, text, str(error), fix)]) from error
    if seconds <= 0:
        raise ConfigError([Fault(option, text, "is not above zero", fix)])
    return seconds


def _run(bins: list[Bin], name: str, question: Question) -> Backtest:
    with progress() as bar:
        shown = bar.add_task("policies", total=RUNS)
        return run_backtest(bins, name, question, lambda title: bar.update(shown, advance=1))
