"""The example is run as a user runs it, for a second a phase."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "async_pool.py"


@pytest.mark.integration
def test_the_example_of_the_pool_runs_and_shows_its_workers() -> None:
    ran = subprocess.run([sys.executable, EXAMPLE, "1"], capture_output=True, text=True, check=True, timeout=50)
    lines = ran.stdout.splitlines()
    assert [line for line in lines if line.startswith("--")] == ["-- 50 a second", "-- 800 a second", "-- 50 a second"]
    assert " s  workers  busy  waiting" in lines
    assert ran.stderr == ""
