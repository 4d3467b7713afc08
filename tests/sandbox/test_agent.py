"""The agent's decisions, in virtual time, with processes that are only numbers."""

import itertools
import signal

import pytest

from tests.sandbox.fakes import EventLog, FakeMachine, FakePlatform, no_environment
from tidegate.errors import TidegateError
from tidegate.sandbox.agent import Agent, AgentSettings
from tidegate.sandbox.events import EventKind, Usage
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Phase, Wanted
from tidegate.testing import FakeClock

SETTINGS = AgentSettings(start_up_s=5, stop_timeout_s=30, step_s=0.2, quick_exit_s=3, back_off_s=1, back_off_most_s=8)


class World:
    """An agent with everything around it, stepped by hand."""

    def __init__(self, count: int, *, is_ecs: bool = True, settings: AgentSettings = SETTINGS) -> None:
        self.clock = FakeClock(1000.0)
        self.platform = FakePlatform(Wanted(count, "r1"), is_ecs=is_ecs)
        self.notices = Notices(lambda: self.platform.wanted_now.count)
        self.machine, self.log = FakeMachine(), EventLog()
        self.agent = Agent(
            self.platform, self.machine.start, self.notices, no_environment, self.clock, settings, self.log
        )

    def want(self, count: int, revision: str = "r1", doomed: frozenset[str] = frozenset()) -> None:
        self.platform.wanted_now = Wanted(count, revision, doomed=doomed)

    def step(self, seconds: float = 0.0) -> None:
        self.clock.advance(seconds)
        self.agent.step()

    def all_up(self) -> "World":
        self.step()
        self.step(5)
        return self

    def phases(self) -> dict[str, Phase]:
        """As the platform was shown them."""
        return {worker.worker_id: worker.phase for worker in self.platform.shown}


def test_a_worker_is_pending_for_the_start_up_delay_and_then_runs() -> None:
    world = World(1)
    world.step()
    assert world.phases() == {"w1": Phase.PENDING}
    world.step(4.9)
    assert world.machine.processes == {}
    world.step(0.1)
    assert world.phases() == {"w1": Phase.RUNNING}
    assert [event.kind for event in world.log.events] == [EventKind.STARTING, EventKind.RUNNING]
    assert world.log.events[1].pid == world.machine.processes["w1"].pid


def test_a_worker_is_told_who_it_is_and_how_long_it_has_to_stop() -> None:
    env = World(1).all_up().machine.environments["w1"]
    assert env == {"TIDEGATE_WORKER_ID": "w1", "ECS_CONTAINER_STOP_TIMEOUT": "30s", "METADATA": "w1"}


def test_scale_in_sends_sigterm_and_shows_the_worker_as_stopping_until_it_is_gone() -> None:
    world = World(2).all_up()
    world.machine.processes["w2"].stubborn = True
    world.want(1)
    world.step()
    assert world.phases() == {"w1": Phase.RUNNING, "w2": Phase.STOPPING}
    assert world.machine.processes["w2"].signals == [signal.SIGTERM]
    world.machine.processes["w2"].exit_code = 0
    world.step()
    assert world.phases() == {"w1": Phase.RUNNING}
    (stopped,) = world.log.of(EventKind.STOPPED)
    assert (stopped.worker_id, stopped.reason, stopped.exit_code, stopped.killed_by) == ("w2", "scale-in", 0, None)


def test_a_worker_that_ignores_sigterm_is_killed_when_the_stop_timeout_is_over() -> None:
    world = World(1).all_up()
    world.machine.processes["w1"].stubborn = True
    world.want(0)
    world.step()
    world.step(29.9)
    assert world.machine.processes["w1"].signals == [signal.SIGTERM]
    world.step(0.1)
    assert world.machine.processes["w1"].signals == [signal.SIGTERM, signal.SIGKILL]
    (stopped,) = world.log.of(EventKind.STOPPED)
    assert (stopped.exit_code, stopped.killed_by, stopped.reason) == (-9, "stop_timeout", "scale-in")


