"""The whole thing for real: endpoint, API server, agent, controller and worker processes, and a ledger that judges.

Each demo here is short; `make soak` runs the long ones.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.integration.processes import children_of, wait_for_children, wait_until_gone
from tidegate.config.trace import Bin
from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.demo.run import Demo, Outcome, Scene
from tidegate.sandbox.demo.settings import DemoSettings
from tidegate.sandbox.demo.trace import Plan, plan, send_times, spike
from tidegate.sandbox.platform import Phase

pytestmark = [pytest.mark.integration, pytest.mark.timeout(150)]

SHORT = replace(DemoSettings(), length_s=24.0, start_up_s=2.0, hold_s=5.0, tick_s=1.0, heartbeat_s=1.0, poll_wait_s=2)
TIDEGATE = [sys.executable, "-m", "tidegate"]


def play(settings: DemoSettings, on_step: Callable[[Scene], None] = lambda scene: None) -> Outcome:
    return Demo(settings, plan(settings), SystemClock(), on_step).run()


def assert_nothing_lost(outcome: Outcome) -> None:
    assert outcome.messages.lost_ids == ()
    assert outcome.verdict.interrupted == 0
    assert outcome.verdict.completed == outcome.verdict.sent > 200


@pytest.mark.xdist_group("demos-1")
def test_a_spike_is_met_with_more_workers_and_then_fewer_and_nothing_is_lost_or_done_twice() -> None:
    """The calm afterwards is long: how soon half of them have left depends on how fast the machine is."""
    before = children_of(os.getpid())
    length_s = 48.0
    bins = [*spike(30.0), Bin(30.0, length_s, 90)]
    times_s = list(send_times(bins, length_s, random.Random(1)))
    outcome = Demo(
        replace(SHORT, length_s=length_s), Plan(times_s, length_s, 0), SystemClock(), lambda scene: None
    ).run()
    verdict = outcome.verdict
    assert_nothing_lost(outcome)
    assert outcome.errors == []
    assert verdict.duplicates == 0, verdict
    assert verdict.late_share <= 0.25, verdict
    assert verdict.peak_workers >= 4, verdict
    assert verdict.final_workers <= verdict.peak_workers / 2, verdict
    assert verdict.scale_outs >= 1, verdict
    assert verdict.scale_ins >= 1, verdict
    assert set(children_of(os.getpid())) <= set(before)


@pytest.mark.xdist_group("demos-2")
def test_a_worker_and_the_controller_killed_with_9_lose_nothing_and_the_messages_are_shown_as_killed() -> None:
    """By their process ids, as anybody at a shell would."""
    killed: list[int] = []

    def kill_under_load(scene: Scene) -> None:
        running = [worker.pid for worker in scene.cast.agent.workers() if worker.phase is Phase.RUNNING and worker.pid]
        if not killed and len(running) >= 2 and scene.frame.backlog > 20:
            killed.extend((running[0], scene.cast.controller_pid))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    outcome = play(SHORT, kill_under_load)
    assert len(killed) == 2
    assert_nothing_lost(outcome)
    assert outcome.verdict.killed >= 1
    assert outcome.errors == []


@pytest.mark.xdist_group("demos-1")
def test_a_controller_stopped_and_started_again_goes_on_where_it_was_and_loses_nothing() -> None:
    stopped_at: list[float] = []
    back: list[float] = []
    decided_when_back: list[int] = []

    def restart(scene: Scene) -> None:
        at_s = scene.frame.at_s
        if not stopped_at and at_s > 9:
            stopped_at.append(at_s)
            scene.cast.stop_controller()
            assert scene.cast.controller_exit == 0
        if stopped_at and not back and at_s > stopped_at[0] + 4:
            back.append(at_s)
            scene.cast.start_controller()
        elif back and scene.fresh and not decided_when_back:
            notes = [step["note"] for step in scene.fresh[0]["steps"] if step["step"] == "capacity"]
            decided_when_back.append(sum("somebody else" in note for note in notes))

    outcome = play(SHORT, restart)
    assert back
    assert_nothing_lost(outcome)
    assert outcome.errors == []
    assert decided_when_back == [0], "the first decision after the restart finds the count that was asked for before"


@pytest.mark.xdist_group("demos-2")
def test_an_auto_scaling_group_is_driven_the_same_way() -> None:
    outcome = play(replace(SHORT, capacity="asg", length_s=18.0))
    assert_nothing_lost(outcome)
    assert outcome.errors == []
    assert outcome.verdict.peak_workers >= 3


def start_demo(*args: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TIDEGATE, "demo", "--headless", "--for", "60s", "--start-up", "500ms", *args],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until_workers_run(demo: subprocess.Popen[str]) -> list[int]:
    """The children of the demo, once its controller and its first worker are there."""
    return wait_for_children(demo.pid, at_least=2, within_s=40.0)


@pytest.mark.xdist_group("demos-2")
def test_a_demo_killed_with_9_leaves_no_process_after_5_seconds(tmp_path: Path) -> None:
    demo = start_demo(cwd=tmp_path)
    children = until_workers_run(demo)
    demo.kill()
    demo.communicate()
    assert wait_until_gone(children, within_s=5.0) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.xdist_group("demos-2")
def test_a_signal_ends_a_demo_and_everything_in_it(number: signal.Signals, code: int, tmp_path: Path) -> None:
    demo = start_demo(cwd=tmp_path)
    children = until_workers_run(demo)
    demo.send_signal(number)
    out, _ = demo.communicate(timeout=60)
    assert wait_until_gone(children, within_s=1.0) == []
    assert demo.returncode == code
    assert f"stopped by {number.name}" in out
    assert "Traceback" not in out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--trace", "none.csv"), "--trace = 'none.csv': can't be read"),
        (("--speed", "2"), "--speed = 2.0: there is no trace to speed up; give --trace FILE too"),
        (("--for", "soon"), "--for = 'soon'"),
        (("--json", "."), "--json = '.': is a directory; write the name of a file"),
        (("--for", "100000d"), "is more than a day; write 24h or less"),
        (("--json", "nowhere/out.json"), "--json = 'nowhere/out.json': its directory does not exist"),
    ],
)
@pytest.mark.xdist_group("demos-2")
def test_a_wrong_option_is_one_clear_line_and_exit_code_2(args: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = subprocess.run([*TIDEGATE, "demo", *args], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


class Told(NamedTuple):
    """What `tidegate demo --json` left behind."""

    code: int
    out: str
    err: str
    verdict: dict[str, Any]
    files: list[str]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One short demo for several tests, from a shell that is set up for everything but a demo."""
    home = tmp_path_factory.mktemp("demo")
    of_the_shell = {
        "AWS_PROFILE": "of-another-machine",
        "AWS_DEFAULTS_MODE": "unheard-of",
        "AWS_ENDPOINT_URL": "https://sqs.eu-west-1.amazonaws.com",
        "ECS_CONTAINER_STOP_TIMEOUT": "1ms",
        "TIDEGATE_POOLS__ORDERS__MAX_WORKERS": "1",
        "TIDEGATE_WORKER_STATE_DIR": "elsewhere",
        "TIDEGATE_WORKER_SLOTS": "none",
    }
    with socket.socket() as refuses:
        refuses.bind(("127.0.0.1", 0))
        proxy = f"http://127.0.0.1:{refuses.getsockname()[1]}"
        direct = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
        done = subprocess.run(
            [*TIDEGATE, "demo", "--headless", "--for", "3s", "--start-up", "500ms", "--json", "out.json"],
            cwd=home,
            env={**direct, **of_the_shell, "HTTP_PROXY": proxy, "http_proxy": proxy},
            capture_output=True,
            text=True,
            timeout=90,
        )
    files = sorted(path.name for path in home.iterdir())
    verdict = json.loads((home / "out.json").read_text()) if "out.json" in files else {}
    return Told(done.returncode, done.stdout, done.stderr, verdict, files)


@pytest.mark.xdist_group("demos-2")
def test_a_shell_with_a_proxy_an_account_and_settings_for_others_changes_nothing_in_a_demo(told: Told) -> None:
    assert (told.code, told.err) == (0, "")
    assert (told.verdict["lost"], told.verdict["errors"]) == (0, 0)
    assert told.verdict["completed"] == told.verdict["sent"] > 0
    assert told.files == ["out.json"]


KEYS = [
    *("sent", "completed", "lost", "duplicates", "interrupted", "late_share", "wait_p50_s", "wait_p99_s"),
    *("worker_seconds", "peak_workers", "final_workers", "scale_outs", "scale_ins", "decisions", "errors"),
]


@pytest.mark.xdist_group("demos-2")
def test_the_json_verdict_has_its_keys_and_the_terminal_table_too(told: Told) -> None:
    assert (told.code, told.err) == (0, "")
    assert set(KEYS) <= set(told.verdict)
    assert all(key in told.out for key in KEYS)
    assert "nothing lost, nobody interrupted" in told.out
