"""The command line. Commands import what they need when they run: a worker process loads no controller."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tidegate.entrypoints.show import Shown, error_text, override_text, say, warn
from tidegate.errors import ConfigError, Fault, TidegateError

if TYPE_CHECKING:
    from tidegate.config import PoolSettings, Settings
    from tidegate.core.model import Override

__all__ = ["app", "main"]

EXIT_FAULT = 2

ConfigFile = Annotated[
    Path, typer.Option("--config", "-c", envvar="TIDEGATE_CONFIG", help="The settings file.", show_default=True)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Decide as ever, but set and store nothing.")]
LogLevel = Annotated[str, typer.Option("--log-level", help="debug, info, warning or error.")]
PoolName = Annotated[str, typer.Argument(metavar="POOL", help="The pool's name in the settings.")]
HowLong = Annotated[str | None, typer.Option("--for", help='For how long ("2h"); left out: until `resume`.')]

DEFAULT_CONFIG = Path("tidegate.toml")


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
    _warn_of(loaded.warnings)
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
    settings = _settings(config)
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
    settings = _settings(config)
    from tidegate.entrypoints.clock import SystemClock
    from tidegate.entrypoints.service import serve_once
    from tidegate.entrypoints.wiring import wire

    outcomes = serve_once(wire(settings, SystemClock(), dry_run=dry_run), Shown(as_json=as_json))
    if not all(outcome.ok for outcome in outcomes):
        raise typer.Exit(EXIT_FAULT)


@app.command()
def freeze(pool: PoolName, for_: HowLong = None, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Hold a pool's desired count as it is."""
    settings = _settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    name = _pool(settings, pool, config).name
    override = controls.freeze(shared_store(settings), name, _operator(), _now_s(), _seconds(for_))
    say(f"{name}: {override_text(override)}")


@app.command()
def pin(
    pool: PoolName,
    workers: Annotated[int, typer.Argument(metavar="N", help="Workers; more than max_workers is refused.")],
    for_: HowLong = None,
    config: ConfigFile = DEFAULT_CONFIG,
) -> None:
    """Set a pool's desired count by hand."""
    settings = _settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    now_s = _now_s()
    as_it_holds = _pool(settings, pool, config).at(now_s)
    override = controls.pin(shared_store(settings), as_it_holds, workers, _operator(), now_s, _seconds(for_))
    say(f"{pool}: {override_text(override)}")


@app.command()
def resume(pool: PoolName, config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Give a frozen or pinned pool back to the controller."""
    settings = _settings(config)
    from tidegate.controller import controls
    from tidegate.entrypoints.wiring import shared_store

    lifted = controls.resume(shared_store(settings), _pool(settings, pool, config).name)
    say(f"{pool}: run by the controller" + (f"; it was {override_text(lifted)}" if lifted else " already"))


@app.command()
def status(config: ConfigFile = DEFAULT_CONFIG) -> None:
    """Who holds each pool, and the desired count that tidegate asked for last."""
    settings = _settings(config)
    from tidegate.entrypoints.wiring import shared_store

    store, now_s = shared_store(settings), _now_s()
    for name in settings.pools:
        state = store.load(name).state
        asked = "nothing asked for yet" if state.desired is None else f"last asked for {state.desired}"
        say(f"{name}: {override_text(_in_force(state.override, now_s))}; {asked}")


@app.command()
def work(
    handler: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="The function that handles a message.")],
    queue: Annotated[str | None, typer.Option(help="The queue's URL, ARN or name.")] = None,
    pool: Annotated[str | None, typer.Option(help="The pool that it reports to; left out: the queue's name.")] = None,
    slots: Annotated[int | None, typer.Option(help="Handlers at once.")] = None,
    poll_wait: Annotated[str | None, typer.Option(help="Long poll, 0 to 20 s.")] = None,
    visibility_timeout: Annotated[str | None, typer.Option(help="Lease of a message; left out: the queue's.")] = None,
    grace: Annotated[str | None, typer.Option(help="How long handlers may go on after SIGTERM.")] = None,
    heartbeat: Annotated[str | None, typer.Option(help="How often it reports.")] = None,
    table: Annotated[str | None, typer.Option(help="DynamoDB table to report to.")] = None,
    state_dir: Annotated[Path | None, typer.Option(help="Directory to report to, in place of a table.")] = None,
    region: Annotated[str | None, typer.Option(help="AWS Region.")] = None,
    log_level: LogLevel = "info",
) -> None:
    """Run a handler on a queue's messages until SIGTERM; each option also reads TIDEGATE_WORKER_<NAME>."""
    import signal

    # Told to stop before it can even drain: nothing was received yet. As process 1 of a container it would otherwise
    # not hear SIGTERM at all until the SDK's own handlers are in place.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
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


def _settings(config: Path) -> "Settings":
    from tidegate.config import load

    loaded = load(config, os.environ)
    _warn_of(loaded.warnings)
    return loaded.settings


def _warn_of(warnings: tuple[Fault, ...]) -> None:
    for warning in warnings:
        warn(f"warning: {warning}")


def _pool(settings: "Settings", name: str, config: Path) -> "PoolSettings":
    if name not in settings.pools:
        fix = f"write one of {', '.join(settings.pools)}"
        raise ConfigError([Fault("POOL", name, f"no such pool in {config}", fix)])
    return settings.pools[name]


def _seconds(text: str | None) -> float | None:
    from tidegate.core.durations import parse_duration

    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise ConfigError([Fault("--for", text, problem, fix or "write a time such as 2h")]) from error


def _in_force(override: "Override | None", now_s: float) -> "Override | None":
    """One that has run out is taken away by the next tick; until then it already means nothing."""
    ended = override is not None and override.until_s is not None and override.until_s <= now_s
    return None if ended else override


def _operator() -> str:
    import getpass
    import socket

    return f"{getpass.getuser()}@{socket.gethostname()}"


def _now_s() -> float:
    from tidegate.entrypoints.clock import SystemClock

    return SystemClock().now()
