"""The tables of deviations name tests that exist: a renamed test would otherwise lose its entry unseen."""

import re
from pathlib import Path

import pytest

from tests.contract.sqs.deviations import DEVIATIONS, UNSTEADY

NAMED = sorted({name for table in (DEVIATIONS, UNSTEADY) for known in table.values() for name in known})


@pytest.mark.parametrize("name", NAMED)
def test_a_deviation_names_a_test(name: str) -> None:
    source = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    function = name.partition("[")[0]
    assert re.search(rf"^(async )?def {function}\(", source, re.MULTILINE)


def test_ours_deviates_nowhere() -> None:
    assert (DEVIATIONS["tidegate"], UNSTEADY["tidegate"]) == ({}, {})