def test_a_pending_worker_is_cancelled_before_a_running_one_is_stopped() -> None:
    world = World(1).all_up()
    world.want(2)
    world.step()
    world.want(1)
    world.step()
    assert world.phases() == {"w1": Phase.RUNNING}
    assert [event.worker_id for event in world.log.of(EventKind.CANCELLED)] == ["w2"]
    assert world.log.of(EventKind.STOPPING) == []


def test_a_protected_worker_outlives_scale_in_until_its_protection_expires() -> None:
    world = World(1).all_up()
    world.notices.protect("w1", 1, world.clock.now())
    world.want(0)
    world.step(59)
    assert world.phases() == {"w1": Phase.RUNNING}
    world.step(1)
    assert [event.worker_id for event in world.log.of(EventKind.STOPPED)] == []
    assert world.phases() == {"w1": Phase.STOPPING}


def test_a_killed_worker_is_replaced_and_shown_as_killed_by_a_test() -> None:
    world = World(1).all_up()
    world.agent.kill("w1")
    world.step()
    (stopped,) = world.log.of(EventKind.STOPPED)
    assert (stopped.exit_code, stopped.killed_by, stopped.reason) == (-9, "test", "killed by a test")
    assert world.phases() == {"w2": Phase.PENDING}
    assert world.log.of(EventKind.BACKING_OFF) == []


def test_killing_a_worker_that_is_still_pending_cancels_it() -> None:
    world = World(1)
    world.step()
    world.agent.kill("w1")
    world.step()
    assert world.phases() == {"w2": Phase.PENDING}
    assert [event.worker_id for event in world.log.of(EventKind.CANCELLED)] == ["w1"]


def test_killing_a_worker_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        World(0).agent.kill("w1")


def test_workers_that_end_at_once_are_replaced_later_and_later_and_the_agent_says_so() -> None:
    world = World(1, settings=AgentSettings(start_up_s=0, quick_exit_s=3, back_off_s=1, back_off_most_s=4))
    starts: list[float] = []
    for _ in range(5):
        while not any(worker.phase is Phase.RUNNING for worker in world.agent.workers()):
            world.step(0.5)
        starts.append(world.clock.now())
        world.machine.processes[world.agent.workers()[0].worker_id].exit_code = 1
        world.step()
    assert [later - earlier for earlier, later in itertools.pairwise(starts)] == [1, 2, 4, 4]
    last = world.log.of(EventKind.BACKING_OFF)[-1]
    assert last.reason == "5 in a row ended at once; the next start waits 4 s"


def test_a_worker_that_stayed_up_ends_the_back_off() -> None:
    world = World(1).all_up()
    world.machine.processes["w1"].exit_code = 1
    world.step()
    world.step(6)
    world.step(SETTINGS.quick_exit_s)
    world.machine.processes["w2"].exit_code = 1
    world.step()
    assert len(world.log.of(EventKind.BACKING_OFF)) == 1
    assert world.log.of(EventKind.STOPPED)[-1].reason == "exited by itself"


def test_a_machine_that_cannot_start_a_process_is_tried_again_later() -> None:
    world = World(1)
    world.machine.refuses = True
    world.all_up()
    (stopped,) = world.log.of(EventKind.STOPPED)
    assert "could not start" in stopped.reason
    assert stopped.exit_code is None
    assert len(world.log.of(EventKind.BACKING_OFF)) == 1
    world.machine.refuses = False
    world.step()
    world.step(6)
    assert world.phases() == {"w2": Phase.RUNNING}


def test_a_spot_interruption_gives_notice_terminates_on_time_and_is_replaced() -> None:
    world = World(1).all_up()
    world.notices.protect("w1", 60, world.clock.now())
    world.agent.interrupt_spot("w1", notice_s=120)
    assert world.notices.document("w1", "spot/instance-action") == {
        "action": "terminate",
        "time": "1970-01-01T00:18:45Z",
    }
    world.step(119.9)
    assert world.phases() == {"w1": Phase.RUNNING}
    world.machine.stubborn = True
    world.step(0.1)
    assert world.log.of(EventKind.STOPPING)[0].reason == "spot interruption"
    assert world.phases() == {"w1": Phase.STOPPING, "w2": Phase.PENDING}


