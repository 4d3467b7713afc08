"""The command line. Commands import what they need when they run: a worker process loads no controller."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from tidegate.entrypoints.health import health
from tidegate.entrypoints.operate import explain, freeze, pin, resume, status
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
from tidegate.entrypoints.streams import ending_well
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
    from tidegate.entrypoints.recording import recording, with_record

    settings = with_record(load_settings(config), record)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.logs import LogSink, make_logger
    from tidegate.entrypoints.service import serve, until_signal
    from tidegate.entrypoints.wiring import wire

    log = make_logger(log_level, sys.stdout)
    sink = LogSink(log)
    wired = recording(wire(settings, SystemClock(), dry_run=dry_run, log=sys.stdout), settings, sink.not_recorded)

    def work(stop: "threading.Event") -> None:
        # Said only now that a stop is heard: whoever waits for it may send one.
        log.info("started", pools=[pool.name for pool in wired.pools], tick_s=wired.tick_s, dry_run=dry_run)
        serve(wired, sink, sink.not_ready, sink.doubtful, stop)

    until_signal(work)
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


@app.command(short_help="Run a worker until SIGTERM or Ctrl-C.")
def work(
    handler: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="What to call with each message.")],
    queue: Annotated[str | None, typer.Option(help="The queue's URL, ARN or name.")] = None,
    pool: Annotated[str | None, typer.Option(help="The pool to report to; left out: the queue's name.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The worker's name in reports; left out: made up.")] = None,
    slots: Annotated[
        str | None, typer.Option(help="Messages at a time, or auto(min=2, max=32, target_wait=50ms); left out: 1.")
    ] = None,
    poll_wait: Annotated[
        str | None, typer.Option(help="Long poll, whole seconds from 1 to 20; left out: 20s, or half the grace.")
    ] = None,
    visibility_timeout: Annotated[
        str | None, typer.Option(help="Lease, whole seconds from 1s to 12h; left out: the queue's own.")
    ] = None,
    grace: Annotated[
        str | None, typer.Option(help="Time for handlers to end after SIGTERM; left out: the stop timeout less 5s.")
    ] = None,
    stop_timeout: Annotated[
        str | None, typer.Option(help="When the platform kills; left out: ECS_CONTAINER_STOP_TIMEOUT, or 30s.")
    ] = None,
    heartbeat: Annotated[str | None, typer.Option(help="How often to report; left out: 10s.")] = None,
    table: Annotated[str | None, typer.Option(help="DynamoDB table to report to.")] = None,
    state_dir: Annotated[Path | None, typer.Option(help="Directory to report to, on one machine.")] = None,
    region: Annotated[str | None, typer.Option(help="AWS Region; a queue's URL or ARN may name its own.")] = None,
    retry_base: Annotated[
        str | None, typer.Option(help="Longest wait of a message that failed once; doubled each time; left out: 1s.")
    ] = None,
    retry_cap: Annotated[
        str | None, typer.Option(help="Longest wait of a message that failed, however often; left out: 5m.")
    ] = None,
    max_receives: Annotated[
        int | None, typer.Option(help="Receives before a dead letter; left out: as the redrive policy says.")
    ] = None,
    start_delay: Annotated[
        str | None, typer.Option(help="Longest random delay before the first poll; left out: none.")
    ] = None,
    health_port: Annotated[int | None, typer.Option(help="Port of /healthz and /readyz; left out: none.")] = None,
    health_file: Annotated[Path | None, typer.Option(help="File for `tidegate health`; left out: none.")] = None,
    stuck_after: Annotated[
        str | None, typer.Option(help="Unhealthy after so long without an end; left out: by what handlers take.")
    ] = None,
    dead_letter_queue: Annotated[
        str | None, typer.Option(help="Where rejected messages go; left out: what the redrive policy names.")
    ] = None,
    class_slots: Annotated[
        str | None, typer.Option(help='Most slots of job classes, such as "bulk=2, mail=1".')
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Most messages of a batch handler's call; left out: 10.")
    ] = None,
    prefetch: Annotated[
        int | None, typer.Option(help="Messages that may wait in hand; left out: some for quick handlers.")
    ] = None,
    executor: Annotated[
        str | None, typer.Option(help="thread, or process for handlers that keep the CPU busy.")
    ] = None,
    max_extensions: Annotated[
        int | None, typer.Option(help="How often a lease is extended; left out: until SQS ends it after 12h.")
    ] = None,
    progress_timeout: Annotated[
        str | None, typer.Option(help="Longest silence of a handler whose lease is kept; left out: any.")
    ] = None,
    protect: Annotated[
        bool | None, typer.Option("--protect/--no-protect", help="Have the platform spare this worker; left out: yes.")
    ] = None,
    notices: Annotated[
        bool | None, typer.Option("--notices/--no-notices", help="Heed EC2's notices to its instances; left out: yes.")
    ] = None,
    asg: Annotated[
        str | None, typer.Option(help="The Auto Scaling group that this instance is in: it is protected in scale-in.")
    ] = None,
    lifecycle_hook: Annotated[
        str | None, typer.Option(help="That group's hook on termination: kept while handlers finish, then completed.")
    ] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error; left out: info.")] = None,
) -> None:
    """Run a worker until SIGTERM or Ctrl-C; then it finishes what it holds.

    Every option can also be a variable, such as TIDEGATE_WORKER_POLL_WAIT; the option wins.
    """
    from tidegate.entrypoints.worker import run_worker

    run_worker(
        handler,
        queue,
        pool=pool,
        id=id_,
        slots=slots,
        poll_wait=poll_wait,
        visibility_timeout=visibility_timeout,
        grace=grace,
        stop_timeout=stop_timeout,
        heartbeat=heartbeat,
        table=table,
        state_dir=state_dir,
        region=region,
        retry_base=retry_base,
        retry_cap=retry_cap,
        max_receives=max_receives,
        start_delay=start_delay,
        health_port=health_port,
        health_file=health_file,
        stuck_after=stuck_after,
        dead_letter_queue=dead_letter_queue,
        class_slots=class_slots,
        batch_size=batch_size,
        prefetch=prefetch,
        executor=cast(Any, executor),  # checked with the other settings
        max_extensions=max_extensions,
        progress_timeout=progress_timeout,
        protect=protect,
        notices=notices,
        asg=asg,
        lifecycle_hook=lifecycle_hook,
        log_level=cast(Any, log_level),
    )


app.command(short_help="Decide a recording again: the same, or what would have been.")(replay)
app.command(short_help="Whether this container's worker is healthy.")(health)
for operate in (explain, freeze, pin, resume, status):
    app.command()(operate)


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    short_help="Watch it work on this machine, without an AWS account.",
)
def demo(context: typer.Context) -> None:
    """Watch it work on this machine, with no AWS account (`tidegate demo --help` for its options)."""
    try:
        from tidegate.entrypoints.clock import SystemClock
        from tidegate.sandbox.demo.command import main as run_demo
        from tidegate.sandbox.launch import sealed

        with sealed(os.environ):
            code = run_demo(context.args, SystemClock())  # it imports most of the sandbox once its options are right
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package in ("", "tidegate"):
            raise
        warn(f"demo needs {package}, which is not installed; run: pip install 'tidegate[sandbox]'")
        raise typer.Exit(EXIT_FAULT) from None
    raise typer.Exit(code)


_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command(
    add_help_option=False, context_settings=_PASSED_ON, short_help="Policies in virtual time: scoreboard and stress."
)
def lab(context: typer.Context) -> None:
    """Policies in virtual time: `tidegate lab scoreboard` tries ours against every rival (`--help` for options)."""
    raise typer.Exit(_in_the_lab(["lab", *context.args]))


@app.command(
    add_help_option=False, context_settings=_PASSED_ON, short_help="What policies would have cost on your traffic."
)
def backtest(context: typer.Context) -> None:
    """What tidegate, its rivals and a fixed fleet would have cost on a trace of yours (`--help` for options)."""
    raise typer.Exit(_in_the_lab(["backtest", *context.args]))


def _in_the_lab(args: list[str]) -> int:
    try:
        from tidegate.entrypoints.past import open_pool
        from tidegate.lab.command import main as run_lab
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("tidegate"):
            raise
        warn(f"{args[0]} needs {missing.name}, which is not installed; run: pip install 'tidegate[lab]'")
        return EXIT_FAULT
    return run_lab(args, open_pool)
