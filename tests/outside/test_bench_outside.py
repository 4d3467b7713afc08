"""The whole matrix, printed: what tidegate pays and misses in a world that its authors did not make.

`make bench` runs it, or: pytest -q -s -m bench tests/outside
"""

import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.outside.companies import scenarios as companies
from tests.outside.judge import LATE_SHARE, Verdict, judge
from tests.outside.troubles import scenarios as troubles

BUDGET_S = 300.0
"""Cells that have not been begun by then are left out, and said so."""


def _judged(name: str, until_s: float) -> Verdict | None:
    scenarios = {one.name: one for one in (*companies(), *troubles())}
    return judge(scenarios[name]) if time.time() < until_s else None


def _ratio(ratio: float | None) -> str:
    return "  late" if ratio is None else f"{ratio:6.2f}"


def _row(one: Verdict) -> str:
    ours, sight = one.ours, one.sight
    ratios = f"{_ratio(one.ratio(one.keda))} {_ratio(one.ratio(one.little))}"
    theirs = f"{sight.late_share:7.2%} {sight.cost:7.2f} {ratios}"
    mark = "" if one.blameless else "  LATE"
    return (
        f"{one.name:<34} {ours.late_share:7.2%} {ours.cost:7.2f} {theirs} {ours.turns:5d} {ours.interrupted:4d}{mark}"
    )


def _mean(ratios: Sequence[float | None]) -> float:
    held = [ratio for ratio in ratios if ratio is not None]
    return math.exp(sum(map(math.log, held)) / len(held))


def _judged_all(names: Sequence[str]) -> list[Verdict]:
    until_s = time.time() + BUDGET_S
    with ProcessPoolExecutor(2) as workers:
        found = workers.map(_judged, names, [until_s] * len(names))
        return [one for one in found if one is not None]


@pytest.mark.bench
@pytest.mark.timeout(2 * BUDGET_S)
def test_it_is_late_where_sight_is_and_cheaper_than_whoever_is_tuned_in_the_whole_matrix() -> None:
    names = [one.name for one in (*companies(), *troubles())]
    verdicts = _judged_all(names)
    count = [one for one in verdicts if one.sight.late_share <= LATE_SHARE]
    met = sum(one.ours.late_share <= LATE_SHARE for one in count)
    keda, little = _mean([one.ratio(one.keda) for one in count]), _mean([one.ratio(one.little) for one in count])
    head = f"{'scenario':<34} {'late':>7} {'cost':>7} {'sight':>7} {'cost':>7} {'÷KEDA':>6} {'÷0.7':>6} turns int."
    said = f"{len(verdicts)} of {len(names)} played; on time in {met} of the {len(count)} that count"
    rows = [head, *map(_row, verdicts), f"{said}; geometric means: ÷ KEDA {keda:.2f}, ÷ 0.7 {little:.2f}"]
    sys.stdout.write("\n" + "\n".join(rows) + "\n")
    assert met >= 0.9 * len(count)
    assert keda < 1.0
    assert little < 1.0
