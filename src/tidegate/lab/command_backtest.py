"""`tidegate backtest` on the command line."""

from pathlib import Path
from typing import Annotated

import typer

from tidegate.errors import ConfigError, Fault
from tidegate.lab.backtest import RUNS, Backtest
from tidegate.lab.backtest import backtest as run_backtest
from tidegate.lab.command_files import console, progress, writable
from tidegate.lab.history import DAYS_AT_MOST
from tidegate.lab.history_cache import HistoryCache
from tidegate.lab.report_backtest import backtest_json, print_backtest
from tidegate.lab.report_html import backtest_html
from tidegate.lab.subject import Given, OpenPool, Subject, from_pool, from_trace

__all__ = ["backtest"]

DAYS = 7
CACHE = Path("~/.cache/tidegate")


def backtest(
    context: typer.Context,
    trace: Annotated[Path | None, typer.Option(help="CSV file t_s,count: each bin's start and its arrivals.")] = None,
    pool: Annotated[str | None, typer.Option(help="A pool of the settings: its own past, from CloudWatch.")] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=DAYS_AT_MOST, help="With --pool: how far back; left out: 7.")
    ] = None,
    config: Annotated[
        str, typer.Option("--config", "-c", envvar="TIDEGATE_CONFIG", help="With --pool: where the settings are.")
    ] = "tidegate.toml",
    cache: Annotated[Path, typer.Option(help="With --pool: keeps CloudWatch's answers for a day.")] = CACHE,
    refresh: Annotated[bool, typer.Option("--refresh", help="With --pool: ask CloudWatch again.")] = False,
    target_wait: Annotated[
        str | None, typer.Option(help="The wait that no message should exceed; left out: the pool's, or 60s.")
    ] = None,
    service_time: Annotated[
        str | None, typer.Option(help="Mean time that a handler runs; left out: as measured in the pool, or 1s.")
    ] = None,
    start_up: Annotated[
        str | None, typer.Option(help="From asking for a worker to its first receive; left out: measured, or 60s.")
    ] = None,
    slots: Annotated[
        int | None, typer.Option(min=1, help="Messages that a worker handles at a time; left out: the pool's, or 4.")
    ] = None,
    variation: Annotated[
        float | None, typer.Option(min=0, help="Squared coefficient of variation of the run time; left out: 1.")
    ] = None,
    min_workers: Annotated[int | None, typer.Option(min=0, help="Never fewer; left out: the pool's, or 0.")] = None,
    max_workers: Annotated[
        int | None, typer.Option(min=1, help="Never more; left out: the pool's, or twice the peak.")
    ] = None,
    fifo: Annotated[bool, typer.Option("--fifo", help="Messages are read in the order of sending.")] = False,
    price_per_worker_hour: Annotated[float | None, typer.Option(min=0, help="In dollars.")] = None,
    max_messages: Annotated[int, typer.Option(min=100, help="Thin out a longer trace.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of everything that is left to chance.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page with charts to this file.")] = None,
) -> int:
    """What tidegate, its rivals as they come and fixed fleets would have cost on this traffic, and how late they were.

    The traffic is a CSV file's (--trace) or a queue's own of the last days (--pool). Nothing is tuned to it.
    """
    writable("--json", json_file)
    writable("--html", html_file)
    given = Given(
        target_wait, service_time, start_up, variation, slots, min_workers, max_workers, max_messages, fifo, seed
    )
    if pool is not None and trace is None:
        subject = _of_pool(context.obj, config, pool, days or DAYS, given, cache, refresh=refresh)
    else:
        subject = from_trace(_trace(trace, pool, days), given)
    told = _run(subject)
    print_backtest(console(), told, price_per_worker_hour)
    if json_file is not None:
        json_file.write_text(backtest_json(told, price_per_worker_hour) + "\n", encoding="utf-8")
    if html_file is not None:
        html_file.write_text(backtest_html(told, price_per_worker_hour), encoding="utf-8")
    return 0


def _trace(trace: Path | None, pool: str | None, days: int | None) -> Path:
    """Raises ConfigError unless a trace was given, and it alone."""
    if trace is None:
        raise ConfigError([Fault("--trace", None, "no traffic is given", "give --trace FILE or --pool NAME")])
    if pool is not None:
        raise ConfigError([Fault("--pool", pool, "a trace is given as well", "give --trace or --pool, not both")])
    if days is not None:
        raise ConfigError([Fault("--days", days, "a trace has its own length", "leave it out, or give --pool NAME")])
    return trace


def _of_pool(
    open_pool: OpenPool, config: str, pool: str, days: int, given: Given, cache: Path, *, refresh: bool
) -> Subject:
    source = open_pool(config, pool)
    kept = HistoryCache(cache.expanduser(), source.account)
    with progress() as bar:
        bar.add_task(f"{days} days of CloudWatch", total=None)
        return from_pool(source, days, given, kept, refresh=refresh)


def _run(subject: Subject) -> Backtest:
    with progress() as bar:
        shown = bar.add_task("policies", total=RUNS)
        return run_backtest(
            subject.bins, subject.name, subject.question, lambda title: bar.update(shown, advance=1), subject.notes
        )
