"""`tidegate backtest` on the command line."""

from pathlib import Path
from typing import Annotated

import typer

from tidegate.errors import ConfigError, Fault
from tidegate.lab.backtest import RUNS, Backtest
from tidegate.lab.backtest import backtest as run_backtest
from tidegate.lab.command_files import console, progress
from tidegate.lab.history import DAYS_AT_MOST
from tidegate.lab.history_cache import HistoryCache
from tidegate.lab.report_backtest import backtest_json, print_backtest
from tidegate.lab.report_html import backtest_html
from tidegate.lab.subject import Given, OpenPool, Subject, from_pool, from_trace
from tidegate.stores.output import writable, write

__all__ = ["backtest"]

DAYS = 7
CACHE = Path("~/.cache/tidegate")


Trace = Annotated[Path | None, typer.Option(help="CSV file t_s,count: each bin's start and its arrivals.")]
PoolName = Annotated[str | None, typer.Option(help="A pool of the settings: its own past, from CloudWatch.")]
Days = Annotated[int | None, typer.Option(min=1, max=DAYS_AT_MOST, help="With --pool: how far back; left out: 7.")]
Config = Annotated[
    str, typer.Option("--config", "-c", envvar="TIDEGATE_CONFIG", help="With --pool: where the settings are.")
]
Cache = Annotated[Path, typer.Option(help="With --pool: keeps CloudWatch's answers for a day.")]
Refresh = Annotated[bool, typer.Option("--refresh", help="With --pool: ask CloudWatch again.")]
TargetWait = Annotated[
    str | None, typer.Option(help="The wait that no message should exceed; left out: the pool's, or 60s.")
]
ServiceTime = Annotated[
    str | None, typer.Option(help="Mean time that a handler runs; left out: as measured in the pool, or 1s.")
]
StartUp = Annotated[
    str | None, typer.Option(help="From asking for a worker to its first receive; left out: measured, or 60s.")
]
Slots = Annotated[
    int | None, typer.Option(min=1, help="Messages that a worker handles at a time; left out: the pool's, or 4.")
]
Variation = Annotated[
    float | None,
    typer.Option(min=0, help="Squared coefficient of variation of the run time; left out: measured, or 1."),
]
Least = Annotated[int | None, typer.Option(min=0, help="Never fewer; left out: the pool's, or 0.")]
Most = Annotated[int | None, typer.Option(min=1, help="Never more; left out: the pool's, or twice the peak.")]
Fifo = Annotated[bool, typer.Option("--fifo", help="Messages are read in the order of sending.")]
Price = Annotated[float | None, typer.Option(min=0, help="In dollars.")]
MaxMessages = Annotated[int, typer.Option(min=100, help="Thin out a longer trace.")]
Seed = Annotated[int, typer.Option(help="Of everything that is left to chance.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the figures to this file.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page with charts to this file.")]


def backtest(
    context: typer.Context,
    trace: Trace = None,
    pool: PoolName = None,
    days: Days = None,
    config: Config = "tidegate.toml",
    cache: Cache = CACHE,
    refresh: Refresh = False,
    target_wait: TargetWait = None,
    service_time: ServiceTime = None,
    start_up: StartUp = None,
    slots: Slots = None,
    variation: Variation = None,
    min_workers: Least = None,
    max_workers: Most = None,
    fifo: Fifo = False,
    price_per_worker_hour: Price = None,
    max_messages: MaxMessages = 1_000_000,
    seed: Seed = 0,
    json_file: Json = None,
    html_file: Html = None,
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
    _report(_run(subject), price_per_worker_hour, json_file, html_file)
    return 0


def _report(told: Backtest, price: float | None, json_file: Path | None, html_file: Path | None) -> None:
    print_backtest(console(), told, price)
    write("--json", json_file, backtest_json(told, price) + "\n")
    if html_file is not None:
        write("--html", html_file, backtest_html(told, price))


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
        shown = bar.add_task("CloudWatch", total=1)
        subject = from_pool(source, days, given, kept, refresh=refresh)
        bar.update(shown, advance=1)
    return subject


def _run(subject: Subject) -> Backtest:
    with progress() as bar:
        shown = bar.add_task("policies", total=RUNS)
        return run_backtest(
            subject.bins, subject.name, subject.question, lambda title: bar.update(shown, advance=1), subject.notes
        )
