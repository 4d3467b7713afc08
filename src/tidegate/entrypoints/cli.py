"""The command line. Commands import what they need when they run: a worker process loads no controller."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tidegate.entrypoints.extras import backtest, demo, lab
from tidegate.entrypoints.health import health
from tidegate.entrypoints.operate import explain, freeze, pin, resume
from tidegate.entrypoints.options import (
    DEFAULT_CONFIG,
    EXIT_FAULT,
    ConfigFile,
    DryRun,
    LogLevel,
    RecordFile,
    load_settings,
    warn_of,
)
from tidegate.entrypoints.replay import replay
from tidegate.entrypoints.show import Shown, error_text, say, warn
from tidegate.entrypoints.status import status
from tidegate.entrypoints.streams import ending_well
from tidegate.entrypoints.work import work
from tidegate.errors import TidegateError

if TYPE_CHECKING:
    import threading

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    """One place where errors become lines: whatever tidegate raises on purpose is said and ends with exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TidegateError as error:
            warn(error_text(error))
            raise typer.Exit(error.exit_status) from None


app = typer.Typer(
    cls=_Commands,
    help="Keeps the wait of SQS queues under a target by setting the number of ECS or EC2 workers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """The `tidegate` command."""
    with ending_well():
        app(prog_name="tidegate")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"tidegate {version('tidegate')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of `tidegate` itself."""


@app.command(short_help="Check the settings and name every fault at once.")
def validate(
    file: Annotated[str | None, typer.Argument(help="The settings to check.", show_default=False)] = None,
    config: ConfigFile = DEFAULT_CONFIG,
) -> None:
    """Check the settings, naming every fault at once; asks nothing of AWS."""
    from tidegate.config import describe
    from tidegate.entrypoints.sources import load_from

    loaded = load_from(file or config, os.environ)
    warn_of(loaded.warnings)
    for line in describe(loaded):
        say(line)


@app.command()
def schema() -> None:
    """Print the settings' JSON Schema, for editors."""
    import json

    from tidegate.config import json_schema

    say(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@app.command(short_help="Control the pools until SIGTERM or Ctrl-C.")
def run(
    config: ConfigFile = DEFAULT_CONFIG,
    dry_run: DryRun = False,
    record: RecordFile = None,
    log_level: LogLevel = "info",
) -> None:
    """Control the pools until SIGTERM or Ctrl-C; logs go to stdout, as JSON lines unless that is a terminal."""
    from tidegate.entrypoints.recording import beating, recording, with_record

    settings = with_record(load_settings(config), record)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.logs import LogSink, make_logger
    from tidegate.entrypoints.service import serve, until_signal
    from tidegate.entrypoints.wiring import wire

    log = make_logger(log_level, sys.stdout)
    sink = LogSink(log)
    wired = recording(wire(settings, SystemClock(), dry_run=dry_run, log=sys.stdout), settings, sink.not_recorded)
    beat = beating(settings, sink.not_beating)

    def control(stop: "threading.Event") -> None:
        # Said only now that a stop is heard: whoever waits for it may send one.
        log.info("started", pools=[pool.name for pool in wired.pools], tick_s=wired.tick_s, dry_run=dry_run)
        serve(wired, sink, sink.not_ready, sink.doubtful, stop, beat)

    until_signal(control)
    log.info("stopped")


@app.command(short_help="One tick of every pool, with every decision's steps.")
def once(
    config: ConfigFile = DEFAULT_CONFIG,
    dry_run: DryRun = False,
    record: RecordFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per pool.")] = False,
) -> None:
    """One tick of every pool: print each decision with its steps. Exit code 2 when any pool failed."""
    from tidegate.entrypoints.recording import recording, with_record

    settings = with_record(load_settings(config), record)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.service import serve_once
    from tidegate.entrypoints.wiring import wire

    wired = recording(wire(settings, SystemClock(), dry_run=dry_run), settings, lambda line: warn(f"warning: {line}"))
    outcomes = serve_once(wired, Shown(as_json=as_json), lambda line: warn(f"warning: {line}"))
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(EXIT_FAULT)


app.command(short_help="Run a worker until SIGTERM or Ctrl-C.")(work)
app.command(short_help="Decide a recording again: the same, or what would have been.")(replay)
app.command(short_help="Whether this container's worker is healthy.")(health)
for operate in (explain, freeze, pin, resume, status):
    app.command()(operate)

_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
for command, what in (
    (demo, "Watch it work on this machine, without an AWS account."),
    (lab, "Policies in virtual time: scoreboard and stress."),
    (backtest, "What policies would have cost on your traffic."),
):
    app.command(add_help_option=False, context_settings=_PASSED_ON, short_help=what)(command)
