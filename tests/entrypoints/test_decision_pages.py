"""The worked case of the downstream guard in docs/decisions.md is what the code prints."""

import re
from pathlib import Path

import pytest

from tests.core.plant import Plant
from tidegate.core.decision import Action
from tidegate.entrypoints.show import Shown

PAGE = Path(__file__).parents[2] / "docs" / "decisions.md"
SHOWN = ("orders:", "  size", "  ceiling", "  downstream", "  ramp")


def test_the_guards_worked_case_is_real_output(capsys: pytest.CaptureFixture[str]) -> None:
    plant = Plant(arrivals_per_s=10.0, limit_slots=30.0)
    plant.run(900)
    plant.arrivals_per_s = 20.0
    decisions = plant.run(900)
    Shown(as_json=False).decided(next(one for one in decisions if one.action is Action.IN), wrote=True)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.startswith(SHOWN)]
    blocks = re.findall(r"```\n(orders: 20 → 9.*?)\n```", PAGE.read_text(), re.DOTALL)
    assert blocks == ["\n".join(printed)]
    assert decisions[-1].desired == 9
    tries = [one for one in decisions if one.action is Action.OUT and "trying" in one.sentence]
    assert [one.desired for one in tries] == [12, 10]
