"""A limit for a whole fleet of real worker processes, one of which is killed and one told to leave."""

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import pytest

from tests.worker.test_process import Queue, Start, queue, start  # noqa: F401  fixtures
from tidegate.core.workers.permits import FLEET
from tidegate.stores.permits import FilePermits

pytestmark = [pytest.mark.integration, pytest.mark.timeout(200)]

LIMIT = 6
T = TypeVar("T")
Process = subprocess.Popen[str]


class Ledger:
    """When each handler of all processes began and ended, told by the processes themselves."""

    def __init__(self) -> None:
        self._changes: list[tuple[float, int]] = []
        self._running: dict[int, int] = {}

    def read(self, worker: Process, dead_at_s: float | None = None) -> None:
        """All that a process said; what it did not end it ended when it died."""
        out, _ = worker.communicate(timeout=20)
        began, ended = ([line.split() for line in out.splitlines() if line.startswith(word)] for word in _WORDS)
        self._changes += [(float(at_s), 1) for _, _, at_s in began] + [(float(at_s), -1) for _, _, at_s in ended]
        if dead_at_s is not None:
            self._changes += [(dead_at_s, -1)] * (len(began) - len(ended))

    def most_at_once(self, since_s: float = 0.0) -> int:
        running = list(accumulate(change for _, change in sorted(self._changes)))
        times_s = [at_s for at_s, _ in sorted(self._changes)]
        return max(count for at_s, count in zip(times_s, running, strict=True) if at_s >= since_s)


_WORDS = ("began", "ended")
_NEVER_S = 60.0


def held(state_dir: Path) -> dict[str, int]:
    permits = asyncio.run(FilePermits(state_dir).permits("orders")).permits
    return {name: holder.claims[FLEET].held for name, holder in permits.holders.items()}


def wait_until(looks: Callable[[], T], expected: T, workers: dict[str, Process]) -> None:
    """A machine that is busy with other tests can stall them all for long: only what never comes is a failure."""
    look_again, deadline_s = threading.Event(), time.monotonic() + _NEVER_S
    while (seen := looks()) != expected:
        if time.monotonic() > deadline_s:
            exited = {name: worker.poll() for name, worker in workers.items()}
            assert seen == expected, f"after {_NEVER_S} s; exit codes {exited}"
        look_again.wait(0.05)


def test_four_workers_never_run_more_than_six_handlers_and_what_one_leaves_behind_comes_back(
    queue: Queue,  # noqa: F811
    start: Start,  # noqa: F811
    tmp_path: Path,
) -> None:
    queue.send(*(f"b{number}" for number in range(90)))
    settings = {"slots": "4", "fleet_slots": str(LIMIT), "heartbeat": "1", "state_dir": str(tmp_path)}
    workers = {name: start("takes_half_a_second", id=name, **settings) for name in ("w1", "w2", "w3", "w4")}
    wait_until(lambda: sorted(held(tmp_path).values()), [1, 1, 2, 2], workers)

    workers["w1"].kill()
    killed_at_s = time.monotonic()
    wait_until(lambda: held(tmp_path), {"w2": 2, "w3": 2, "w4": 2}, workers)

    workers["w2"].terminate()
    assert workers["w2"].wait(timeout=20) == 0
    assert "w2" not in held(tmp_path)
    wait_until(lambda: held(tmp_path), {"w3": 3, "w4": 3}, workers)
    full_again_at_s = time.monotonic()
    queue.send(*(f"c{number}" for number in range(24)))
    wait_until(queue.counts, (0, 0), workers)
    ledger = Ledger()
    ledger.read(workers["w1"], killed_at_s)
    for name in ("w3", "w4"):
        workers[name].terminate()
    for name in ("w2", "w3", "w4"):
        ledger.read(workers[name])
    assert ledger.most_at_once() == ledger.most_at_once(full_again_at_s) == LIMIT
