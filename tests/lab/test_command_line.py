"""`tidegate lab` and `tidegate backtest` as the one command reaches them, and the examples in the docstrings."""

import doctest
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from tidegate.entrypoints.cli import app
from tidegate.errors import ConfigError
from tidegate.lab import backtest, bootstrap, history, optimum, report_plot
from tidegate.lab.peers import minutes
from tidegate.stores.output import writable


@pytest.mark.parametrize("command", ["lab", "backtest"])
def test_the_commands_say_which_extra_to_install_when_the_lab_is_not(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for loaded in [name for name in sys.modules if name.startswith("tidegate.lab")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    result = CliRunner().invoke(app, [command])
    assert result.exit_code == 2
    assert "pip install 'tidegate[lab]'" in result.stderr
    assert f"{command} needs scipy" in result.stderr


@pytest.mark.parametrize(("args", "names"), [(["lab", "--help"], "scoreboard"), (["backtest", "--help"], "--trace")])
def test_help_is_the_labs_own(args: list[str], names: str) -> None:
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0
    assert names in result.stdout


TRACE = "t_s,count\n0,100\n60,100\n120,50\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["backtest", "--html", "."], "--html = '.': is a directory; write the name of a file"),
        (["backtest", "--json", "/dev/full"], "--json = '/dev/full': can't be written (No space left on device)"),
        (["lab", "scoreboard", "--json", "."], "--json = '.': is a directory"),
        (["lab", "scoreboard", "--cache", "trace.csv"], "--cache = 'trace.csv': is no directory and can't be made one"),
    ],
)
def test_a_file_that_can_not_be_written_is_one_line_and_exit_code_2(
    args: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text(TRACE)
    result = CliRunner().invoke(app, [*args, "--trace", "trace.csv", "--max-messages", "100"])
    assert result.exit_code == 2
    assert said in result.stderr.splitlines()[-1]


def test_a_place_that_may_not_be_written_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write wherever the disk is not read-only, so the kernel's word is put in its mouth here."""
    asked: list[tuple[Path, int]] = []

    def access(path: Path, mode: int) -> bool:
        asked.append((Path(path), mode))
        return False

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(ConfigError, match="may not be written"):
        writable("--json", tmp_path / "new.json")
    (tmp_path / "old.json").touch()
    with pytest.raises(ConfigError, match="may not be written"):
        writable("--json", tmp_path / "old.json")
    assert asked == [(tmp_path, os.W_OK), (tmp_path / "old.json", os.W_OK)]


def test_a_count_beyond_what_any_queue_takes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("t_s,count\n0,1e308\n60,1\n")
    result = CliRunner().invoke(app, ["backtest", "--trace", str(file)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "line 2 is out of range" in result.stderr


def test_a_missing_trace_is_one_line_and_exit_code_2() -> None:
    result = CliRunner().invoke(app, ["backtest", "--trace", "/no/such/file.csv"])
    assert result.exit_code == 2
    assert result.stderr.startswith("tidegate: --trace = '/no/such/file.csv'")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("module", [backtest, bootstrap, history, optimum, report_plot, minutes])
def test_the_examples_in_the_docstrings_hold(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