def test_a_rebalance_recommendation_is_served_and_changes_nothing_else() -> None:
    world = World(1).all_up()
    world.agent.rebalance("w1")
    world.step(600)
    assert world.notices.document("w1", "events/recommendations/rebalance") == {"noticeTime": "1970-01-01T00:16:45Z"}
    assert world.phases() == {"w1": Phase.RUNNING}
    assert [event.worker_id for event in world.log.of(EventKind.REBALANCE_NOTICE)] == ["w1"]


def test_an_instance_learns_from_its_target_lifecycle_state_that_it_is_scaled_in() -> None:
    world = World(1, is_ecs=False).all_up()
    assert world.notices.document("w1", "autoscaling/target-lifecycle-state") == "InService"
    world.machine.processes["w1"].stubborn = True
    world.want(0)
    world.step()
    assert world.notices.document("w1", "autoscaling/target-lifecycle-state") == "Terminated"


def test_a_terminated_instance_goes_whatever_its_protection_says() -> None:
    world = World(1, is_ecs=False).all_up()
    world.notices.protect("w1", 60, world.clock.now())
    world.want(1, doomed=frozenset({"w1"}))
    world.step()
    assert world.log.of(EventKind.STOPPING)[0].reason == "terminated"


def test_a_deployment_brings_up_the_new_worker_before_it_stops_the_old_one() -> None:
    world = World(1).all_up()
    world.want(1, revision="r2")
    world.step()
    assert world.phases() == {"w1": Phase.RUNNING, "w2": Phase.PENDING}
    world.step(5)
    world.step()
    assert world.phases() == {"w1": Phase.STOPPING, "w2": Phase.RUNNING}
    assert world.log.of(EventKind.STOPPING)[0].reason == "deployment"


def test_usage_counts_the_start_up_as_billed_and_only_the_process_as_running() -> None:
    world = World(1).all_up()
    world.clock.advance(10)
    assert world.agent.usage() == Usage(billed_s=15, running_s=10)
    world.want(0)
    world.step()
    world.step()
    world.clock.advance(100)
    assert world.agent.usage() == Usage(billed_s=15, running_s=10)


def test_stop_ends_every_worker_whatever_its_phase() -> None:
    world = World(2).all_up()
    world.machine.processes["w2"].stubborn = True
    world.want(3)
    world.step()
    world.agent.stop()
    assert world.platform.shown == ()
    ends = {event.worker_id: event.killed_by for event in world.log.of(EventKind.STOPPED)}
    assert ends == {"w1": None, "w2": "stop_timeout"}
    assert [event.worker_id for event in world.log.of(EventKind.CANCELLED)] == ["w3"]


def test_stop_gives_up_on_a_process_that_outlives_sigkill_and_names_it() -> None:
    world = World(1).all_up()
    process = world.machine.processes["w1"]
    process.beyond_signals = True
    with pytest.raises(TidegateError, match=r"workers \[1000\] of ecs:cluster/service outlived SIGKILL"):
        world.agent.stop()
    assert process.signals == [signal.SIGTERM, signal.SIGKILL]


def test_what_breaks_the_agents_thread_is_raised_at_stop_after_the_workers_were_ended() -> None:
    world = World(1).all_up()

    world.platform.broken = ConnectionError("the platform is gone")
    world.agent.start()
    with pytest.raises(ConnectionError, match="the platform is gone"):
        world.agent.stop()
    assert world.agent.workers() == ()


def test_events_reach_the_callback_in_order_and_stay_readable() -> None:
    world = World(1).all_up()
    assert world.agent.events() == tuple(world.log.events)
