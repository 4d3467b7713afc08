"""While the workers' reports can't be read they work on: what they did meanwhile is told later, and is no news then."""

from dataclasses import replace

import pytest

from tests.core.closed_loop import WAIT, World
from tests.core.observations import NOW_S, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.decision import Decision
from tidegate.core.estimation.balance import count_scale, usual_per_s
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkFigures
from tidegate.core.signals.news import Done, done_since

RATE_PER_S = 5.0
SERVICE_S = 20.0
BEGINS_S = 900.0


def without_reports(world: World, seen: Observation, ticks: int) -> Observation:
    """The store of reports gives no answer for so many ticks; workers go on writing into it."""
    away = BEGINS_S < seen.now_s - NOW_S <= BEGINS_S + ticks * world.pool.tick_s
    return replace(seen, fleet=replace(seen.fleet, workers=(), absence=Absence.THROTTLED)) if away else seen


def world_without_reports(ticks: int, pool: Pool = WAIT) -> World:
    return World(
        pool,
        lambda _: RATE_PER_S,
        SERVICE_S,
        workers_at_first=28,
        protected=True,
        look=lambda world, seen: without_reports(world, seen, ticks),
    )


def size_value(decision: Decision, name: str) -> float:
    size = next(step for step in decision.steps if step.name == "size")
    return float(size.values[name] or 0.0)


def arrivals_per_s(decision: Decision) -> float:
    return size_value(decision, "arrivals_per_s")


@pytest.mark.parametrize("ticks", [1, 3, 10, 30])
def test_an_outage_of_the_reports_leaves_rates_levels_and_the_count_as_they_were(ticks: int) -> None:
    world = world_without_reports(ticks).run(BEGINS_S)
    steady = world.desired
    for _ in range(ticks + 60):
        world.run(world.pool.tick_s)
        assert arrivals_per_s(world.last) == pytest.approx(RATE_PER_S, rel=0.2)
        assert usual_per_s(world.state.balance) <= 1.3 * RATE_PER_S
        assert world.state.guard.hold is None
        assert world.desired == steady
    assert usual_per_s(world.state.balance) == pytest.approx(RATE_PER_S, rel=0.05)


@pytest.mark.parametrize("ticks", [3, 60])
def test_a_controller_that_was_away_takes_what_was_done_meanwhile_for_no_more_than_it_is(ticks: int) -> None:
    world = world_without_reports(0).run(BEGINS_S)
    steady = world.desired
    world.unwatched(ticks * world.pool.tick_s)
    for _ in range(60):
        world.run(world.pool.tick_s)
        assert size_value(world.last, "service_time_s") == pytest.approx(SERVICE_S, rel=0.1)
        assert size_value(world.last, "arrivals_per_s") == pytest.approx(RATE_PER_S, rel=0.2)
        assert usual_per_s(world.state.balance) == pytest.approx(RATE_PER_S, rel=0.1)
        assert world.desired == steady


@pytest.mark.parametrize("tick_s", [20, 30, 60])
def test_ticks_that_see_one_heartbeat_of_several_leave_rates_and_times_as_they_are(tick_s: float) -> None:
    world = world_without_reports(0, replace(WAIT, tick_s=tick_s, target_wait_s=120.0))
    world.beat_s = 10.0
    world.run(1800)
    for _ in range(20):
        world.run(world.pool.tick_s)
        assert size_value(world.last, "service_time_s") == pytest.approx(SERVICE_S, rel=0.1)
        assert size_value(world.last, "arrivals_per_s") == pytest.approx(RATE_PER_S, rel=0.2)
        assert usual_per_s(world.state.balance) == pytest.approx(RATE_PER_S, rel=0.1)
        assert count_scale(world.state.balance) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("absence", [Absence.THROTTLED, Absence.UNREACHABLE])
@pytest.mark.parametrize("ticks", [1, 3, 10])
def test_starts_of_ticks_whose_counts_could_not_be_read_are_in_the_next_sample(absence: Absence, ticks: int) -> None:
    def without_counts(_: World, seen: Observation) -> Observation:
        away = BEGINS_S < seen.now_s - NOW_S <= BEGINS_S + ticks * 10
        gone = queue(absence=absence, at_s=seen.now_s)
        return replace(seen, queues=(gone,)) if away else seen

    world = world_without_reports(0)
    world.look = without_counts
    world.run(BEGINS_S)
    steady = world.desired
    for tick in range(ticks + 60):
        world.run(world.pool.tick_s)
        assert world.desired == steady
        if tick >= ticks:
            assert arrivals_per_s(world.last) == pytest.approx(RATE_PER_S, rel=0.2)


def test_slots_of_a_worker_are_remembered_while_reports_cannot_be_read() -> None:
    """They have four; the settings say one."""
    world = world_without_reports(10).run(BEGINS_S)
    steady, world.pool = world.desired, replace(world.pool, slots_per_worker=1)
    world.run(100)
    assert world.counts[-10:] == [steady] * 10
    assert size_value(world.last, "slots_per_worker") == 4


def test_all_that_a_worker_did_which_started_while_reports_were_away_is_news() -> None:
    state = PoolState(ticked_at_s=NOW_S - 10, reports_read_at_s=NOW_S - 100)
    new, old = (worker(f"w{at_s}", completions=5, before=40, started_at_s=NOW_S - at_s) for at_s in (90, 110))
    assert done_since(state, [new]).starts == 45
    assert done_since(state, [old]).starts == 5, "it is not known what it did before"


@pytest.mark.parametrize(
    ("starts", "spans_s", "since_s", "workers", "told_s"),
    [
        (20, (10.0, 10.0), 10.0, 2, 10.0),
        (120, (10.0, 10.0), 60.0, 2, 10.0),
        (20, (10.0, 10.0), 600.0, 2, 10.0),
        (20, (60.0, 60.0), 10.0, 2, 60.0),
        (20, (60.0, 60.0), 10.0, 12, 10.0),
        (20, (10.0, 10.0), 10.0, 20, 10.0),
        (0, (), 10.0, 2, 0.0),
    ],
    ids=["usual", "long ticks", "all of it lately", "long heartbeats", "in turns", "most are idle", "nothing"],
)
def test_what_reports_tell_of_is_the_time_that_their_heartbeats_cover(
    starts: int, spans_s: tuple[float, ...], since_s: float, workers: int, told_s: float
) -> None:
    news = [WorkFigures(span_s, starts=10) for span_s in spans_s]
    assert Done(starts, starts, starts, 0, news).told_s(since_s, workers) == pytest.approx(told_s)
