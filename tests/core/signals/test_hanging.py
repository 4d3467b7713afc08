"""Workers that run, as the platform has it, and never come to their first receive call: no capacity, and not asked for
without end. Others that do not report but work are told apart from them."""

from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.closed_loop import POLICIES, World
from tests.core.observations import NOW_S, POOL, STEADY_12, capacity, observe, queue, reading, worker
from tidegate.core.decide import decide
from tidegate.core.decision import Reason, Step
from tidegate.core.estimation.committed import commit
from tidegate.core.guardrails.starting import learn_presence, started
from tidegate.core.memory import Presence, Proof, SilentWork
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import Fleet
from tidegate.core.signals.astray import SILENT_LIMIT_S
from tidegate.core.signals.fleet import FleetSignals, sum_fleet
from tidegate.core.signals.hanging import learn_silent_work, nothing_done, said_of_hanging
from tidegate.core.signals.read import read_signals
from tidegate.core.sizing.need import Sized, beside_hanging

HANGS = SilentWork(deleted=Proof(due=100.0, done=0.0))
LONG_AGO_S = NOW_S - SILENT_LIMIT_S - 1
HANGING = PoolState(
    samples=STEADY_12,
    ticked_at_s=NOW_S - 10,
    reported_at_s=NOW_S - 10,
    silence=((LONG_AGO_S, 3),),
    silent_work=HANGS,
    mixed_at_s=NOW_S - 10,
    presence=Presence(3, 3, NOW_S - 1200),
)
both = pytest.mark.parametrize("pool", POLICIES, ids=lambda pool: pool.policy)


def saturated(count: int, completions: int = 40) -> FleetSignals:
    reports = tuple(worker(f"w{n}", busy=4, completions=completions) for n in range(count))
    fleet = sum_fleet(PoolState(ticked_at_s=NOW_S - 10), Fleet(NOW_S, reports), NOW_S, 30.0)
    assert fleet is not None
    return fleet


def watched(ticks: int, fleet: FleetSignals, silent: int, in_flight: float, deleted_per_s: float | None) -> SilentWork:
    work = SilentWork()
    for _ in range(ticks):
        work = learn_silent_work(work, fleet, silent, 500.0, in_flight, deleted_per_s)
    return work


@given(st.integers(1, 20), st.integers(1, 20), st.booleans())
def test_those_that_work_in_silence_are_never_taken_to_hang_and_those_that_hang_are_found_out(
    heard: int, silent: int, works: bool
) -> None:
    working = heard + (silent if works else 0)
    work = watched(60, saturated(heard), silent, in_flight=4.0 * working, deleted_per_s=4.0 * working)
    assert nothing_done(work) is not works


@pytest.mark.parametrize(("in_flight", "hang"), [(8.0, True), (16.0, False)])
def test_where_deletions_are_not_known_or_few_messages_in_flight_tell(in_flight: float, hang: bool) -> None:
    slow = saturated(2, completions=0)
    assert nothing_done(watched(60, slow, 2, in_flight, None)) is hang
    assert nothing_done(watched(60, slow, 2, in_flight, 0.0)) is hang
    assert not nothing_done(watched(1, slow, 2, in_flight, None)), "one look is no proof"


def test_of_few_silent_workers_the_count_in_flight_is_too_rough_to_tell() -> None:
    assert watched(60, saturated(5), 2, in_flight=20.0, deleted_per_s=None) == SilentWork(completed_per_s=20.0)


def test_deletions_outweigh_what_is_in_flight_as_messages_that_back_off_are_in_it() -> None:
    assert nothing_done(watched(60, saturated(2), 2, in_flight=100.0, deleted_per_s=8.0))


def test_while_no_message_waits_or_slots_are_free_or_no_report_is_read_nothing_is_learned() -> None:
    idle = replace(saturated(2), busy=7)
    known = SilentWork(Proof(5.0, 1.0), completed_per_s=8.0)
    assert learn_silent_work(known, saturated(2), 2, 0.0, 8.0, 8.0) == known
    assert learn_silent_work(known, idle, 2, 500.0, 8.0, 8.0) == known
    assert learn_silent_work(known, None, 2, 500.0, 8.0, 8.0) is known
    assert learn_silent_work(known, replace(saturated(2), since_s=0.0), 2, 500.0, 8.0, 8.0) is known


def test_when_those_that_report_become_many_the_silent_are_not_taken_to_hang_for_deletions_that_are_late() -> None:
    work, late_s = watched(60, saturated(2), 2, in_flight=16.0, deleted_per_s=16.0), 130
    for tick in range(60):
        deleted_per_s = 4.0 * (2 + (10 if 10 * tick >= late_s else 2))
        work = learn_silent_work(work, saturated(10), 2, 500.0, 48.0, deleted_per_s)
        assert not nothing_done(work), tick


def test_when_none_is_silent_any_more_what_they_did_is_forgotten() -> None:
    assert learn_silent_work(HANGS, saturated(2), 0, 500.0, 8.0, 8.0) == SilentWork()


def test_without_anybody_who_reports_none_is_said_to_hang() -> None:
    hearing = read_signals(POOL, HANGING, observe(seen=capacity(3))).hearing
    assert (hearing.unheard, hearing.hanging) == (0, 0)


