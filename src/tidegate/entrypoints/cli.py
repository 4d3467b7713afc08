"""The command line. Commands import what they need when they run: a worker process loads no controller."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tidegate.entrypoints.operate import freeze, pin, resume, status
from tidegate.entrypoints.options import DEFAULT_CONFIG, ConfigFile, DryRun, LogLevel, load_settings, warn_of
from tidegate.entrypoints.show import Shown, error_text, say, warn
from tidegate.errors import TidegateError

__all__ = ["app", "main"]

EXIT_FAULT = 2


class _Commands(TyperGroup):
    """One place where errors become lines: whatever tidegate raises on purpose is said and ends with exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TidegateError as error:
            warn(error_text(error))
            raise typer.Exit(EXIT_FAULT) from None


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
    app(prog_name="tidegate")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"tidegate {version('tidegate')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version and end.")
    ] = False,
) -> None:
    """Options of `tidegate` itself."""


@app.command()
def validate(file: Annotated[Path, typer.Argument(help="The settings file to check.")] = DEFAULT_CONFIG) -> None:
    """Check the settings, naming every fault at once; asks nothing of AWS."""
    from tidegate.config import describe, load

    loaded = load(file, os.environ)
    warn_of(loaded.warnings)
    for line in describe(loaded):
        say(line)


@app.command()
def schema() -> None:
    """Print the settings' JSON Schema, for editors."""
    import json

    from tidegate.config import json_schema

    say(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@app.command()
def run(config: ConfigFile = DEFAULT_CONFIG, dry_run: DryRun = False, log_level: LogLevel = "info") -> None:
    """Control the pools until SIGTERM or Ctrl-C; logs go to stdout, as JSON lines unless that is a terminal."""
    settings = load_settings(config)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.logs import LogSink, make_logger
    from tidegate.entrypoints.service import serve, until_signal
    from tidegate.entrypoints.wiring import wire

    log = make_logger(log_level, sys.stdout)
    wired = wire(settings, SystemClock(), dry_run=dry_run)
    log.info("started", pools=[pool.name for pool in wired.pools], tick_s=wired.tick_s, dry_run=dry_run)
    until_signal(lambda stop: serve(wired, LogSink(log), lambda line: log.error("not_ready", fault=line), stop))
    log.info("stopped")


@app.command()
def once(
    config: ConfigFile = DEFAULT_CONFIG,
    dry_run: DryRun = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per pool.")] = False,
) -> None:
    """One tick of every pool: print each decision with its steps. Exit code 2 when any pool failed."""
    settings = load_settings(config)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.service import serve_once
    from tidegate.entrypoints.wiring import wire

    outcomes = serve_once(wire(settings, SystemClock(), dry_run=dry_run), Shown(as_json=as_json))
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(EXIT_FAULT)


@app.command()
def work(
    handler: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="What to call with each message.")],
    queue: Annotated[str | None, typer.Option(help="The queue's URL, ARN or name.")] = None,
    pool: Annotated[str | None, typer.Option(help="The pool to report to; left out: the queue's name.")] = None,
    slots: Annotated[int | None, typer.Option(help="Messages handled at a time; left out: 1.")] = None,
    poll_wait: Annotated[str | None, typer.Option(help="Long poll, 0 to 20 s.")] = None,
    visibility_timeout: Annotated[str | None, typer.Option(help="Lease; left out: the queue's own.")] = None,
    grace: Annotated[str | None, typer.Option(help="Time for handlers to end after SIGTERM.")] = None,
    heartbeat: Annotated[str | None, typer.Option(help="How often to report; left out: 10s.")] = None,
    table: Annotated[str | None, typer.Option(help="DynamoDB table to report to.")] = None,
    state_dir: Annotated[Path | None, typer.Option(help="Directory to report to, on one machine.")] = None,
    region: Annotated[str | None, typer.Option(help="AWS Region.")] = None,
    log_level: LogLevel = "info",
) -> None:
    """Run a worker until SIGTERM or Ctrl-C; then it finishes what it holds. Each option is also TIDEGATE_WORKER_…"""
    from tidegate.entrypoints.logs import make_logger
    from tidegate.entrypoints.worker import run_worker

    make_logger(log_level, sys.stderr)
    run_worker(
        handler,
        queue,
        pool=pool,
        slots=slots,
        poll_wait=poll_wait,
        visibility_timeout=visibility_timeout,
        grace=grace,
        heartbeat=heartbeat,
        table=table,
        state_dir=state_dir,
        region=region,
    )


for operate in (freeze, pin, resume, status):
    app.command()(operate)


@app.command(add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def demo(context: typer.Context) -> None:
    """Watch it work on this machine, with no AWS account (`tidegate demo --help` for its options)."""
    try:
        from tidegate.entrypoints.clock import SystemClock
        from tidegate.sandbox.demo.command import main as run_demo
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("tidegate"):
            raise
        warn(f"demo needs {missing.name}, which is not installed; run: pip install 'tidegate[sandbox]'")
        raise typer.Exit(EXIT_FAULT) from None
    raise typer.Exit(run_demo(context.args, SystemClock()))
