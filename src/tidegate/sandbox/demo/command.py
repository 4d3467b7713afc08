"""`tidegate demo` on the command line."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from tidegate.core.notation.durations import parse_duration
from tidegate.errors import ConfigError, Fault
from tidegate.ports import Clock
from tidegate.sandbox.demo.settings import DemoSettings, check
from tidegate.sandbox.demo.signals import stopping_on_signals
from tidegate.sandbox.demo.trace import Plan, plan
from tidegate.stores.output import writable, write

if TYPE_CHECKING:
    from tidegate.sandbox.demo.run import Outcome, Scene

__all__ = ["is_live", "main"]

EXIT_FAILED = 1


def main(args: list[str], clock: Clock) -> int:
    """Run the demo as `args` say; 0 when nothing was lost or interrupted, else 1.

    Raises ConfigError for settings that it can't run with, and typer's usage errors.
    """
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(_command(clock))
    code: Any = typer.main.get_command(app).main(args, prog_name="tidegate demo", standalone_mode=False)
    return int(code or 0)


Length = Annotated[
    str | None, typer.Option("--for", help="How long messages are sent; left out: as long as the trace, or 90s.")
]
TraceFile = Annotated[
    Path | None, typer.Option(help="CSV file with the header t_s,count: each bin's start and its arrivals.")
]
RecordFile = Annotated[Path | None, typer.Option(help="Record the controller's decisions here, for `tidegate replay`.")]


def _command(clock: Clock) -> Callable[..., int]:
    def demo(
        length: Length = None,
        trace: TraceFile = None,
        speed: Annotated[float, typer.Option(help="Divide the trace's time axis (and nothing else) by this.")] = 1.0,
        target_wait: Annotated[str, typer.Option(help="The wait that no message should exceed.")] = "10s",
        service_time: Annotated[str, typer.Option(help="Mean time that a handler works.")] = "300ms",
        start_up: Annotated[str, typer.Option(help="Time from asking for a worker to its process.")] = "5s",
        capacity: Annotated[str, typer.Option(help="What the agent plays: ecs or asg.")] = "ecs",
        seed: Annotated[int, typer.Option(help="Of the traffic and the queue's order.")] = 1,
        json_file: Annotated[Path | None, typer.Option("--json", help="Write the verdict to this file.")] = None,
        record: RecordFile = None,
        headless: Annotated[bool, typer.Option("--headless", help="No live view, even on a terminal.")] = False,
    ) -> int:
        """Real traffic, real worker processes and the real controller, on this machine, with no AWS account.

        The default traffic is a spike from 5/s to 40/s and back. Ends when the queue is empty; exit code 1 if a
        message was lost or a handler interrupted.
        """
        settings = DemoSettings(
            length_s=None if length is None else _seconds("--for", length),
            trace=trace,
            speed=speed,
            target_wait_s=_seconds("--target-wait", target_wait),
            service_time_s=_seconds("--service-time", service_time),
            start_up_s=_seconds("--start-up", start_up),
            capacity=capacity,
            seed=seed,
            record=record,
        )
        check(settings)
        writable("--json", json_file)
        with stopping_on_signals():
            outcome = _run(settings, plan(settings), clock, headless=headless)
        write("--json", json_file, json.dumps(asdict(outcome.verdict), indent=2) + "\n")
        return 0 if outcome.verdict.passed else EXIT_FAILED

    return demo


def _run(settings: DemoSettings, traffic: Plan, clock: Clock, *, headless: bool) -> "Outcome":
    # Imported only now: moto takes a second or two, and a wrong option should be said at once.
    from tidegate.sandbox.demo.report import print_verdict
    from tidegate.sandbox.demo.run import Demo
    from tidegate.sandbox.demo.view import LiveView

    console = Console()
    if is_live(console, headless=headless):
        with LiveView(settings, traffic.length_s, console) as view:
            outcome = Demo(settings, traffic, clock, view).run()
    else:
        outcome = Demo(settings, traffic, clock, _progress(settings, traffic)).run()
    print_verdict(outcome, settings, console)
    return outcome


def is_live(console: Console, *, headless: bool) -> bool:
    """Whether there is a terminal that can be drawn on; on a dumb one nothing would be seen before the end."""
    return console.is_terminal and not console.is_dumb_terminal and not headless


def _progress(settings: DemoSettings, plan: Plan) -> "Callable[[Scene], None]":
    from tidegate.sandbox.demo.report import Progress

    def say(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    traffic = "a spike from 5/s to 40/s and back" if settings.trace is None else str(settings.trace)
    left_out = f" ({plan.left_out:,} messages of the trace are beyond that)" if plan.left_out else ""
    say(
        f"tidegate demo: {traffic} for {plan.length_s:g} s{left_out}, {settings.service_time_s:g} s of work each; "
        f"the controller keeps the wait under {settings.target_wait_s:g} s with {settings.min_workers} to "
        f"{settings.max_workers} workers of {settings.slots} slots, {settings.start_up_s:g} s to start one"
    )
    return Progress(say)


def _seconds(option: str, text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise ConfigError([Fault(option, text, problem, fix or "write a time such as 90s or 5m")]) from error
