"""A trace file is read bin by bin; a file that is no trace is refused by name, line and fix."""

import os
from pathlib import Path

import pytest

from tidegate.config.trace import Bin, load_trace
from tidegate.errors import ConfigError


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    return path


def test_speed_divides_the_time_axis_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, "t_s,count\n60,3\n120,0\n180,7\n")
    assert load_trace(path, speed=20) == [Bin(0, 3, 3), Bin(3, 6, 0), Bin(6, 9, 7)]


def test_a_byte_order_mark_at_the_beginning_is_no_fault(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufefft_s,count\n0,3\n1,0\n")
    assert load_trace(path) == [Bin(0, 1, 3), Bin(1, 2, 0)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1 is not the header t_s,count"),
        ("time,count\n1,2\n", "line 1 is not the header t_s,count"),
        ("t_s,count\n0,1\n", "fewer than two bins"),
        ("t_s,count\n0,1\n1,many\n", "line 3 is not two numbers (1,many)"),
        ("t_s,count\n0,1\n1,2,3\n", "line 3 is not two numbers (1,2,3)"),
        ("t_s,count\n0,1\n1,-2\n", "line 3 is out of range (1,-2)"),
        ("t_s,count\n0,1\nnan,2\n", "line 3 is out of range (nan,2)"),
        ("t_s,count\n0,1\n0,2\n", "t_s does not rise"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_the_line_and_the_fix(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_trace(path, speed=1)
    assert says in str(refused.value)
    assert str(path) in str(refused.value)
    assert "write a CSV file with the header t_s,count" in str(refused.value)


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=r"can't be read \(is a named pipe\)"):
        load_trace(tmp_path / "pipe")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        load_trace(tmp_path / "none.csv", speed=1)
