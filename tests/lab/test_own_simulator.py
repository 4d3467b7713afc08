"""The example of a simulator of one's own: `decide` from outside the lab, with the least that it can live with."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_simulator.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("own_simulator", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_from_counts_alone_the_target_is_kept_through_a_tripling_of_the_traffic_for_little_more_than_the_work(
    example: ModuleType, seed: int
) -> None:
    result = example.simulate(seed)
    assert result.late_share <= 0.01
    assert 1.0 < result.cost < 1.4  # 1 ÷ 0.7 = 1.43 is what a fixed utilization of 0.7 pays at its best


@pytest.mark.integration
def test_the_example_prints_what_came_of_it() -> None:
    printed = subprocess.run([sys.executable, str(EXAMPLE)], check=True, capture_output=True, text=True).stdout
    assert printed.startswith("0.00% late, cost 1.")
