"""The controller's sign of life, as `tidegate health` reads it."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidegate.entrypoints.cli import app
from tidegate.stores.pulse import Pulse

BEGAN_S = 1_000_000.0


def silent(line: str) -> None:
    """Nothing is to be said in the test."""
    raise AssertionError(line)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "health.json"


def asked(file: Path) -> tuple[int, str]:
    """Exit code and words of `tidegate health`."""
    result = CliRunner().invoke(app, ["health"], env={"TIDEGATE_HEALTH_FILE": str(file)})
    return result.exit_code, result.output.strip().removeprefix("tidegate: ")


@pytest.mark.parametrize(("tick_s", "holds_s"), [(10, 90), (60, 240)])
def test_a_controller_is_healthy_until_two_more_ticks_should_have_come(
    file: Path, tick_s: float, holds_s: float
) -> None:
    pulse = Pulse(file, tick_s, silent)

    pulse.beat(time.time() - holds_s + 5, 0)
    assert asked(file) == (0, "healthy: it ticks")
    pulse.beat(time.time() - holds_s - 5, 0)
    code, said = asked(file)
    assert code == 1
    assert re.fullmatch(rf"stuck: the last word is ({holds_s + 5}|{holds_s + 6}) s old \(healthy: it ticks\)", said)


def test_a_controller_whose_pools_all_hang_is_stuck_though_it_goes_round(file: Path) -> None:
    pulse = Pulse(file, 10, silent)
    pulse.beat(time.time(), 5)
    assert asked(file) == (0, "healthy: it ticks")
    pulse.beat(time.time(), 6)
    assert asked(file) == (1, "stuck: no pool's tick has ended for 60 s")


def test_a_file_that_can_not_be_written_is_said_once_and_once_more_when_it_can(tmp_path: Path) -> None:
    said: list[str] = []
    gone = tmp_path / "gone"
    pulse = Pulse(gone / "health.json", 10, said.append)

    pulse.beat(BEGAN_S, 0)
    pulse.beat(BEGAN_S + 10, 0)
    gone.mkdir()
    pulse.beat(BEGAN_S + 20, 0)

    problem, over = said
    assert problem.endswith("can't be written: No such file or directory; the ticks go on")
    assert over.endswith("is written again")
    assert json.loads((gone / "health.json").read_text())["at_s"] == BEGAN_S + 20


def test_a_named_pipe_in_the_files_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, line = asked(tmp_path / "pipe")
    assert status == 1
    assert "pipe is a named pipe: name the file that the worker or the controller writes" in line
