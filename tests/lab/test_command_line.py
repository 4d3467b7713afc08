"""`tidegate lab` and `tidegate backtest` as the one command reaches them, and the examples in the docstrings."""

import doctest
import sys
from types import ModuleType

import pytest
from typer.testing import CliRunner

from tidegate.entrypoints.cli import app
from tidegate.lab import backtest, bootstrap, history, optimum, report_plot
from tidegate.lab.peers import minutes


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
