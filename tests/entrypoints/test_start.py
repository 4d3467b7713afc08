"""A stop that comes while the command still loads: heard from the first moment on, as process 1 of a container too."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

pytestmark = pytest.mark.integration

WAIT_S = 20
SLOW_IMPORT = "import time\nprint('loading', flush=True)\ntime.sleep(60)\n"
"""A module that takes its time; no test waits for it."""


def can_be_process_1() -> bool:
    unshare = which("unshare")
    if unshare is None:
        return False
    return subprocess.run([unshare, "-p", "-f", "true"], capture_output=True, check=False).returncode == 0


PLACES = [
    pytest.param((), id="a process"),
    pytest.param(
        ("unshare", "--pid", "--fork", "--kill-child"),
        id="process 1",
        marks=pytest.mark.skipif(not can_be_process_1(), reason="no PID namespace may be made here (unshare -p -f)"),
    ),
]


class Loading:
    """A command that has begun to load and goes no further: typer, or the user's handler, never gets imported."""

    def __init__(self, directory: Path, prefix: tuple[str, ...], *arguments: str) -> None:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(directory)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "tidegate", *arguments],
            cwd=directory,
            env=environment,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "loading\n"
        self.pid = child_of(self.process.pid) if prefix else self.process.pid

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Exit code and stderr after this signal."""
        os.kill(self.pid, number)
        _, errors = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, errors


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


@pytest.fixture
def processes() -> Iterator[list[Loading]]:
    made: list[Loading] = []
    yield made
    for loading in made:
        loading.process.kill()
        loading.process.communicate()


@pytest.mark.parametrize("prefix", PLACES)
@pytest.mark.parametrize(
    ("slow", "arguments", "number"),
    [
        ("typer", ("run",), signal.SIGTERM),
        ("typer", ("work", "jobs:handle"), signal.SIGINT),
        ("jobs", ("work", "jobs:handle", "--queue", "orders"), signal.SIGTERM),
    ],
)
def test_a_stop_while_the_command_loads_ends_it_at_once_with_exit_code_0(
    tmp_path: Path,
    processes: list[Loading],
    prefix: tuple[str, ...],
    slow: str,
    arguments: tuple[str, ...],
    number: signal.Signals,
) -> None:
    (tmp_path / f"{slow}.py").write_text(SLOW_IMPORT)
    loading = Loading(tmp_path, prefix, *arguments)
    processes.append(loading)

    code, errors = loading.end(number)

    assert (code, errors) == (0, f"tidegate: {number.name} came before the work had begun; nothing to finish\n")


def test_commands_that_end_by_themselves_are_left_to_the_platform(tmp_path: Path, processes: list[Loading]) -> None:
    (tmp_path / "typer.py").write_text(SLOW_IMPORT)
    loading = Loading(tmp_path, (), "validate")
    processes.append(loading)

    assert loading.end(signal.SIGTERM) == (-signal.SIGTERM, "")
