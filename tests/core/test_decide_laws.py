"""The laws that hold for every decision, whatever the pool, its state and what is seen."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.observations import HELD, NOW_S, STEADY_12, capacity, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Action, Decision, Reason
from tidegate.core.guardrails.limits import ramp
from tidegate.core.model import (
    Balance,
    Holding,
    Looseness,
    Outlook,
    Override,
    OverrideKind,
    Pool,
    PoolState,
    ServiceTime,
)
from tidegate.core.observation import Observation
from tidegate.core.stored.codec import from_json, to_json

pools = st.builds(
    Pool,
    name=st.just("orders"),
    target_wait_s=st.floats(1, 3600),
    min_workers=st.integers(0, 10),
    max_workers=st.integers(10, 200),
    slots_per_worker=st.integers(1, 32),
    policy=st.sampled_from(["littles-law", "wait"]),
    economy=st.sampled_from(["lean", "prompt"]),
    utilization=st.none() | st.floats(0.05, 1),
    drain_target_s=st.none() | st.floats(1, 3600),
    ramp_share=st.floats(0, 4),
    ramp_workers=st.integers(1, 50),
    hold_s=st.floats(0, 600),
    tick_s=st.floats(1, 60),
    service_time_hint_s=st.none() | st.floats(0.001, 600),
    max_slots=st.none() | st.integers(400, 2000),
)
counts = st.none() | st.integers(0, 20_000)
absences = st.none() | st.sampled_from(list(Absence))
TRAINS = Outlook(windows=30, then=24, now=24, then_square=75, then_now=30, now_square=75, missed=28, high=1.5)
"""√rates of an hour in which bursts of ten a second came and went: next to nothing follows from the last window."""

SCALED = Balance(busy_s=3600, starts=1000, ends=900, seen_s=900, waited_s=60_000, counted_s=40_000, span_s=600)
"""Handlers ran for longer than their reports tell, and more waited than was counted."""

states = st.builds(
    PoolState,
    samples=st.just(STEADY_12) | st.just(()),
    needs=st.just(HELD.needs) | st.just(()),
    watched_since_s=st.none() | st.just(HELD.watched_since_s),
    ticked_at_s=st.none() | st.just(HELD.ticked_at_s),
    reported_at_s=st.none() | st.floats(NOW_S - 1e6, NOW_S),
    override=st.none()
    | st.builds(
        Override,
        kind=st.sampled_from(list(OverrideKind)),
        who=st.just("ada"),
        since_s=st.just(NOW_S),
        until_s=st.none() | st.floats(0, 1e13),
        workers=st.none() | st.integers(0, 300),
    ),
    service_time=st.none() | st.just(ServiceTime(50, 40, 64)),
    lean=st.floats(0, 1),
    surge=st.floats(0, 3),
    outlook=st.just(Outlook()) | st.just(TRAINS),
    balance=st.just(Balance()) | st.just(SCALED),
    looseness=st.just(Looseness()) | st.just(Looseness(900.0, 700.0)),
    holding=st.just(Holding()) | st.just(Holding((9, 4, 30), (900.0, 800.0, 1000.0))),
    margin=st.floats(0, 1),
    count_error=st.floats(0, 0.2),
    desired=st.none() | st.integers(0, 50),
)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    busy = draw(st.integers(0, 4))
    reports = tuple(
        worker(f"w{n}", busy=busy, completions=draw(st.integers(0, 99))) for n in range(draw(st.integers(0, 5)))
    )
    return observe(
        queue(
            draw(counts),
            draw(st.integers(0, 500)),
            absence=draw(absences),
            age_s=draw(st.none() | st.floats(0, 1e5)),
            deleted_per_s=draw(st.none() | st.floats(0, 100)),
        ),
        desired=draw(st.integers(0, 60)),
        workers=reports,
        fleet_absence=draw(absences),
    )


@settings(max_examples=300, deadline=None)
@given(pools, states, observations())
def test_bounds_always_hold(pool: Pool, state: PoolState, seen: Observation) -> None:
    decision, after = decide(pool, state, seen)
    if after.override is not None:
        assert "by ada until" in decision.sentence
    else:
        assert decision.desired >= min(pool.min_workers, decision.current) or decision.reason is Reason.CEILING
    if decision.action is Action.OUT and after.override is None:
        most = ramp(10**9, decision.current, pool).workers
        assert decision.desired <= max(most, pool.min_workers)
        assert decision.desired <= pool.max_workers
    assert (decision.action is Action.HOLD) == (decision.desired == decision.current)
    assert decision.sentence


@settings(max_examples=300, deadline=None)
@given(pools, states, observations())
def test_missing_or_stale_data_never_scales_in(pool: Pool, state: PoolState, seen: Observation) -> None:
    absent = seen.queues[0].visible.absence is not None or seen.fleet.absence not in (None, Absence.MISSING)
    sdk = bool(seen.fleet.workers) or (state.reported_at_s is not None and NOW_S - state.reported_at_s <= 86_400)
    silent = sdk and seen.capacity.running > len(seen.fleet.workers)
    decision, _ = decide(pool, state, seen)
    if absent or silent:
        assert decision.action is not Action.IN


@settings(max_examples=300, deadline=None)
@given(pools, states, observations(), st.integers(1, 5000))
def test_more_backlog_never_gives_fewer_workers(pool: Pool, state: PoolState, seen: Observation, more: int) -> None:
    first = seen.queues[0]
    if first.visible.value is None or first.visible.absence is not None:
        return
    # the same arrivals: what waits more was there before, too
    earlier = tuple(s._replace(waiting=s.waiting + more, in_hand=s.in_hand + more) for s in state.samples)
    fuller = replace(first, visible=replace(first.visible, value=first.visible.value + more))
    now, _ = decide(pool, state, seen)
    then, _ = decide(pool, replace(state, samples=earlier), replace(seen, queues=(fuller,)))
    assert then.desired >= now.desired


@settings(max_examples=300, deadline=None)
@given(pools, states, observations(), st.floats(1, 20))
def test_longer_service_never_gives_fewer_workers(
    pool: Pool, state: PoolState, seen: Observation, factor: float
) -> None:
    """Of the same arrivals: where nobody tells what left, the service time says how much of what was in flight has.

    A backlog that fell all the same then means fewer arrivals, and less load.
    """
    if not seen.fleet.workers and seen.queues[0].deleted_per_s.value is None:
        return
    runs = ServiceTime(1e6, 8e5, 1.28e6)  # so many that one tick's reports don't matter
    longer = replace(runs, sum_s=runs.sum_s * factor, square_sum_s2=runs.square_sum_s2 * factor**2)
    now, _ = decide(pool, replace(state, service_time=runs), seen)
    then, _ = decide(pool, replace(state, service_time=longer), seen)
    assert then.desired >= now.desired


@settings(max_examples=100, deadline=None)
@given(pools, states, observations())
def test_a_decision_depends_on_nothing_else_and_everything_survives_json(
    pool: Pool, state: PoolState, seen: Observation
) -> None:
    decision, after = decide(pool, state, seen)
    again = decide(
        from_json(Pool, to_json(pool)), from_json(PoolState, to_json(state)), from_json(Observation, to_json(seen))
    )
    assert again == (decision, after)
    assert from_json(Decision, to_json(decision)) == decision
    assert from_json(PoolState, to_json(after)) == after


gaps_s = st.sampled_from([10.0, 0.0, 1.0, 60.0, 400.0, 5000.0, 1e6])
ticks = st.tuples(gaps_s, counts, st.none() | st.floats(0.1, 100), st.integers(0, 4), st.none() | absences)
"""Seconds since the last one, messages that wait, deletions a second, busy slots of a worker, why reports are away."""


@settings(max_examples=200, deadline=None)
@given(pools, st.booleans(), st.lists(ticks, min_size=3, max_size=12))
def test_however_much_time_passes_between_ticks_each_has_its_decision_and_a_state_that_can_be_stored(
    pool: Pool, sdk: bool, life: list[tuple[float, int | None, float | None, int, Absence | None]]
) -> None:
    state, now_s = PoolState(), NOW_S
    for passed_s, waiting, deleted_per_s, busy, absence in life:
        now_s += passed_s
        seen = observe(
            queue(waiting, 40, deleted_per_s=deleted_per_s, at_s=now_s),
            workers=(worker(busy=busy, completions=9, at_s=now_s),) if sdk else (),
            seen=capacity(12, at_s=now_s),
            fleet_absence=absence if sdk else None,
            at_s=now_s,
        )
        decision, state = decide(pool, state, seen)
        assert decision.at_s == now_s
        assert from_json(PoolState, to_json(state)) == state
