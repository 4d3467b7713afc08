from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.lab.sights import scenario
from tidegate.errors import TidegateError
from tidegate.lab import optimum
from tidegate.lab.optimum import solve


def test_work_that_fits_one_slot_costs_that_slot_and_its_start() -> None:
    # one message a second of one second each, for ten minutes, none may be late: one slot for all of it, asked for once
    work = scenario([float(at) + 0.5 for at in range(600)], service_s=1.0, target_s=20.0, start_up_s=50.0, length_s=600)
    plan = solve(work, late_allowed=0.0, bin_s=10.0)
    assert plan.cost_slot_s == pytest.approx(600 + 50, rel=0.02)
    assert plan.slots.max() == pytest.approx(1.0, abs=0.05)


def test_a_dump_is_spread_over_the_target_when_starting_slots_is_dear() -> None:
    # 60 jobs of 10 s at once, target 50 s, bins of 10 s: by the sixth bin's end c slots have started 6c + c
    work = scenario([5.0] * 60, service_s=10.0, target_s=50.0, start_up_s=1000.0, length_s=300)
    plan = solve(work, late_allowed=0.0, bin_s=10.0)
    assert plan.slots.max() == pytest.approx(60 / 7, rel=0.01)
    assert plan.cost_slot_s == pytest.approx(600 + 1000 * 60 / 7, rel=0.01)


def test_jobs_longer_than_the_target_need_a_slot_each_and_no_more() -> None:
    work = scenario([5.0] * 40, service_s=200.0, target_s=20.0, start_up_s=30.0, length_s=600)
    plan = solve(work, late_allowed=0.0, bin_s=10.0)
    assert 33 <= plan.slots.max() <= 40
    assert plan.cost_slot_s <= 40 * 200 + 40 * 30 + 1e-6


def test_slots_that_are_there_at_the_start_cost_no_start_up() -> None:
    arrivals = [float(at) + 0.5 for at in range(600)]
    cold = scenario(arrivals, service_s=4.0, target_s=20.0, start_up_s=50.0, length_s=600)
    warm = scenario(arrivals, service_s=4.0, target_s=20.0, start_up_s=50.0, length_s=600, initial=1)
    assert solve(cold, 0.0, 10.0).cost_slot_s - solve(warm, 0.0, 10.0).cost_slot_s == pytest.approx(4 * 50, rel=0.05)


def test_what_may_be_late_makes_it_cheaper_and_never_below_the_work() -> None:
    rng = np.random.default_rng(1)
    work = scenario(np.sort(rng.uniform(0, 3600, 2000)).tolist(), service_s=9.0, target_s=60.0, start_up_s=120.0)
    costs = [solve(work, share).cost_slot_s for share in (0.0, 0.01, 0.1)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] >= 2000 * 9.0


@pytest.mark.parametrize("fails", ["after presolve", "always"])
def test_where_the_solver_gives_up_it_is_asked_again_without_presolve(
    fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver: Any = linprog

    def giving_up(*program: Any, options: dict[str, bool], **more: Any) -> Any:
        if fails == "always" or options["presolve"]:
            return SimpleNamespace(x=None, fun=None, message="(HiGHS Status 0: Not Set)")
        return solver(*program, options=options, **more)

    work = scenario([5.0] * 40, service_s=200.0, target_s=20.0, start_up_s=30.0, length_s=600)
    expected = solve(work, late_allowed=0.0, bin_s=10.0).cost_slot_s
    monkeypatch.setattr(optimum, "linprog", giving_up)
    if fails == "always":
        with pytest.raises(TidegateError, match=r"no optimum for .*Not Set.*try a larger bin"):
            solve(work, late_allowed=0.0, bin_s=10.0)
    else:
        assert solve(work, late_allowed=0.0, bin_s=10.0).cost_slot_s == pytest.approx(expected)
