"""A queue whose counts can't be read while its traffic doubles: the waits tell, and no more than that is asked for."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.core.closed_loop import PLAIN, WAIT, World
from tests.core.observations import reading
from tidegate.core.absence import Absence
from tidegate.core.observation import Observation, QueueObservation, Reading

POOL = replace(WAIT, service_time_hint_s=4.0)
BEGINS_S, ENDS_S = 1800, 3600
NEEDED = 10
"""Workers, each of four slots, for ten messages a second of four seconds."""


def doubles(at_s: float) -> float:
    return 10.0 if BEGINS_S < at_s < ENDS_S else 5.0


def part(whole: QueueObservation, name: str, share: float) -> QueueObservation:
    """A queue with so much of the work in it."""

    def of(count: Reading) -> Reading:
        return replace(count, value=round((count.value or 0) * share))

    return replace(
        whole, queue=name, visible=of(whole.visible), in_flight=of(whole.in_flight), delayed=of(whole.delayed)
    )


def unread(
    absence: Absence, share: float, *, sent: bool = False, until_s: float = ENDS_S
) -> Callable[[World, Observation], Observation]:
    """This share of the work is in a second queue, whose counts are `absence` from when the traffic doubles on."""

    def look(world: World, seen: Observation) -> Observation:
        whole = seen.queues[0]
        if sent:
            whole = replace(whole, sent_per_s=reading(doubles(world.elapsed_s - 120.0), world.now_s - 60.0))
        readable, other = part(whole, "a", 1 - share), part(whole, "b", share)
        if BEGINS_S <= world.elapsed_s < until_s:
            failed = Reading(None, world.now_s, absence, str(absence))
            other = replace(other, visible=failed, in_flight=failed, delayed=failed)
        return replace(seen, queues=(other,) if share == 1.0 else (readable, other))

    return look


def meanwhile(world: World) -> list[int]:
    tick_s = world.pool.tick_s
    return world.counts[int(BEGINS_S / tick_s) : int(ENDS_S / tick_s) - 1]


@pytest.mark.parametrize("absence", [Absence.DENIED, Absence.THROTTLED, Absence.UNREACHABLE])
@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_where_workers_tell_of_waits_the_pool_follows_and_asks_for_no_multiple(absence: Absence, share: float) -> None:
    world = World(POOL, doubles, 4.0, 60.0, 6, look=unread(absence, share)).run(ENDS_S - 600)
    late = world.late
    world.run(1800)
    assert late <= 0.06 * world.started, "without it: half of all"
    assert world.late == late, "once the first of them have come none is late"
    assert NEEDED < max(meanwhile(world)) <= 2 * NEEDED
    assert world.last.desired <= NEEDED, "scaled in when the counts are there again"


def test_where_none_reports_cloudwatchs_age_and_traffic_do() -> None:
    world = World(POOL, doubles, 4.0, 60.0, 6, sdk=False, look=unread(Absence.DENIED, 1.0, sent=True)).run(ENDS_S)
    assert max(meanwhile(world)) >= NEEDED
    assert world.late <= 0.25 * world.started


def test_it_is_said_and_the_error_stays() -> None:
    world = World(POOL, doubles, 4.0, 60.0, 6, look=unread(Absence.DENIED, 1.0)).run(BEGINS_S + 120)
    assert "the queue's counts are denied: what waits is reckoned from the " in world.last.sentence
    assert world.last.errors == ("b: denied",)


@pytest.mark.parametrize("absence", [Absence.DENIED, Absence.GONE])
def test_without_a_wait_and_of_a_queue_that_is_gone_nothing_is_reckoned(absence: Absence) -> None:
    calm = World(POOL, lambda _: 5.0, 4.0, 60.0, 6, look=unread(absence, 1.0)).run(ENDS_S - 300)
    assert len(set(meanwhile(calm))) == 1
    late = World(POOL, doubles, 4.0, 60.0, 6, look=unread(Absence.GONE, 1.0)).run(ENDS_S - 300)
    assert len(set(meanwhile(late))) == 1


def test_the_plain_formula_takes_counts_only() -> None:
    pool = replace(PLAIN, service_time_hint_s=4.0)
    world = World(pool, doubles, 4.0, 60.0, 6, look=unread(Absence.DENIED, 1.0)).run(ENDS_S - 300)
    assert len(set(meanwhile(world))) == 1


def test_a_part_of_the_sum_corrects_no_counts_and_no_order() -> None:
    world = World(POOL, doubles, 4.0, 60.0, 6, look=unread(Absence.DENIED, 0.9)).run(BEGINS_S)
    before = world.state
    world.run(900)
    assert (world.state.balance.waited_s, world.state.balance.counted_s) == (
        before.balance.waited_s,
        before.balance.counted_s,
    )
    assert world.state.looseness == before.looseness


def test_a_pool_that_never_had_counts_knows_no_rate_and_keeps_its_count() -> None:
    world = World(POOL, lambda _: 10.0, 4.0, 60.0, 6, look=unread(Absence.DENIED, 1.0))
    world.unwatched(BEGINS_S)
    world.run(600)
    assert set(world.counts) == {6}
    assert "reckoned" not in world.last.sentence


def test_waits_in_which_a_delay_is_tell_nothing() -> None:
    world = World(POOL, doubles, 4.0, 60.0, 6, look=unread(Absence.DENIED, 1.0), delayed=50).run(ENDS_S - 300)
    assert len(set(meanwhile(world))) == 1


def test_old_messages_that_come_back_while_one_look_is_throttled_are_no_backlog() -> None:
    """They were sent an hour ago, and would be an hour's arrivals."""
    world = World(POOL, lambda _: 5.0, 4.0, 60.0, 6, look=unread(Absence.THROTTLED, 1.0, until_s=BEGINS_S + 10))
    world.run(BEGINS_S - 10)
    world.dump(20, age_s=3600.0)
    world.run(60)
    assert max(world.counts[int(BEGINS_S / POOL.tick_s) - 1 :]) <= 7
