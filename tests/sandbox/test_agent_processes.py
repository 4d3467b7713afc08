"""The agent with real processes, a real API server and real metadata endpoints."""

import os
import signal
import socket
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

from tests.sandbox.fakes import EventLog
from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.agent import Agent, AgentSettings
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.events import EventKind
from tidegate.sandbox.launch import Launcher, Program
from tidegate.sandbox.metadata import MetadataServer
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Phase, Platform
from tidegate.sandbox.worker_process import Process

if TYPE_CHECKING:
    from types_boto3_ecs import ECSClient

pytestmark = pytest.mark.integration

PATIENCE_S = 10.0
SETTINGS = AgentSettings(start_up_s=0.05, stop_timeout_s=5, step_s=0.02)

WORKER = """
    import os, signal, socket, sys, urllib.request

    def protect():
        url = os.environ["ECS_AGENT_URI"] + "/task-protection/v1/state"
        body = b'{"ProtectionEnabled": true, "ExpiresInMinutes": 5}'
        urllib.request.urlopen(urllib.request.Request(url, body, method="PUT")).close()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    PRELUDE
    with socket.create_connection(("127.0.0.1", int(os.environ["ROLL_CALL"]))) as roll_call:
        roll_call.sendall(os.environ["TIDEGATE_WORKER_ID"].encode())
    while True:
        signal.pause()
"""
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


class Running:
    """An agent that follows `platform`; its workers run `WORKER` and report here once they are up."""

    def __init__(self, platform: Platform, directory: Path, settings: AgentSettings, prelude: str) -> None:
        script = directory / "worker.py"
        script.write_text(textwrap.dedent(WORKER).replace("PRELUDE", prelude))
        self._seen_up = 0
        self.roll_call = socket.create_server(("127.0.0.1", 0))
        self.roll_call.settimeout(PATIENCE_S)
        program = Program(str(script), env={"ROLL_CALL": str(self.roll_call.getsockname()[1])})
        self.launcher, self.log, clock = Launcher(), EventLog(), SystemClock()
        notices = Notices(lambda: platform.wanted().count)
        self.metadata = MetadataServer(notices, clock.now)
        self.metadata.start()

        def start(worker_id: str, env: Mapping[str, str]) -> Process:
            return self.launcher.start(program, env)

        self.agent = Agent(platform, start, notices, self.metadata.environment, clock, settings, self.log)
        self.agent.start()

    def up(self, count: int) -> set[str]:
        """The ids of the next `count` workers to report that their program is up; the platform shows them by then."""
        ids = {self._next_up() for _ in range(count)}
        self._seen_up += count
        self.log.wait_for(EventKind.RUNNING, self._seen_up)
        return ids

    def _next_up(self) -> str:
        connection, _ = self.roll_call.accept()
        with connection, connection.makefile() as report:
            return report.read()

    def close(self) -> None:
        try:
            self.agent.stop()
        finally:
            self.metadata.stop()
            self.launcher.close()
            self.roll_call.close()


Run = Callable[..., Running]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    started: list[Running] = []

    def start(platform: Platform, settings: AgentSettings = SETTINGS, prelude: str = "") -> Running:
        started.append(Running(platform, tmp_path, settings, prelude))
        return started[-1]

    yield start
    for running in started:
        running.close()


@pytest.fixture(scope="module")
def ecs(running_cloud: Cloud, session: boto3.Session) -> "ECSClient":
    return session.client("ecs", endpoint_url=running_cloud.url)


