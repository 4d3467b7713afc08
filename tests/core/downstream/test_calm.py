"""How long handlers run when nothing is asked too much of, under a hold."""

import math
from dataclasses import replace

import pytest

from tests.core.downstream.test_step_effect import fleet
from tidegate.core.downstream.calm import as_long_when_quiet, with_times
from tidegate.core.downstream.levels import busy
from tidegate.core.downstream.state import Hold, Level, Sign

HOLD = Hold(8, 8, Sign.NO_GAIN, "why", True, 0.0, 100.0, 100.0, 0.25, 0.0, calm_s=4.0, base_s=4.4, above_s=8.0)
SLOTS = 4


def level(workers: int, mean_s: float, share: float = 1.0, span_s: float = 120.0) -> Level:
    """So many of the workers' slots in use, and a run that varies by as much as its mean."""
    busy = share * SLOTS * workers
    runs = busy * span_s / mean_s
    open_s = SLOTS * workers * span_s
    return Level(workers, 0.0, span_s, busy * span_s, open_s, runs, runs, runs * mean_s, 2 * runs * mean_s**2)


def times(hold: Hold, now: Level, busy_now: float = 0.0) -> tuple[float | None, float | None]:
    """(calm, at the base), seconds."""
    told = replace(fleet(now.workers), busy=round(max(busy(now), busy_now)), since_s=30.0)
    later = with_times(hold, None, now, 4.0, SLOTS, told)
    return later.calm_s, later.base_s


@pytest.mark.parametrize(
    ("before", "quick_s", "calm_s"),
    [
        (level(4, 4.2), 4.0, 4.2),
        (level(4, 6.0), 4.0, 4.4),
        (level(4, 6.0, span_s=5.0), 4.0, 4.0),
        (None, 4.0, 4.0),
        (None, math.inf, None),
        (level(4, 6.0), math.inf, 6.0),
    ],
    ids=["before the step", "already strained then", "too short then", "the quickest", "nothing known", "only before"],
)
def test_at_first_calm_is_what_it_was_before_the_step_but_not_far_from_the_quickest(
    before: Level | None, quick_s: float, calm_s: float | None
) -> None:
    later = with_times(replace(HOLD, calm_s=None), before, level(8, 8.0), quick_s, SLOTS, fleet(8))
    assert later.calm_s == (None if calm_s is None else pytest.approx(calm_s))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (level(8, 4.6), (4.0, 4.6)),
        (level(8, 4.6, share=0.8), (4.0, 4.4)),
        (level(9, 4.6), (4.0, 4.4)),
        (level(8, 4.6, span_s=40.0), (4.0, 4.4)),
        (level(8, 3.5), (3.95, 3.5)),
        (level(3, 4.2), (4.02, 4.4)),
        (level(3, 8.0), (8.0, None)),
        (level(3, 2.0), (2.0, 4.4)),
    ],
    ids=[
        "full at the base",
        "idle slots",
        "another count",
        "too few runs",
        "quicker when full",
        "about as calm when quiet",
        "longer when quiet: the work has changed",
        "quicker when quiet",
    ],
)
def test_longer_runs_are_calm_ones_only_when_few_slots_are_in_use(
    now: Level, expected: tuple[float, float | None]
) -> None:
    calm_s, base_s = times(HOLD, now)
    assert calm_s == pytest.approx(expected[0])
    assert base_s == (None if expected[1] is None else pytest.approx(expected[1]))


def test_while_slots_fill_it_is_not_quiet_though_few_were_in_use_on_average() -> None:
    longer = level(3, 8.0)
    assert times(HOLD, longer, busy_now=32.0) == (4.0, 4.4)
    assert as_long_when_quiet(HOLD, longer, SLOTS, 12.0)
    assert not as_long_when_quiet(HOLD, longer, SLOTS, 32.0)


@pytest.mark.parametrize(
    ("hold", "now", "same"),
    [
        (HOLD, level(3, 8.0), True),
        (HOLD, level(3, 4.0), False),
        (HOLD, level(8, 8.0), False),
        (HOLD, level(3, 8.0, span_s=40.0), False),
        (replace(HOLD, above_s=None), level(3, 8.0), False),
        (replace(HOLD, calm_s=None), level(3, 8.0), False),
        (replace(HOLD, above_s=4.4), level(3, 4.4), False),
    ],
    ids=["as long", "calm again", "not quiet", "too few runs", "nothing to compare", "calm not known", "too near"],
)
def test_handlers_that_run_as_long_with_few_slots_in_use_are_not_slow_for_their_number(
    hold: Hold, now: Level, same: bool
) -> None:
    assert as_long_when_quiet(hold, now, SLOTS, busy(now)) is same
