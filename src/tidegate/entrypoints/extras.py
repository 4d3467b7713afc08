"""The commands that need more than the controller does, `tidegate[sandbox]` or `tidegate[lab]`: demo, lab, backtest.

Each reads its options itself, as the part that it starts has a command line of its own.
"""

import os

import typer

from tidegate.entrypoints.options import EXIT_FAULT
from tidegate.entrypoints.show import warn

__all__ = ["backtest", "demo", "lab"]


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


def lab(context: typer.Context) -> None:
    """Policies in virtual time: `tidegate lab scoreboard` tries ours against every rival (`--help` for options)."""
    raise typer.Exit(_in_the_lab(["lab", *context.args]))


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
