"""What bounds the fleet: each bottleneck by its own figures, the smallest named with them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.bottlenecks import ApiRate, Database, max_workers_for
from tidegate.core.ceiling import ceiling, learn_quick
from tidegate.core.decide import decide
from tidegate.core.decision import Reason
from tidegate.core.model import Pool, PoolState, ServiceTime
from tidegate.core.reports import WorkerReport

DATABASE = Database(connections=100, reserved=10, per_slot=2)


def bound(pool: Pool, quick_s: float | None = None, slots_per_worker: int = 4) -> tuple[int, str]:
    limit = ceiling(pool, capacity(), slots_per_worker, quick_s)
    return limit.workers, limit.binds


def test_a_databases_connections_less_those_reserved_bound_the_slots() -> None:
    assert bound(replace(POOL, database=DATABASE)) == (
        11,
        "the database (100 connections less 10 reserved, 2 per slot: 45 slots)",
    )
    assert str(Database(7)) == "the database (7 connections, 1 per slot: 7 slots)"


def test_an_apis_rate_bounds_the_slots_by_the_service_time() -> None:
    pool = replace(POOL, api=ApiRate(100.0))
    assert bound(pool, quick_s=0.12) == (3, "the API's rate (100/s × 0.12 s: 12 slots)")
    assert bound(replace(pool, api=ApiRate(100.0, 3.0)), 0.03, 1) == (
        1,
        "the API's rate (100/s × 0.03 s ÷ 3 calls each: 1 slot)",
    )


def test_an_apis_rate_leaves_one_worker_and_is_left_out_while_no_service_time_is_known() -> None:
    pool = replace(POOL, api=ApiRate(1.0), service_time_hint_s=None)
    assert bound(pool, quick_s=0.5)[0] == 1
    assert bound(pool)[0] == POOL.max_workers
    assert bound(replace(pool, service_time_hint_s=8.0))[0] == 2


def test_a_fifo_queues_groups_bound_the_slots_rounded_up_to_whole_workers() -> None:
    assert bound(replace(POOL, message_groups=10)) == (3, "the queue's 10 message groups")


def test_the_decision_names_what_binds_and_shows_what_each_constraint_allows() -> None:
    pool = replace(POOL, database=DATABASE, max_slots=80, message_groups=200)
    seen = observe(queue(90_000), seen=capacity(8, maximum=30), workers=(worker(completions=120),))
    decision, _ = decide(pool, PoolState(), seen)
    assert (decision.desired, decision.reason) == (11, Reason.CEILING)
    assert decision.sentence.endswith(f"; capped at 11 by {DATABASE}")
    allowed = next(step.values for step in decision.steps if step.name == "ceiling")
    assert {name: count for name, count in allowed.items() if name.endswith("_allows")} == {
        "max_workers_allows": 50,
        "max_slots_allows": 20,
        "database_allows": 11,
        "message_groups_allows": 50,
        "platform_allows": 30,
    }


def limited(worker_id: str, permitted: int, busy: int = 0, fleet_slots: int | None = 6) -> WorkerReport:
    return worker(worker_id, busy=busy, permitted=permitted, fleet_slots=fleet_slots, completions=9)


def test_the_limit_that_workers_keep_among_themselves_bounds_the_fleet_in_whole_workers_and_is_named() -> None:
    seen = observe(queue(9_000), desired=2, workers=(limited("w1", 3, 3), limited("w2", 3, 3)))
    decision, after = decide(POOL, PoolState(), seen)
    assert (decision.desired, decision.reason) == (2, Reason.CEILING)
    assert decision.sentence.endswith("; capped at 2 by the workers' own fleet_slots 6")
    allowed = next(step.values for step in decision.steps if step.name == "ceiling")
    assert allowed["fleet_slots_allows"] == 2
    assert after.fleet_slots == 6


def test_the_limit_is_remembered_while_no_worker_is_seen_and_gone_when_one_reports_none() -> None:
    state = PoolState(fleet_slots=6)
    blind, after = decide(POOL, state, observe(queue(9_000), desired=1))
    assert (blind.desired, after.fleet_slots) == (2, 6)
    mixed = observe(queue(9_000), desired=1, workers=(limited("w1", 4), limited("w2", 4, fleet_slots=None)))
    free, after = decide(POOL, state, mixed)
    assert (free.desired > 2, after.fleet_slots) == (True, None)


def test_where_workers_differ_the_higher_limit_holds() -> None:
    seen = observe(queue(9_000), desired=1, workers=(limited("w1", 4), limited("w2", 4, fleet_slots=16)))
    assert decide(POOL, PoolState(), seen)[0].desired == 4


def known(mean_s: float, runs: float = 100.0) -> ServiceTime:
    return ServiceTime(runs, runs * mean_s, runs * mean_s**2)


def test_a_slower_dependency_does_not_raise_the_ceiling_and_longer_jobs_do_in_an_hour() -> None:
    state = PoolState(quick_s=0.1)
    quick_s = state.quick_s
    for _ in range(30):  # five minutes
        quick_s = learn_quick(replace(state, quick_s=quick_s), known(1.0), 10.0)
    assert quick_s == pytest.approx(0.1, rel=0.06)
    for _ in range(360):
        quick_s = learn_quick(replace(state, quick_s=quick_s), known(0.15), 10.0)
    assert quick_s == 0.15


def test_the_quick_service_time_follows_the_mean_down_at_once_and_waits_for_enough_runs() -> None:
    assert learn_quick(PoolState(), None, 10.0) is None
    assert learn_quick(PoolState(), known(0.2, runs=10), 10.0) is None
    assert learn_quick(PoolState(), known(0.2), 10.0) == 0.2
    assert learn_quick(PoolState(quick_s=0.2), known(0.05), 10.0) == 0.05
    assert learn_quick(PoolState(quick_s=0.0), known(0.05), 10.0) == 0.05


def test_the_decision_remembers_the_quick_service_time() -> None:
    state = PoolState(quick_s=0.1, ticked_at_s=NOW_S - 10)
    _, after = decide(POOL, state, observe(queue(10), workers=(worker(completions=100, mean_s=1.0),)))
    assert after.quick_s == pytest.approx(0.1, rel=0.01)


@given(st.integers(1, 1000), st.floats(0.01, 1e5), st.floats(0.001, 1000), st.floats(0.01, 100), st.floats(1, 10))
def test_more_of_anything_never_lowers_what_one_process_may_do_at_once(
    connections: int, rate: float, item_s: float, calls: float, factor: float
) -> None:
    base = max_workers_for(connections, rate, item_s, calls)
    assert 1 <= base <= max(1, connections)
    assert max_workers_for(connections, rate * factor, item_s, calls) >= base
    assert max_workers_for(connections, rate, item_s * factor, calls) >= base
    assert max_workers_for(connections, rate, item_s, calls * factor) <= base
    assert base == 1 or base / item_s * calls <= rate * (1 + 1e-6)
