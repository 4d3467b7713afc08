"""What of a level may be judged by the runs that end in it."""

from dataclasses import replace

import pytest

from tests.core.downstream.test_calm import HOLD, level
from tidegate.core.downstream.situation import Situation, with_level

AT = Situation(now_s=0.0, running=8, better=8, need=20, least=1, most=60, interval_s=100.0)


@pytest.mark.parametrize(
    ("of_slots", "judged"), [(1.0, True), (0.92, True), (1.08, True), (0.85, False), (1.15, False)]
)
def test_a_step_back_is_made_and_judged_only_by_runs_that_took_as_long_together_as_slots_were_in_use(
    of_slots: float, judged: bool
) -> None:
    now = level(8, 4.0)
    at = with_level(AT, replace(now, sum_s=of_slots * now.busy_s), HOLD, 4.0, 4)
    assert at.full is judged
    assert (at.eased is not None) is judged
    assert at.calm is not None
