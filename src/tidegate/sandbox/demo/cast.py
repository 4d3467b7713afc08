"""Who takes part in a demo: the stand-ins for AWS, the agent with its workers, the controller."""

import random
import signal
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from tidegate.aws.dynamodb import create_table
from tidegate.aws.stand_in import QueueSender, create_queues, stand_in_clients
from tidegate.errors import TidegateError
from tidegate.ports import Clock
from tidegate.sandbox.agent import Agent, AgentSettings
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.demo.job import JOURNAL_VARIABLE
from tidegate.sandbox.demo.ledger import Ledger
from tidegate.sandbox.demo.logs import last_words
from tidegate.sandbox.demo.settings import DemoSettings
from tidegate.sandbox.feeder import Feeder
from tidegate.sandbox.launch import Launcher, Program
from tidegate.sandbox.metadata import MetadataServer
from tidegate.sandbox.minutes import MinutesSettings
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Platform
from tidegate.sandbox.sqs import SqsServer

__all__ = ["QUEUE", "Cast"]

QUEUE = "demo"
_CLI = "tidegate.entrypoints.start:main"
_MAX_RECEIVES = 10
_CONTROLLER_STOP_S = 15.0


class Cast:
    """Everything but the traffic and the view. `start()` once; `stop()` ends all of it, in reverse, whatever happened.

    Every child process is tethered: it ends with this process, kill -9 included. `home` gets the settings file, a
    journal per worker process (`journals/`) and a log per process (`logs/`).
    """

    def __init__(self, settings: DemoSettings, home: Path, clock: Clock) -> None:
        self.settings, self.home, self.clock = settings, home, clock
        self.ledger = Ledger(QUEUE)
        self.journals, self.logs = home / "journals", home / "logs"
        self.controller_log = self.logs / "controller.jsonl"
        self._controller: subprocess.Popen[bytes] | None = None
        self._stack = ExitStack()

    def start(self) -> None:
        """Raises what any part raises; what was started until then is ended first."""
        with ExitStack() as stack:
            self._start_all(stack)
            self._stack = stack.pop_all()

    def _start_all(self, stack: ExitStack) -> None:
        self.journals.mkdir(parents=True)
        self.logs.mkdir()
        region = "eu-west-1"
        self.sqs = stack.enter_context(
            SqsServer(observer=self.ledger, region=region, rng=random.Random(self.settings.seed))  # noqa: S311
        )
        cloud = stack.enter_context(Cloud(region))
        self.sender = self._create_queue(region)
        create_table(stand_in_clients(cloud.url, region).dynamodb(), "tidegate")
        self.environment = cloud.environment(self.sqs.url)
        self._launcher = stack.enter_context(Launcher())
        feeder = Feeder(
            self.sqs.snapshot, cloud.put_metric_data, self.clock, MinutesSettings(lag_s=self.settings.metric_lag_s)
        )
        stack.callback(feeder.stop)
        feeder.start()
        self.platform = self._platform(cloud)
        self.agent = self._agent(stack, self.platform)
        self.agent.start()
        stack.callback(self.agent.stop)
        self.write_config()
        stack.callback(self.stop_controller)
        self.start_controller()

    def _create_queue(self, region: str) -> QueueSender:
        clients = stand_in_clients(self.sqs.url, region)
        return QueueSender(clients, create_queues(clients, QUEUE, self.settings.visibility_s, _MAX_RECEIVES))

    def _platform(self, cloud: Cloud) -> Platform:
        at_first = self.settings.min_workers
        if self.settings.capacity == "asg":
            return cloud.create_group(QUEUE, self.settings.min_workers, self.settings.max_workers, at_first)
        return cloud.create_service(QUEUE, QUEUE, at_first)

    def _agent(self, stack: ExitStack, platform: Platform) -> Agent:
        notices = Notices(lambda: platform.wanted().count)
        metadata = stack.enter_context(MetadataServer(notices, self.clock.now))
        settings = AgentSettings(start_up_s=self.settings.start_up_s, stop_timeout_s=self.settings.stop_timeout_s)
        return Agent(platform, self._start_worker, notices, metadata.environment, self.clock, settings)

    def _start_worker(self, worker_id: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        settings = self.settings
        args = [
            *("work", "tidegate.sandbox.demo.job:handle", "--queue", QUEUE, "--table", "tidegate"),
            *("--slots", str(settings.slots), "--poll-wait", str(settings.poll_wait_s)),
            *("--heartbeat", f"{settings.heartbeat_s:g}s"),
        ]
        own = {**self.environment, JOURNAL_VARIABLE: str(self.journals)}
        log = self.logs / f"worker-{worker_id}.jsonl"
        return self._launcher.start(Program(_CLI, tuple(args), own), env, log)

    def write_config(self) -> None:
        """The controller's settings file, as a user would write it."""
        settings = self.settings
        target = (
            f'asg = "{QUEUE}"'
            if settings.capacity == "asg"
            else f'ecs = {{ cluster = "{QUEUE}", service = "{QUEUE}" }}'
        )
        (self.home / "tidegate.toml").write_text(f"""\
tick = "{settings.tick_s:g}s"
table = "tidegate"

[pools.{QUEUE}]
queue = "{QUEUE}"
{target}
target_wait = "{settings.target_wait_s:g}s"
min_workers = {settings.min_workers}
max_workers = {settings.max_workers}
slots_per_worker = {settings.slots}
hold = "{settings.hold_s:g}s"
service_time_hint = "{settings.service_time_s:g}s"
start_up_hint = "{settings.start_up_s:g}s"
stop_timeout = "{settings.stop_timeout_s:g}s"
""")

    def start_controller(self) -> None:
        """`tidegate run`, as a process of its own."""
        record = () if self.settings.record is None else ("--record", str(self.settings.record.resolve()))
        args = ("run", "--config", str(self.home / "tidegate.toml"), *record)
        self._controller = self._launcher.start(Program(_CLI, args, self.environment), log=self.controller_log)

    def stop_controller(self) -> None:
        """SIGTERM, and SIGKILL if it does not finish its tick in time. Safe to call twice."""
        if self._controller is None:
            return
        self._controller.send_signal(signal.SIGTERM)
        try:
            self.controller_exit = self._controller.wait(_CONTROLLER_STOP_S)
        except subprocess.TimeoutExpired:
            self._controller.kill()
            self.controller_exit = self._controller.wait()
        self._controller = None

    @property
    def controller_pid(self) -> int:
        """Raises TidegateError when it has been stopped."""
        if self._controller is None:
            raise TidegateError("the controller has been stopped; start_controller() first")
        return self._controller.pid

    def tend_controller(self) -> None:
        """Start a controller that was killed again, as its platform would.

        Raises TidegateError when it ended by itself: it would do so again.
        """
        exit_code = self._controller.poll() if self._controller is not None else None
        if exit_code is not None and exit_code < 0:
            self.start_controller()
        elif exit_code is not None:
            raise TidegateError(f"the controller ended with {exit_code}: {last_words(self.controller_log)}")

    def stop(self) -> None:
        """End everything. Safe to call twice."""
        self._stack.close()
