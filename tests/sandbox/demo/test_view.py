"""The live view draws what a scene holds, on narrow and on wide terminals."""

import io
import random
from pathlib import Path

import pytest
from rich.console import Console

from tests.sandbox.demo.test_frames import Staff, snapshot
from tidegate.sandbox.demo.cast import Cast
from tidegate.sandbox.demo.command import is_live
from tidegate.sandbox.demo.frames import History
from tidegate.sandbox.demo.logs import DecisionLog
from tidegate.sandbox.demo.report import Progress
from tidegate.sandbox.demo.run import Scene
from tidegate.sandbox.demo.settings import DemoSettings
from tidegate.sandbox.demo.view import LiveView
from tidegate.sandbox.platform import Phase
from tidegate.testing import FakeClock

OUT = {"event": "decision", "action": "out", "wrote": True, "desired": 3, "sentence": "1 → 3 workers: because"}
HOLD = {"event": "decision", "action": "hold", "wrote": False, "desired": 3, "sentence": "held at 3 workers: so"}


def scene(tmp_path: Path) -> Scene:
    history, log = History(), DecisionLog(tmp_path / "none.jsonl")
    rng = random.Random(1)
    for second in range(60):
        staff = Staff(*[Phase.RUNNING] * rng.randint(1, 9), Phase.PENDING, Phase.STOPPING)
        history.add(float(second), snapshot(sent=10 * second, visible=rng.randint(1, 50), age_s=12.0), staff, 3)
    log.recent.extend([OUT, HOLD])
    shown = Scene(Cast(DemoSettings(), tmp_path, FakeClock()), history, log)
    shown.fresh = [OUT, HOLD]
    return shown


@pytest.mark.parametrize("width", [1, 10, 20, 35, 36, 59])
def test_a_terminal_too_narrow_for_the_view_ends_no_demo(tmp_path: Path, width: int) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, height=10)
    empty = Scene(Cast(DemoSettings(), tmp_path, FakeClock()), History(), DecisionLog(tmp_path / "none.jsonl"))
    empty.history.add(0.0, snapshot(), Staff(), 1)
    with LiveView(DemoSettings(), 90.0, console) as view:
        view(scene(tmp_path))
        view(empty)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_view_shows_charts_workers_and_decisions_at_any_width(tmp_path: Path, width: int) -> None:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=width, height=40)
    with LiveView(DemoSettings(), 90.0, console) as view:
        view(scene(tmp_path))
    text = drawn.getvalue()
    for expected in ("head age 12.0 s", "arrivals 10/s", "backlog", "desired", "draining", "1 → 3 workers: because"):
        assert expected in text
    assert "…" not in text


def test_progress_says_changes_at_once_and_the_state_every_ten_seconds(tmp_path: Path) -> None:
    said: list[str] = []
    progress = Progress(said.append)
    shown = scene(tmp_path)
    progress(shown)
    assert said[0] == "   59 s  1 → 3 workers: because"
    assert said[1].startswith("   59 s  head age 12.0 s, backlog")
    assert len(said) == 2


@pytest.mark.parametrize(
    ("terminal", "term", "headless", "live"),
    [
        (True, "xterm-256color", False, True),
        (True, "xterm-256color", True, False),
        (True, "dumb", False, False),
        (False, "xterm-256color", False, False),
    ],
)
def test_the_view_is_for_terminals_that_can_be_drawn_on(terminal: bool, term: str, headless: bool, live: bool) -> None:
    """On a dumb one the demo would say nothing before its end; it tells its progress there, line by line."""
    console = Console(file=io.StringIO(), force_terminal=terminal, _environ={"TERM": term})
    assert is_live(console, headless=headless) is live
