"""A fixed number of real worker processes, as EC2 instances with their metadata, whoever of them leaves."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.agent import Agent, AgentSettings
from tidegate.sandbox.demo.job import JOURNAL_VARIABLE
from tidegate.sandbox.launch import Launcher, Program
from tidegate.sandbox.metadata import MetadataServer
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Identity, Wanted, WorkerView

__all__ = ["REGION", "STEP_S", "FixedPlatform", "journals_in", "open_fleet"]

REGION = "us-east-1"
STEP_S = 0.1


class FixedPlatform:
    """So many instances, whatever happens."""

    name = "fixed"

    def __init__(self, count: int) -> None:
        self._count, self._made = count, 0

    def wanted(self) -> Wanted:
        return Wanted(self._count, "1")

    def admit(self) -> Identity:
        self._made += 1
        instance = f"i-{self._made:017x}"
        return Identity(instance, instance)

    def show(self, workers: Sequence[WorkerView]) -> None:
        """Nobody asks."""


def journals_in(home: Path) -> Path:
    """Where the demo's handler writes down its runs."""
    return home / "journals"


def open_fleet(
    stack: ExitStack,
    home: Path,
    count: int,
    endpoint_url: str,
    options: Mapping[str, str],
    stop_timeout_s: Callable[[str], float],
) -> Agent:
    """The agent of `count` workers that run the demo's handler with these options; what it needs is closed by `stack`.

    `stop_timeout_s` gives the stop timeout that a worker, by its id, is told; the agent itself is patient.
    """
    journals_in(home).mkdir()
    clock = SystemClock()
    notices = Notices(lambda: count)
    metadata = stack.enter_context(MetadataServer(notices, clock.now))
    launcher = stack.enter_context(Launcher())
    args = ("work", "tidegate.sandbox.demo.job:handle", *(word for option in options.items() for word in option))
    environment = {
        "AWS_ENDPOINT_URL_SQS": endpoint_url,
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "fleet",
        "AWS_SECRET_ACCESS_KEY": "fleet",
        JOURNAL_VARIABLE: str(journals_in(home)),
        # Compiled once, not by each of a thousand processes, wherever the shell wants no such files.
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(home / "compiled"),
    }
    program = Program("tidegate.entrypoints.start:main", args, environment)

    def start(worker_id: str, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        told = {**env, "ECS_CONTAINER_STOP_TIMEOUT": f"{stop_timeout_s(worker_id):g}s"}
        return launcher.start(program, told, home / f"{worker_id}.log")

    settings = AgentSettings(start_up_s=0.0, stop_timeout_s=60.0, step_s=STEP_S, back_off_most_s=2.0)
    return Agent(FixedPlatform(count), start, notices, metadata.environment, clock, settings)