def is_gone(pid: int) -> bool:
    """Gone for good: a zombie would still answer to its id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def running_count(ecs: "ECSClient") -> int:
    return ecs.describe_services(cluster="cluster", services=["service"])["services"][0]["runningCount"]


def test_processes_follow_the_desired_count_set_through_the_api(cloud: Cloud, ecs: "ECSClient", run: Run) -> None:
    running = run(cloud.create_service("cluster", "service", desired=1))
    first = running.up(1)
    ecs.update_service(cluster="cluster", service="service", desiredCount=3)
    assert len(first | running.up(2)) == 3
    assert running_count(ecs) == 3
    ecs.update_service(cluster="cluster", service="service", desiredCount=1)
    stopped = running.log.wait_for(EventKind.STOPPED, 2)
    assert [(event.exit_code, event.killed_by, event.reason) for event in stopped] == [(0, None, "scale-in")] * 2
    assert all(is_gone(event.pid) for event in stopped if event.pid)
    assert running_count(ecs) == 1


def test_a_worker_killed_with_9_is_replaced_and_known_as_killed_by_a_test(
    cloud: Cloud, ecs: "ECSClient", run: Run
) -> None:
    running = run(cloud.create_service("cluster", "service", desired=1))
    (victim,) = running.up(1)
    running.agent.kill(victim)
    assert running.up(1) != {victim}
    (stopped,) = running.log.wait_for(EventKind.STOPPED)
    assert (stopped.worker_id, stopped.exit_code, stopped.killed_by) == (victim, -signal.SIGKILL, "test")
    assert running_count(ecs) == 1


def test_a_worker_killed_by_somebody_else_is_not_put_down_to_a_test(cloud: Cloud, run: Run) -> None:
    running = run(cloud.create_service("cluster", "service", desired=1))
    running.up(1)
    (view,) = running.agent.workers()
    assert view.pid is not None
    os.kill(view.pid, signal.SIGKILL)
    (stopped,) = running.log.wait_for(EventKind.STOPPED)
    assert (stopped.exit_code, stopped.killed_by, stopped.reason) == (-signal.SIGKILL, None, "exited by itself")


def test_a_worker_that_ignores_sigterm_is_killed_after_the_stop_timeout(
    cloud: Cloud, ecs: "ECSClient", run: Run
) -> None:
    settings = AgentSettings(start_up_s=0, stop_timeout_s=0.3, step_s=0.02)
    running = run(cloud.create_service("cluster", "service", desired=1), settings, STUBBORN)
    running.up(1)
    ecs.update_service(cluster="cluster", service="service", desiredCount=0)
    (stopped,) = running.log.wait_for(EventKind.STOPPED)
    assert (stopped.exit_code, stopped.killed_by, stopped.reason) == (-signal.SIGKILL, "stop_timeout", "scale-in")


def test_workers_that_protect_themselves_are_spared_by_scale_in(cloud: Cloud, ecs: "ECSClient", run: Run) -> None:
    """A worker reports only after its protection was accepted."""
    running = run(cloud.create_service("cluster", "service", desired=2), prelude="protect()")
    protected = running.up(2)
    ecs.update_service(cluster="cluster", service="service", desiredCount=0)
    running.agent.step()
    assert {view.worker_id: view.phase for view in running.agent.workers()} == dict.fromkeys(protected, Phase.RUNNING)
    assert running_count(ecs) == 2


def test_a_group_shows_its_workers_as_instances_and_drains_them_through_their_metadata(
    cloud: Cloud, session: boto3.Session, run: Run
) -> None:
    running = run(cloud.create_group("group", minimum=0, maximum=4, desired=2))
    ids = running.up(2)
    autoscaling = session.client("autoscaling", endpoint_url=cloud.url)
    group = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=["group"])["AutoScalingGroups"][0]
    assert {one["InstanceId"]: one["LifecycleState"] for one in group["Instances"]} == dict.fromkeys(ids, "InService")
    doomed = min(ids)
    autoscaling.terminate_instance_in_auto_scaling_group(InstanceId=doomed, ShouldDecrementDesiredCapacity=True)
    (stopped,) = running.log.wait_for(EventKind.STOPPED)
    assert (stopped.worker_id, stopped.reason) == (doomed, "terminated")


def test_a_deployment_replaces_every_worker_by_a_new_one(cloud: Cloud, ecs: "ECSClient", run: Run) -> None:
    running = run(cloud.create_service("cluster", "service", desired=2))
    old = running.up(2)
    ecs.update_service(cluster="cluster", service="service", forceNewDeployment=True)
    new = running.up(2)
    stopped = running.log.wait_for(EventKind.STOPPED, 2)
    assert {event.worker_id for event in stopped} == old
    assert {view.worker_id for view in running.agent.workers()} == new


def test_after_stop_no_process_and_no_zombie_remains(cloud: Cloud, ecs: "ECSClient", run: Run) -> None:
    settings = AgentSettings(start_up_s=0, stop_timeout_s=0.2, step_s=0.02)
    running = run(cloud.create_service("cluster", "service", desired=3), settings, STUBBORN)
    running.up(3)
    pids = [view.pid for view in running.agent.workers()]
    running.agent.stop()
    assert [is_gone(pid) for pid in pids if pid is not None] == [True] * 3
    assert running.agent.workers() == ()
    assert running_count(ecs) == 0
