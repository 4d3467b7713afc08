"""The default policy: how much wait stands, how much headroom, and what every deadline needs of whom."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.closed_loop import WAIT as CLOSED
from tests.core.closed_loop import World
from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.decide import decide
from tidegate.core.estimation.committed import Committed, commit, workers_by
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.load import Load
from tidegate.core.model import Pool, PoolState, Sample
from tidegate.core.signals.read import read_signals
from tidegate.core.sizing.need import need
from tidegate.core.sizing.wait import EVEN_AGES, deadline_workers, hold_the_wait, mean_wait_bound_s

WAIT = replace(POOL, policy="wait", utilization=None, drain_target_s=None, target_wait_s=600, service_time_hint_s=20.0)
"""Ten minutes of wait are allowed: much longer than it takes to react."""

LOAD = Load(
    arrivals=Estimate(8.0, "counts"),
    waiting=0.0,
    head_age=Estimate(0.0, "empty"),
    service_time=Estimate(20.0, "workers"),
    variation=1.0,
    start_up=Estimate(60.0, "measured"),
    slots_per_worker=4,
    steady_per_s=8.0,
    committed=Committed(running=40),
    lean=1.0,
    surge=0.1,
)
"""160 slots of work in 40 workers of four."""


def size(load: Load, **settings: float | str) -> int:
    return hold_the_wait(replace(WAIT, **settings), load, 500).workers  # type: ignore[arg-type]  # the settings vary


def values(load: Load, **settings: float) -> dict[str, float]:
    return dict(hold_the_wait(replace(WAIT, **settings), load, 500).step.values)  # type: ignore[arg-type]  # ditto


def test_before_it_is_earned_no_wait_stands_and_chance_gets_its_headroom() -> None:
    prompt = values(replace(LOAD, lean=0.0))
    assert prompt["standing_wait_s"] == 0.0
    assert prompt["slots"] == prompt["regulated_slots"] == prompt["erlang_slots"] > 160


def test_an_earned_standing_wait_keeps_the_count_below_the_load_until_the_backlog_stands() -> None:
    assert size(LOAD) < 40
    standing = 8.0 * values(LOAD)["standing_wait_s"]
    assert values(replace(LOAD, waiting=standing))["regulated_slots"] == pytest.approx(160, abs=0.1)


def test_a_hundredth_of_a_slot_that_is_only_expected_keeps_no_worker_and_one_message_does() -> None:
    few = {"arrivals": Estimate(0.002, "counts"), "steady_per_s": 0.002, "committed": Committed(running=1)}
    asleep = replace(LOAD, **few, start_up=Estimate(180.0, "measured"), slots_per_worker=1)  # type: ignore[arg-type]
    assert size(asleep, target_wait_s=1800.0) == 0
    assert size(replace(asleep, waiting=1.0), target_wait_s=1800.0) == 1


def test_a_count_that_reads_low_never_takes_more_than_a_twentieth_of_the_load_away() -> None:
    assert values(LOAD)["regulated_slots"] >= 0.95 * 160 - 1e-9


def test_a_calm_pool_is_not_run_short_of_its_load_for_it_would_have_to_make_good_for_it_soon_after() -> None:
    least = [values(replace(LOAD, calm=calm))["regulated_slots"] for calm in (0.0, 0.5, 1.0)]
    assert least == pytest.approx([0.95 * 160, 0.975 * 160, 160])


def test_in_a_calm_pool_a_rate_read_off_a_shorter_window_has_that_windows_error_and_elsewhere_it_is_a_surge() -> None:
    shorter = replace(LOAD, arrivals=Estimate(10.0, "counts", error=1.0), chance_per_s=0.1)
    calm, bursty = (hold_the_wait(WAIT, replace(shorter, calm=calm), 500) for calm in (1.0, 0.0))
    assert calm.error > 20.0
    assert bursty.error == pytest.approx(0.1 * 20.0)
    usual = hold_the_wait(WAIT, replace(shorter, arrivals=Estimate(10.0, "counts"), calm=1.0), 500)
    assert usual.error < 5.0
    assert calm.band == usual.band, "a step down goes by the steady rate"


def test_a_small_pool_with_time_to_answer_what_waits_pays_for_it_when_it_waits_and_not_beforehand() -> None:
    # three slots of work: Erlang C asks for a second worker, but one is there 70 s after a message began to wait
    quiet = replace(
        LOAD,
        arrivals=Estimate(0.05, "counts"),
        steady_per_s=0.05,
        service_time=Estimate(60.0, "workers"),
        start_up=Estimate(30.0, "measured"),
        committed=Committed(running=1),
    )
    assert size(replace(quiet, lean=0.0), target_wait_s=120) == 2
    assert size(quiet, target_wait_s=120) == 1
    assert size(replace(quiet, waiting=6.0, head_age=Estimate(60.0, "counts")), target_wait_s=120) > 1
    assert size(quiet, target_wait_s=70) == 2


@pytest.mark.parametrize(("target_s", "leans"), [(600.0, True), (120.0, True), (30.0, False)])
def test_only_a_target_that_outlasts_the_blind_window_bears_a_standing_wait(target_s: float, leans: bool) -> None:
    assert (values(LOAD, target_wait_s=target_s)["standing_wait_s"] > 0) is leans


def test_a_surge_needs_headroom_where_the_target_is_shorter_than_the_blind_window_and_none_where_it_is_longer() -> None:
    doubling = replace(LOAD, surge=0.4142, lean=0.0)
    assert values(doubling, target_wait_s=600.0)["headroom_slots"] == 0.0
    # blind for 30 + 10 + 60 s, ten of which are allowed: 2 × 160 × (1 − 10/100)
    assert values(doubling, target_wait_s=10.0)["headroom_slots"] == pytest.approx(288, rel=0.01)


def test_a_pool_that_may_sleep_does_within_hours_of_the_last_message_though_nothing_could_start_in_time_then() -> None:
    asleep = World(
        replace(CLOSED, min_workers=0, target_wait_s=20), lambda at_s: 1.0 if at_s < 3600 else 0.0, start_up_s=90
    )
    asleep.run(3600)
    assert asleep.last.desired >= 1
    asleep.run(4 * 3600)
    assert asleep.last.desired == 0


def test_a_rate_that_may_not_last_is_backlog_where_there_is_time_to_see_and_load_where_there_is_none_or_prompt() -> (
    None
):
    surge = replace(LOAD, arrivals=Estimate(80.0, "counts, jump"), lean=0.0)
    assert values(surge, target_wait_s=600.0)["regulated_slots"] == values(replace(LOAD, lean=0.0))["regulated_slots"]
    assert values(surge, target_wait_s=30.0)["regulated_slots"] >= 1600
    prompt = hold_the_wait(replace(WAIT, economy="prompt"), surge, 500).step.values
    assert prompt["regulated_slots"] >= 1600  # type: ignore[operator]  # a number


def test_the_tail_of_a_dump_needs_more_than_an_evenly_old_backlog_for_it_is_all_due_at_once() -> None:
    # 2,000 messages of 20 s, the head 400 s old: even ages leave the youngest 600 s, a dump leaves all of them 200 s
    even = replace(LOAD, arrivals=Estimate(0.0, "counts"), steady_per_s=0.0, waiting=2000.0, lean=0.0)
    even = replace(even, head_age=Estimate(400.0, "counts"))
    needed = [
        deadline_workers(WAIT, replace(even, older=older), 600.0, 0.0, 300.0) for older in ((), EVEN_AGES, (1.0,) * 8)
    ]
    assert needed[0] == needed[1] == pytest.approx(2000 * 20 / 600 / 4, rel=0.05)
    assert needed[2] == pytest.approx(2000 * 20 / 200 / 4, rel=0.05)


def test_a_dump_that_is_worked_off_evenly_goes_on_to_need_most_of_the_workers_up_to_its_deadline() -> None:
    dump, even = [], []
    for age_s in (100.0, 200.0, 300.0, 400.0, 500.0):
        left = replace(LOAD, arrivals=Estimate(0.0, "counts"), steady_per_s=0.0, waiting=2000.0 * (1 - age_s / 600))
        left = replace(left, head_age=Estimate(age_s, "counts"))
        dump.append(deadline_workers(WAIT, replace(left, older=(1.0,) * 8), 600.0, 0.0, 300.0))
        even.append(deadline_workers(WAIT, left, 600.0, 0.0, 300.0))
    assert min(dump) > 0.5 * dump[0]
    assert even[-1] < 0.25 * even[0]


def test_a_drain_in_hand_is_kept_to_its_end_for_the_last_of_a_dump_are_as_old_as_its_head() -> None:
    tail = replace(
        LOAD,
        arrivals=Estimate(0.0, "counts"),
        steady_per_s=0.0,
        service_time=Estimate(5.0, "workers"),
        waiting=600.0,
        head_age=Estimate(540.0, "counts"),
        older=(1.0,) * len(EVEN_AGES),
        committed=Committed(running=14),
    )
    # 600 × 5 s of work within a minute are fifty slots; an eighth younger it would seem to be half of that
    assert deadline_workers(WAIT, tail, 600.0, 0.0, 300.0) == pytest.approx(600 * 5 / 60 / 4, rel=0.01)


def test_in_a_lull_a_long_backlog_keeps_the_time_that_its_length_leaves_it() -> None:
    """Its order is as loose as it is long; the rate of a lull would make it look like a short one, and due at once."""
    lull = replace(LOAD, arrivals=Estimate(0.0, "counts"), steady_per_s=0.0, mean_per_s=0.0, waiting=4000.0)
    time_s = (3600 - 200) / (1 + 2.6 * (7 / 4000) ** 0.5)  # ± 440 starts before the last one, blind twice for 100 s
    drain = values(lull, target_wait_s=3600)["drain_slots"]
    assert drain == pytest.approx(4000 * 20 / time_s, rel=0.02)
    assert values(replace(lull, waiting=1.0), target_wait_s=3600)["drain_slots"] < 1


def test_a_backlog_beyond_what_may_wait_is_drained_by_its_deadline() -> None:
    late = replace(LOAD, waiting=8000.0, head_age=Estimate(300.0, "counts"))
    assert size(late) > 60


@pytest.mark.parametrize("lean", [0.0, 1.0])
def test_what_waits_needs_no_more_slots_than_messages_however_long_each_runs(lean: float) -> None:
    """Three jobs of three hours: three slots, and not the hundred that would run all of it in five minutes."""
    rare = replace(LOAD, arrivals=Estimate(0.0, "counts"), steady_per_s=0.0, committed=Committed(), lean=lean)
    jobs = replace(rare, service_time=Estimate(10_800.0, "workers"), waiting=3.0, head_age=Estimate(900.0, "counts"))
    assert values(jobs, target_wait_s=300)["regulated_slots"] == 3.0
    assert size(jobs, target_wait_s=300) == 1


def test_workers_that_are_starting_are_not_bought_again() -> None:
    late = replace(LOAD, waiting=8000.0, head_age=Estimate(300.0, "counts"))
    asked = size(late)
    again = replace(late, committed=Committed(40, starting=((60.0, asked - 40),)))
    assert size(again) <= asked


def test_running_workers_come_first_then_starting_then_new_ones() -> None:
    there = Committed(running=2, starting=((50.0, 1),))
    needed = [workers_by(due, 100.0, there, 1, 10.0, 60.0, 5.0) for due in (10, 20, 25, 40)]
    # ten jobs each of the running; five and three quarters of the starting; four and three quarters of a new one
    assert needed == pytest.approx([1.0, 2.0, 2 + 5 / 5.75, 3 + (20 - 5.75) / 4.75])


def test_what_no_new_worker_can_come_in_time_for_asks_for_none_and_not_for_those_who_come_too_late() -> None:
    there = Committed(running=2, starting=((50.0, 1),))
    assert workers_by(1000, 40.0, there, 1, 10.0, float("inf"), 5.0) == 2


def test_handlers_too_short_to_measure_need_nobody_for_their_deadlines() -> None:
    assert deadline_workers(WAIT, replace(LOAD, service_time=Estimate(0.0, "workers")), 300.0, 8.0, 100.0) == 0.0


def test_what_a_doubtful_rate_makes_of_the_need_is_no_more_than_its_load() -> None:
    """A thousand wait, counted 15 % off, and hardly any come: the rate is unknown by a hundred times itself."""
    backlog = replace(LOAD, arrivals=Estimate(0.001, "counts"), steady_per_s=0.001, waiting=1000.0, chance_per_s=0.3)
    sized = hold_the_wait(WAIT, replace(backlog, calm=1.0), 500)
    assert sized.slots > 30
    assert sized.error == pytest.approx(0.3 * 20.0, rel=0.01)
    assert sized.band == pytest.approx(2 * 0.3 * 20.0)
    assert hold_the_wait(WAIT, backlog, 500).band == 0.0


def test_a_rate_that_headroom_stands_ready_for_moves_the_need_by_as_much_more() -> None:
    doubtful = replace(LOAD, chance_per_s=0.5, surge=0.5, calm=1.0)
    short, long = (hold_the_wait(replace(WAIT, target_wait_s=target_s), doubtful, 500) for target_s in (10, 600))
    reserve = 1.5**2 * (1 - 10 / 100)
    assert short.band / long.band == pytest.approx(reserve)
    assert values(replace(doubtful, lean=0.0), target_wait_s=10)["headroom_slots"] == pytest.approx(160 * reserve)


def test_a_fifo_queues_waits_spread_as_a_standard_queues_do() -> None:
    """Its order holds within a group only (AWS, "FIFO delivery logic": FIFO-queues-understanding-logic)."""
    ordered = hold_the_wait(WAIT, replace(LOAD, fifo=True), 500)
    assert ordered.step == hold_the_wait(WAIT, LOAD, 500).step


def test_a_long_queue_has_little_spread_of_waits() -> None:
    assert mean_wait_bound_s(120, 0.01) == 36
    bounds = [mean_wait_bound_s(120, rate) for rate in (0.1, 1.0, 10.0, 1000.0)]
    assert bounds == sorted(bounds)
    assert bounds[-1] < 120


loads = st.builds(
    lambda rate, steady, waiting, head_s, service_s, variation, start_up_s, running, starting, lean, surge, loose: Load(
        arrivals=Estimate(rate, "counts"),
        waiting=waiting,
        head_age=Estimate(head_s, "counts"),
        service_time=Estimate(service_s, "workers"),
        variation=variation,
        start_up=Estimate(start_up_s, "measured"),
        slots_per_worker=4,
        steady_per_s=steady,
        committed=Committed(running=running, starting=((start_up_s / 2, starting),)),
        lean=lean,
        surge=surge,
        loose=loose,
    ),
    rate=st.floats(0, 100),
    steady=st.floats(0, 100),
    waiting=st.floats(0, 1e5),
    head_s=st.floats(0, 2000),
    service_s=st.floats(0.01, 100),
    variation=st.floats(0, 4),
    start_up_s=st.floats(0.1, 600),
    running=st.integers(0, 100),
    starting=st.integers(0, 50),
    lean=st.floats(0, 1),
    surge=st.floats(0, 3),
    loose=st.floats(0, 1),
)
objectives = st.builds(
    lambda target_s, policy, utilization: replace(WAIT, target_wait_s=target_s, policy=policy, utilization=utilization),
    target_s=st.floats(5, 3600),
    policy=st.sampled_from(["littles-law", "wait"]),
    utilization=st.none() | st.floats(0.05, 1),
)


def needed(pool: Pool, load: Load) -> int:
    return (need if pool.plain else hold_the_wait)(pool, load, 500).workers


@given(objectives, loads, st.floats(0, 1e4))
def test_more_backlog_never_needs_fewer_workers(pool: Pool, load: Load, more: float) -> None:
    assert needed(pool, replace(load, waiting=load.waiting + more)) >= needed(pool, load)


@given(objectives, loads, st.floats(0, 100))
def test_more_arrivals_never_need_fewer_workers(pool: Pool, load: Load, more: float) -> None:
    more_come = Estimate(load.arrivals.value + more, "counts")
    assert needed(pool, replace(load, arrivals=more_come)) >= needed(pool, load)


@given(objectives, loads, st.floats(1, 10))
def test_longer_service_never_needs_fewer_workers(pool: Pool, load: Load, factor: float) -> None:
    longer = Estimate(load.service_time.value * factor, "workers")
    assert needed(pool, replace(load, service_time=longer)) >= needed(pool, load)


def test_starting_workers_are_timed_by_the_raises_that_they_answer() -> None:
    state = PoolState(raises=((NOW_S - 50, 2), (NOW_S - 10, 3)))
    reports = tuple(worker(f"w{n}") for n in range(4))
    seen = observe(queue(0), workers=reports, seen=capacity(8))
    found = commit(state, seen, read_signals(POOL, state, seen), 60.0)
    assert found == Committed(4, ((10.0, 1), (50.0, 3)))
    unknown = commit(PoolState(), seen, read_signals(POOL, state, seen), 60.0)
    assert unknown == Committed(4, ((30.0, 4),))
    all_there = commit(state, observe(workers=reports, seen=capacity(4)), read_signals(POOL, state, seen), 60.0)
    assert all_there == Committed(4)
    overdue = commit(PoolState(raises=((NOW_S - 500, 9),)), seen, read_signals(POOL, state, seen), 60.0)
    assert overdue == Committed(4, ((6.0, 4),))


def test_a_whole_decision_says_what_it_was_made_of() -> None:
    samples = tuple(Sample(NOW_S - 60 + 10 * n, 120.0 * n, 900, 900) for n in range(6))
    decision, _ = decide(WAIT, PoolState(samples=samples), observe(queue(900), workers=(worker(completions=120),)))
    step = next(step for step in decision.steps if step.name == "size")
    assert step.values["workers"] == decision.desired
    assert {"offered_slots", "blind_s", "growth", "standing_wait_s", "headroom_slots", "drain_slots"} <= set(
        step.values
    )
