"""What every capacity target holds to: the fake, an ECS service, an Auto Scaling group."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.aws.moto_cloud import make_group, make_service
from tidegate.aws.clients import AwsClients
from tidegate.errors import CapacityChanged, Invalid
from tidegate.ports import CapacityTarget
from tidegate.testing import FakeCapacity, FakeClock


@dataclass(frozen=True)
class Platform:
    """A target at desired count 2, and the hand of somebody else on it."""

    target: CapacityTarget
    others_set: Callable[[int], object]
    clock: FakeClock
    writes: Callable[[], list[int]]


def a_fake(_: AwsClients, clock: FakeClock) -> Platform:
    fake = FakeCapacity(clock, desired=2, min_workers=1, max_workers=10)
    return Platform(fake, lambda count: fake.change(desired=count), clock, lambda: fake.writes)


def an_ecs_service(clients: AwsClients, clock: FakeClock) -> Platform:
    target, ecs, writes = make_service(clients, 2, clock.now), clients.ecs(), []
    ecs.update_service(cluster="jobs", service="workers", desiredCount=2)  # moto runs tasks from the first update on
    ecs.meta.events.register(
        "before-parameter-build.ecs.UpdateService", lambda params, **_: writes.append(params["desiredCount"])
    )
    others = AwsClients("eu-west-1").ecs()
    return Platform(
        target,
        lambda count: others.update_service(cluster="jobs", service="workers", desiredCount=count),
        clock,
        lambda: writes,
    )


def a_group(clients: AwsClients, clock: FakeClock) -> Platform:
    target, writes = make_group(clients, 2, low=1, high=10, now=clock.now), []
    clients.autoscaling().meta.events.register(
        "before-parameter-build.auto-scaling.SetDesiredCapacity",
        lambda params, **_: writes.append(params["DesiredCapacity"]),
    )
    others = AwsClients("eu-west-1").autoscaling()
    return Platform(
        target,
        lambda count: others.set_desired_capacity(AutoScalingGroupName="workers", DesiredCapacity=count),
        clock,
        lambda: writes,
    )


@pytest.fixture(params=[a_fake, an_ecs_service, a_group])
def platform(request: pytest.FixtureRequest, clients: AwsClients) -> Platform:
    made: Platform = request.param(clients, FakeClock())
    return made


def test_what_is_read_is_what_is_there_and_when(platform: Platform) -> None:
    platform.clock.advance(5.0)
    seen = platform.target.read()
    assert (seen.desired, seen.running, seen.pending, seen.deploying) == (2, 2, 0, False)
    assert seen.taken_at_s == platform.clock.now()
    assert seen.target == platform.target.name


def test_a_new_count_is_written_once_and_found_again(platform: Platform) -> None:
    assert platform.target.set_desired(5, platform.target.read()) is True
    assert platform.target.read().desired == 5
    assert platform.writes() == [5]


@pytest.mark.parametrize("count", [1, 2])
def test_a_count_that_is_there_already_is_not_written(platform: Platform, count: int) -> None:
    """Also when somebody else has just set the very count that was decided."""
    seen = platform.target.read()
    platform.others_set(count)
    assert platform.target.set_desired(count, seen) is False
    assert platform.writes() == []


def test_somebody_elses_count_is_never_overwritten(platform: Platform) -> None:
    seen = platform.target.read()
    platform.others_set(7)
    with pytest.raises(CapacityChanged, match=f"desired count of {platform.target.name} went from 2 to 7"):
        platform.target.set_desired(4, seen)
    assert platform.target.read().desired == 7
    assert platform.writes() == []


def test_what_was_seen_long_ago_still_counts_while_nobody_changed_it(platform: Platform) -> None:
    seen = platform.target.read()
    platform.clock.advance(3600.0)
    assert platform.target.set_desired(3, seen) is True


def test_scaling_in_removes_workers(platform: Platform) -> None:
    platform.target.set_desired(1, platform.target.read())
    seen = platform.target.read()
    assert (seen.desired, seen.running) == (1, 1)


@pytest.mark.parametrize("platform", [a_fake, a_group], indirect=True)
@pytest.mark.parametrize("count", [0, 11])
def test_a_platform_with_bounds_of_its_own_says_them_and_refuses_what_is_outside(
    platform: Platform, count: int
) -> None:
    seen = platform.target.read()
    assert (seen.min_workers, seen.max_workers) == (1, 10)
    with pytest.raises(Invalid, match=f"{count} workers are"):
        platform.target.set_desired(count, seen)
    assert platform.writes() == []
