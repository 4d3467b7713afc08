"""A million messages through a worker, a day of virtual time: how much memory it has before and after."""

import gc
import logging
import resource
import sys
import time
from pathlib import Path

import pytest

from tests.worker.endless import long_run

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1_500)]

WARM_UP, MESSAGES = 50_000, 1_000_000
MOST_GROWTH = 0.05
RESIDENT = Path("/proc/self/statm")


def resident_mb() -> float:
    """What this process has in memory now, not its peak."""
    gc.collect()
    return int(RESIDENT.read_text().split()[1]) * resource.getpagesize() / 2**20


@pytest.mark.skipif(not RESIDENT.exists(), reason="no /proc: what is resident now can't be read")
def test_a_million_messages_leave_the_memory_as_it_was(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)  # or pytest keeps every line
    began_s = time.process_time()
    run = long_run(WARM_UP, MESSAGES, resident_mb)
    used_s = time.process_time() - began_s
    sys.stdout.write(
        f"\nworker: {MESSAGES:,} messages, {run.took_s / 3600:.1f} h of virtual time, {run.heartbeats:,} heartbeats: "
        f"{run.before:.1f} MB after {WARM_UP:,}, {run.after:.1f} MB at the end ({run.after / run.before - 1:+.1%}, "
        f"{MOST_GROWTH:.0%} allowed); {used_s / MESSAGES * 1e6:.0f} µs of processor time a message"
    )
    assert run.after <= run.before * (1 + MOST_GROWTH)
