"""What the platform, a deployment or somebody else does to a pool: noticed, said, and not fought."""

from dataclasses import replace

import pytest

from tests.core.closed_loop import POLICIES, World
from tests.core.observations import NOW_S
from tidegate.core.absence import Absence
from tidegate.core.decision import Reason
from tidegate.core.memory import Contest
from tidegate.core.model import Override, OverrideKind, Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import Fleet

both = pytest.mark.parametrize("pool", POLICIES, ids=lambda pool: pool.policy)


def steady(_: float) -> float:
    return 12.0


@both
def test_one_message_wakes_a_pool_of_none_and_silence_puts_it_to_sleep(pool: Pool) -> None:
    world = World(replace(pool, min_workers=0), workers_at_first=0).run(300)
    assert set(world.counts) == {0}
    world.dump(1)
    world.run(60)
    assert set(world.counts[-6:]) == {1}
    assert world.started == 1
    world.run(600)
    assert world.last.desired == 0


@both
def test_delayed_messages_alone_wake_nobody_before_time_and_the_pool_says_why_it_sleeps(pool: Pool) -> None:
    world = World(replace(pool, min_workers=0), workers_at_first=0, delayed=1).run(300)
    assert world.last.desired <= 1


@both
def test_a_deployment_sends_nobody_home(pool: Pool) -> None:
    world = World(replace(pool, min_workers=1), steady, workers_at_first=8)

    def deploying(_: World, seen: Observation) -> Observation:
        return replace(seen, capacity=replace(seen.capacity, deploying=True))

    world.look = deploying
    world.run(900)
    assert set(world.counts) == {8}
    assert (world.last.reason, "a deployment is replacing workers" in world.last.sentence) == (Reason.DEPLOYING, True)
    world.look = lambda _, seen: seen
    world.run(900)
    assert world.last.desired < 8


@both
def test_workers_that_never_start_are_not_asked_for_without_end(pool: Pool) -> None:
    world = World(replace(pool, max_workers=200), steady, start_up_s=None, workers_at_first=1).run(1800)
    stuck = world.counts[-60:]
    assert len(set(stuck)) == 1
    assert stuck[0] < 200
    assert world.last.reason is Reason.NOT_STARTING
    assert "have not begun to take work in" in world.last.sentence
    assert "no more are asked for until one does" in world.last.sentence
    world.start_up_s = 20.0
    world.workers = [w for w in world.workers if w.ready_at_s is not None]
    world.run(600)
    assert world.last.reason is not Reason.NOT_STARTING
    assert not world.sent_s or world.now_s - world.sent_s[0] < pool.target_wait_s


def test_workers_that_start_slowly_but_do_are_waited_for() -> None:
    world = World(replace(POLICIES[0], target_wait_s=900), steady, start_up_s=240.0, workers_at_first=1).run(2400)
    assert Reason.NOT_STARTING not in {decision.reason for decision in world.decisions}


def test_a_fleet_that_can_not_be_read_does_not_say_that_workers_are_missing() -> None:
    def unread(world: World, seen: Observation) -> Observation:
        return replace(seen, fleet=Fleet(world.now_s, (), Absence.THROTTLED, "slow down"))

    world = World(POLICIES[0], steady, workers_at_first=3, look=unread).run(900)
    assert world.state.presence.missing_since_s is None


@both
def test_workers_that_fell_silent_are_not_taken_for_workers_that_do_not_start(pool: Pool) -> None:
    world = World(pool, steady, workers_at_first=3).run(300)

    def silent(world: World, seen: Observation) -> Observation:
        return replace(seen, fleet=Fleet(world.now_s, ()))

    world.look = silent
    world.run(600)
    assert world.state.presence.there == 3
    world.dump(6000)
    world.run(60)
    assert Reason.NOT_STARTING not in {decision.reason for decision in world.decisions}
    assert world.last.desired > 3


def test_workers_that_start_and_die_again_and_again_are_none_that_came() -> None:
    world = World(POLICIES[0], steady, sdk=False, start_up_s=None, workers_at_first=1)
    flips = iter(range(10_000))

    def dying(_: World, seen: Observation) -> Observation:
        running = min(seen.capacity.desired, seen.capacity.running + next(flips) % 2)
        return replace(seen, capacity=replace(seen.capacity, running=running))

    world.look = dying
    world.run(1200)
    assert world.last.reason is Reason.NOT_STARTING
    assert len(set(world.counts[-60:])) == 1


@both
def test_a_count_that_takes_effect_late_is_our_own_on_its_way_and_nobody_elses(pool: Pool) -> None:
    world = World(pool, lambda at_s: 12.0 if at_s < 600 else 60.0, workers_at_first=3)
    asked = [3, 3]

    def late(_: World, desired: int) -> int:
        asked.append(desired)
        return asked.pop(0)

    world.set_desired = late
    world.run(900)
    said = [decision.sentence for decision in world.decisions]
    assert not [sentence for sentence in said if "somebody else" in sentence]
    assert [sentence for sentence in said if "the platform still shows 3 as the desired count, 10 s after" in sentence]
    assert world.last.desired >= 12
    assert world.late < 0.01 * world.started
    starts_s = sum(count for _, count in world.state.raises)
    assert starts_s <= world.last.desired  # each worker was asked for once


@both
def test_a_count_that_somebody_else_set_once_is_taken_as_it_is_and_said(pool: Pool) -> None:
    world = World(pool, steady, workers_at_first=3).run(600)
    world._scale(1)
    world.run(10)
    assert "somebody else set the desired count from 3 to 1" in world.last.sentence
    world.run(300)
    assert world.last.desired == 3
    assert "somebody else" not in world.last.sentence
    assert world.state.contest.until_s is None


@both
def test_a_count_that_somebody_else_keeps_setting_is_left_to_them_for_a_while_each_time_twice_as_long(
    pool: Pool,
) -> None:
    world = World(replace(pool, tick_s=30.0), steady, workers_at_first=3).run(600)
    world.set_desired = lambda _, __: 1
    world.run(3600)
    fought = [n for n, decision in enumerate(world.decisions) if decision.desired != decision.current]
    assert 3 <= len(fought) <= 18  # three rounds of three, each for two ticks: for one of them ours may be on its way
    assert world.state.contest.pause_s >= 1200
    left = [d for d in world.decisions if d.reason is Reason.CONTESTED]
    assert len(left) > 80
    assert "somebody else set the desired count 3 times within 10 min: left to them for" in left[0].sentence
    assert "ignore_changes in Terraform" in left[0].sentence
    world.set_desired = lambda _, desired: desired
    world.run(2 * 3600)
    assert world.last.desired >= 3
    assert world.state.contest == Contest()


def test_whoever_insists_goes_on_setting_it() -> None:
    pool = replace(POLICIES[0], contested="insist")
    world = World(pool, steady, workers_at_first=3).run(300)
    world.set_desired = lambda _, __: 1
    world.run(1800)
    assert Reason.CONTESTED not in {decision.reason for decision in world.decisions}
    assert "somebody else set the desired count" in " ".join(decision.sentence for decision in world.decisions[-6:])


def test_a_pin_holds_though_the_count_was_left_to_others() -> None:
    override = Override(OverrideKind.PIN, "ada@desk", since_s=NOW_S, workers=7)
    world = World(POLICIES[0], steady, workers_at_first=3)
    world.state = PoolState(contest=Contest((), NOW_S + 600, 1200.0), override=override)
    world.run(20)
    assert (world.last.desired, world.last.reason) == (7, Reason.PINNED)
