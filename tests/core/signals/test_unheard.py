"""Pools of which only some workers report: the others do as much, and are neither missing nor in the way."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import HELD, NOW_S, POOL, STEADY_12, capacity, observe, queue, worker
from tests.core.retire.retiring import protected
from tidegate.core.ceiling import Ceiling
from tidegate.core.decide import decide
from tidegate.core.decision import Reason
from tidegate.core.downstream.guard import guard
from tidegate.core.downstream.state import GuardMemory, Level
from tidegate.core.estimation.listen import listen
from tidegate.core.guardrails.starting import learn_presence
from tidegate.core.memory import Presence
from tidegate.core.model import Pool, PoolState
from tidegate.core.reports import WAIT_BOUNDS_S, Fleet, WorkerReport, WorkerState
from tidegate.core.retire.choice import retire
from tidegate.core.signals.astray import SILENT_LIMIT_S
from tidegate.core.signals.fleet import sum_fleet
from tidegate.core.signals.read import read_signals
from tidegate.core.signals.unheard import with_unheard

LONG_AGO_S = NOW_S - SILENT_LIMIT_S - 1
MIXED = PoolState(
    samples=STEADY_12,
    ticked_at_s=NOW_S - 10,
    reported_at_s=NOW_S - 10,
    silence=((LONG_AGO_S, 3),),
    mixed_at_s=NOW_S - 10,
)
LIMIT = Ceiling(50, "max_workers", Reason.MAXIMUM)
WAITED = (*(4 if bound == 3 else 0 for bound in WAIT_BOUNDS_S), 0)


def some(count: int, completions: int = 40) -> tuple[WorkerReport, ...]:
    return tuple(worker(f"w{n}", busy=2, completions=completions, waits=WAITED) for n in range(count))


def step(values: object, name: str) -> dict[str, object]:
    return next(dict(each.values) for each in values.steps if each.name == name)  # type: ignore[attr-defined]


@given(st.integers(1, 6), st.integers(0, 9))
def test_all_together_do_what_those_do_that_report_worker_for_worker(reporting: int, unheard: int) -> None:
    told = sum_fleet(PoolState(), Fleet(NOW_S, some(reporting)), NOW_S, 30.0)
    assert told is not None
    whole = with_unheard(told, unheard)
    expected = sum_fleet(PoolState(), Fleet(NOW_S, some(reporting + unheard)), NOW_S, 30.0)
    assert expected is not None
    assert whole.starts == pytest.approx(expected.starts)
    assert (whole.departures, whole.ends) == pytest.approx((expected.departures, expected.ends))
    for name in ("workers", "taking", "slots", "busy", "busy_workers", "idle", "barred", "slots_per_worker"):
        assert getattr(whole, name) == getattr(expected, name), name
    assert (whole.runs, whole.service_time_sum_s) == (told.runs, told.service_time_sum_s)
    assert whole.waits is not None
    assert expected.waits is not None
    assert whole.waits.starts == expected.waits.starts
    assert whole.waits.sum_s == pytest.approx(expected.waits.sum_s)
    assert (whole.waits.late_share, whole.waits.p99_s) == (expected.waits.late_share, expected.waits.p99_s)


def test_workers_on_their_way_out_are_no_measure_of_those_that_take_work() -> None:
    leaving = worker("l", busy=2, completions=40, state=WorkerState.DRAINING)
    told = sum_fleet(PoolState(), Fleet(NOW_S, (*some(1), leaving)), NOW_S, 30.0)
    alone = sum_fleet(PoolState(), Fleet(NOW_S, (leaving,)), NOW_S, 30.0)
    assert told is not None
    assert alone is not None
    assert with_unheard(told, 1).starts == 2 * told.starts
    assert with_unheard(told, 1, lately=1).starts == 1.5 * told.starts
    assert (with_unheard(told, 1).ends, with_unheard(told, 1).busy) == (1.5 * told.ends, 6)
    assert with_unheard(alone, 1).starts == 2 * alone.starts
    assert with_unheard(alone, 1).waits is None


def test_a_pool_of_which_half_report_is_sized_as_the_one_of_which_all_do() -> None:
    mean_of_all, _ = decide(POOL, replace(MIXED, silence=()), observe(queue(9000), workers=some(6), seen=capacity(6)))
    of_half, _ = decide(POOL, MIXED, observe(queue(9000), workers=some(3), seen=capacity(6)))
    for name in ("arrivals_per_s", "service_time_s"):
        assert step(of_half, "estimate")[name] == step(mean_of_all, "estimate")[name]
    assert of_half.desired == mean_of_all.desired
    assert step(of_half, "signals")["reporting"] == 3
    assert "3 of 6 running workers report; what the others do is reckoned from these" in of_half.sentence


def test_workers_that_do_their_work_in_silence_block_no_scale_out() -> None:
    state = replace(MIXED, presence=Presence(3, 3, NOW_S - 10_000))
    decision, after = decide(POOL, state, observe(queue(9000), workers=some(3), seen=capacity(6)))
    assert decision.reason is not Reason.NOT_STARTING
    assert decision.desired > 6
    assert after.presence == Presence(6)


def test_one_of_them_that_is_still_to_come_is_missing() -> None:
    signals = read_signals(POOL, MIXED, observe(workers=some(3), seen=capacity(6)))
    assert learn_presence(MIXED, signals, capacity(8, running=6), NOW_S) == Presence(6, 6, NOW_S)


def test_they_are_scaled_in_by_the_plain_change_before_any_that_reports_is_retired() -> None:
    idle = tuple(protected(f"w{n}", 0) for n in range(3))
    state = replace(HELD, reported_at_s=NOW_S - 10, silence=((LONG_AGO_S, 3),), mixed_at_s=NOW_S - 10)
    decision, after = decide(POOL, state, observe(queue(0), workers=idle, seen=capacity(6)))
    assert decision.desired == 3
    assert len(after.retired) == 2


@pytest.mark.parametrize(("wanted", "desired", "retired"), [(5, 6, 1), (4, 5, 1), (2, 4, 2), (0, 3, 3)])
def test_a_group_that_is_told_names_lets_those_go_in_proportion_that_have_none(
    wanted: int, desired: int, retired: int
) -> None:
    named = tuple(worker(f"w{n}", busy=4, host=f"i-{n}") for n in range(3))
    seen = observe(workers=named, seen=capacity(6, removes_by_name=True))
    outcome = retire(wanted, (), seen, gentle=True, lower=True, unheard=3)
    assert (outcome.workers, len(outcome.retired)) == (desired, retired)


def test_raises_that_were_answered_in_silence_do_not_make_the_next_start_up_look_long() -> None:
    raised = replace(MIXED, raises=((NOW_S - 500, 2), (NOW_S - 40, 1)))
    seen = observe(workers=some(3), seen=capacity(7, running=6))
    assert listen(POOL, raised, seen, read_signals(POOL, raised, seen)).raises == ((NOW_S - 40, 1),)
    young = replace(raised, silence=((LONG_AGO_S, 2), (NOW_S - 20, 1)))
    assert listen(POOL, young, seen, read_signals(POOL, young, seen)).raises == ((NOW_S - 500, 1), (NOW_S - 40, 1))


def test_completions_that_are_reckoned_judge_no_step() -> None:
    pool = Pool("orders", 30, 1, 50, slots_per_worker=4)
    level = Level(5, NOW_S - 200, 300.0, 2400.0, 2400.0, 600.0, 600.0, 2400.0, 9600.0)
    state = replace(MIXED, guard=GuardMemory(before=level, level=replace(level, workers=6)))
    for reporting, judged in ((6, True), (3, False)):
        seen = observe(workers=some(reporting), seen=capacity(6))
        guarded = guard(pool, state, seen, read_signals(pool, state, seen), 6, LIMIT, 60.0)
        assert (guarded.memory.before is not None) is judged
