"""The long demos, as a user would start them: `make soak`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

TRACE = Path(__file__).parents[2].parent / "shared" / "traces" / "azure_llm_code_1s.csv"


def demo(tmp_path: Path, *args: str) -> dict[str, Any]:
    path = tmp_path / "verdict.json"
    command = [sys.executable, "-m", "tidegate", "demo", "--json", str(path), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=580)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    verdict: dict[str, Any] = json.loads(path.read_text())
    return verdict


def test_the_default_demo_goes_out_and_comes_back_in_and_loses_nothing(tmp_path: Path) -> None:
    verdict = demo(tmp_path)
    assert (verdict["lost"], verdict["interrupted"], verdict["errors"]) == (0, 0, 0)
    assert verdict["peak_workers"] >= 4 * verdict["min_workers"]
    assert verdict["final_workers"] <= 2 * verdict["min_workers"]
    assert verdict["late_share"] <= 0.10


@pytest.mark.skipif(not TRACE.exists(), reason=f"no {TRACE.name} in ../shared/traces beside this checkout")
def test_a_real_trace_at_twenty_times_its_speed_is_held_under_the_target(tmp_path: Path) -> None:
    verdict = demo(tmp_path, "--trace", str(TRACE), "--speed", "20", "--for", "120")
    assert (verdict["lost"], verdict["interrupted"], verdict["errors"], verdict["duplicates"]) == (0, 0, 0, 0)
    assert verdict["late_share"] <= 0.10