def test_they_are_neither_there_nor_on_their_way_and_one_that_starts_has_not_come_before_it_reports() -> None:
    signals = read_signals(POOL, HANGING, observe(workers=(worker("w1"),), seen=capacity(4)))
    assert (signals.hearing.unheard, signals.hearing.hanging) == (0, 3)
    assert signals.fleet is not None
    assert (signals.fleet.workers, signals.fleet.unheard) == (1, 0)
    assert learn_presence(HANGING, signals, capacity(5), NOW_S) == Presence(1, 3, NOW_S - 1200)
    committed = commit(HANGING, observe(seen=capacity(5)), signals, start_up_s=60.0)
    assert (committed.running, committed.starting) == (1, ((30.0, 1),))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_with_them_beside_never_fewer_are_wanted_and_more_needed_never_means_fewer(
    needed: int, working: int, hanging: int
) -> None:
    counts = [
        beside_hanging(Sized(workers, 4.0 * workers, lambda: Step("size"), workers), working, hanging)
        for workers in (needed, needed + 1)
    ]
    assert needed <= counts[0].workers <= counts[1].workers
    assert [each.workers for each in counts] == [each.urgent_workers for each in counts]


@pytest.mark.parametrize(
    ("silence", "running", "raises", "desired"),
    [
        (((NOW_S - 901, 3),), 6, (), 7),
        (((NOW_S - 900, 3),), 6, (), 6),
        (((NOW_S - 3000, 2), (NOW_S - 1500, 1)), 6, (), 6),
        (((NOW_S - 3001, 2), (NOW_S - 1501, 1)), 6, (), 7),
        (((NOW_S - 90_000, 2), (NOW_S - 3601, 1)), 6, (), 7),
        (((NOW_S - 901, 3),), 5, (), 6),
        (((NOW_S - 901, 3),), 6, ((NOW_S - 20, 1),), 6),
        ((), 6, (), 6),
    ],
)
def test_beside_those_that_hang_another_is_tried_after_a_while_and_then_more_and_more_seldom(
    silence: tuple[tuple[float, int], ...], running: int, raises: tuple[tuple[float, int], ...], desired: int
) -> None:
    state = replace(HANGING, silence=silence, raises=raises)
    signals = read_signals(POOL, HANGING, observe(workers=(worker("w1"),), seen=capacity(4)))
    limit = started(20, state, HANGING.presence, signals, capacity(6, running=running), 60.0)
    assert (limit.workers, limit.reason) == (desired, Reason.NOT_STARTING)
    assert limit.note.startswith("3 of 6 workers have not begun to take work in 20 min: ")
    assert ("one more is tried" in limit.note) is (desired == 7)


def test_the_count_falls_for_them_first_once_enough_others_work() -> None:
    state = replace(HANGING, needs=((NOW_S - 30, 1),), watched_since_s=NOW_S - 70)
    idle = tuple(replace(worker(f"w{n}"), protected=True) for n in range(3))
    decision, after = decide(POOL, state, observe(queue(0), workers=idle, seen=capacity(6)))
    assert decision.desired == 3
    assert len(after.retired) == 2


def test_what_is_said_of_them_tells_how_many_how_that_is_known_and_what_to_do() -> None:
    assert said_of_hanging(0, 3, 6) == ""
    assert said_of_hanging(3, 3, 6) == (
        "3 of 6 running workers report, and hardly any message is handled but by these: 3 that run hang, and count for "
        "nothing. Look at their log, and let a health check end what hangs (tidegate health)"
    )


class Hung:
    """What is seen of a world whose workers that never begin run all the same; deletions as CloudWatch has them."""

    def __init__(self) -> None:
        self.started: deque[tuple[float, int]] = deque([(0.0, 0)], maxlen=30)

    def __call__(self, world: World, seen: Observation) -> Observation:
        hung = sum(each.ready_at_s is None for each in world.workers)
        running = min(seen.capacity.desired, seen.capacity.running + hung)
        self.started.append((world.now_s, world.started))
        begin, end = (self._by(world.now_s - ago_s) for ago_s in (180, 120))
        deleted = replace(seen.queues[0], deleted_per_s=reading((end - begin) / 60, world.now_s - 120))
        return replace(seen, capacity=replace(seen.capacity, running=running, pending=0), queues=(deleted,))

    def _by(self, at_s: float) -> int:
        return max((count for then_s, count in self.started if then_s <= at_s), default=0)


def surge(elapsed_s: float) -> float:
    return 12.0 if elapsed_s < 300 else 40.0


@both
def test_an_image_that_hangs_while_it_runs_is_not_asked_for_without_end_and_once_mended_the_pool_scales(
    pool: Pool,
) -> None:
    world = World(replace(pool, max_workers=400), surge, workers_at_first=3, protected=True, look=Hung()).run(300)
    world.start_up_s = None
    world.run(1500)
    hung = world.last.desired - 3
    world.run(5400)
    assert 3 < world.last.desired <= 3 + hung + 4
    assert world.last.reason is Reason.NOT_STARTING
    assert f"3 of {world.last.desired} running workers report, and hardly any message is handled" in world.last.sentence
    estimate = next(dict(step.values) for step in world.last.steps if step.name == "estimate")
    assert estimate["arrivals_per_s"] == pytest.approx(40.0, rel=0.15)
    world.sent_s.clear()
    world.start_up_s = 20.0
    world.run(7200)
    assert sum(each.ready_at_s is not None for each in world.workers) >= 8
    assert len(world.sent_s) < 40.0 * pool.target_wait_s
    assert world.last.desired < 20, "those that hung have been let go"
