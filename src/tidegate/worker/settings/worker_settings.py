"""A worker's settings. What wins: command line, variable TIDEGATE_WORKER_<NAME>, keyword of `Worker(...)`, default."""

import math
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypedDict

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from tidegate.core.workers.auto_slots import AutoSlots
from tidegate.errors import ConfigError
from tidegate.worker.fleet.limits import FleetLimits
from tidegate.worker.fleet.retry_budget import RetryLimit
from tidegate.worker.settings.checks import PREFIX, faults_together, unknown_variables
from tidegate.worker.settings.faults import fault_of
from tidegate.worker.settings.shares import parse_shares
from tidegate.worker.settings.slot_rule import read_slots
from tidegate.worker.settings.types import (
    LONGEST_POLL_S,
    MOST_AT_ONCE,
    MOST_FLEET_SLOTS,
    MOST_RETRIES,
    MOST_SLOTS,
    ClassNumbers,
    Duration,
    LeaseDuration,
    LocalPath,
    LongPoll,
    PositiveDuration,
    Shares,
)

__all__ = ["PREFIX", "WorkerOptions", "WorkerSettings", "command_line_settings", "worker_settings"]

_AFTER_GRACE_S: Final = 5.0
"""After the grace: a second for handlers that were told, two to release and to delete, one for the final report."""

_PLATFORMS_STOP_TIMEOUT: Final = "ECS_CONTAINER_STOP_TIMEOUT"


class WorkerOptions(TypedDict, total=False):
    """The settings as keywords; `WorkerSettings` says what each means. None counts as not given."""

    dead_letter_queue: str | None
    pool: str | None
    id: str | None
    slots: int | str | AutoSlots | None
    class_slots: Mapping[str, int] | str | None
    fleet_slots: int | None
    class_fleet_slots: Mapping[str, int] | str | None
    batch_size: int | None
    prefetch: int | None
    executor: Literal["thread", "process"] | None
    poll_wait: float | str | None
    visibility_timeout: float | str | None
    max_extensions: int | None
    progress_timeout: float | str | None
    grace: float | str | None
    stop_timeout: float | str | None
    heartbeat: float | str | None
    table: str | None
    state_dir: str | Path | None
    region: str | None
    retry_base: float | str | None
    retry_cap: float | str | None
    retry_budget: float | None
    retry_floor: float | None
    max_receives: int | None
    start_delay: float | str | None
    health_port: int | None
    health_file: str | Path | None
    stuck_after: float | str | None
    leave_when_stuck: bool | None
    protect: bool | None
    notices: bool | None
    asg: str | None
    lifecycle_hook: str | None
    log_level: Literal["debug", "info", "warning", "error"] | None


class WorkerSettings(BaseSettings):
    """Durations are seconds: 90, "90s", "5m"."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, env_ignore_empty=True)

    _environment_first: ClassVar[bool] = True

    queue: Shares = Field(min_length=1)
    """The queue's URL, ARN or name. Several: "orders=3, mail=1", with their shares of the slots (1 if left out)."""
    dead_letter_queue: str | None = None
    """Where rejected messages go: URL, ARN or name. Default: what the queue's redrive policy names."""
    pool: str = ""
    """The pool that this worker's heartbeat belongs to. Default: the queue's name."""
    id: str = ""
    """The worker's name in reports. Default: host, process and a random part."""
    slots: Annotated[int | AutoSlots, BeforeValidator(partial(read_slots, most=MOST_SLOTS))] = 1
    """How many handlers run at once; or `auto(min=2, max=32, target_wait="50ms")`: as many as the waits call for."""
    class_slots: ClassNumbers = ""
    """The most slots of a job class, such as "bulk=2, mail=1". Default, for each class: all slots but one."""
    fleet_slots: int | None = Field(default=None, ge=1, le=MOST_FLEET_SLOTS)
    """The most slots of all the pool's workers together. Default: as many as there are."""
    class_fleet_slots: ClassNumbers = ""
    """The most slots of a job class in all workers together: "bulk=2, *=5", * for each class that is not named.
    Default: no such limit."""
    batch_size: int = Field(default=10, ge=1, le=MOST_AT_ONCE)
    """The most messages of one call of a batch handler; one poll's at most. Such a call takes one slot."""
    prefetch: int | None = Field(default=None, ge=0, le=MOST_SLOTS)
    """How many messages may wait in hand for a slot. Default: none where handlers take over 1 s on average, else as
    few as hide the way to SQS and back; never any on a FIFO queue."""
    executor: Literal["thread", "process"] = "thread"
    """Where sync handlers run. A process for each slot is for handlers that keep the CPU busy."""
    poll_wait: LongPoll | None = None
    """Long poll, whole seconds from 1 to 20. Default: 20 s, or half the grace if that is less: a worker that is told to
    leave waits for its outstanding poll. With ECS's stop timeout of 30 s that is 12 s."""
    visibility_timeout: LeaseDuration | None = None
    """Lease of each message, 1 s to 12 h, whole seconds. Default: the queue's own."""
    max_extensions: int | None = Field(default=None, ge=0)
    """How often a lease is extended at most, each time at half of it. Default: until SQS's end, after 12 hours."""
    progress_timeout: PositiveDuration | None = None
    """A lease is extended only while its handler calls `message.progress()` this often. Default: no matter."""
    grace: Duration | None = None
    """How long handlers may go on after SIGTERM. Default: 5 s less than `stop_timeout`."""
    stop_timeout: PositiveDuration = 30.0
    """When the platform kills what has not ended. Default: ECS_CONTAINER_STOP_TIMEOUT, or ECS's own default of 30 s.

    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_definition_parameters.html (stopTimeout)
    """
    heartbeat: PositiveDuration = 10.0
    """How often the worker reports to the fleet."""
    table: str | None = None
    """DynamoDB table of the fleet. Default: none, the worker reports nowhere."""
    state_dir: LocalPath | None = None
    """A directory in place of the table, for controller and workers on one machine."""
    region: str | None = None
    """AWS Region. Default: what boto3 finds. The Region that the queue's URL or ARN names wins, for the queue."""
    retry_base: Duration = 1.0
    """A message whose handler raised is hidden for up to this long, doubled at each further receive …"""
    retry_cap: Duration = 300.0
    """… and for no longer than this."""
    retry_budget: float | None = Field(default=None, ge=0, le=MOST_RETRIES, allow_inf_nan=False)
    """Retries of all workers together, per message that they complete: what is over waits for its turn, hidden.
    Default: no such limit, as a `Retry` may well be how a job is meant to go on."""
    retry_floor: float = Field(default=1.0, gt=0, le=MOST_RETRIES, allow_inf_nan=False)
    """Retries a second that all workers together may let go besides, however little they complete."""
    start_delay: Duration = 0.0
    """The first poll is sent after a random time up to this: for a fleet that starts at once and shares a database."""
    health_port: int | None = Field(default=None, ge=1, le=65_535)
    """Where `/healthz` and `/readyz` are answered over HTTP. Default: nowhere."""
    health_file: LocalPath | None = None
    """A file that is written every 5 s, for `tidegate health` in a container's health check. Default: none."""
    stuck_after: PositiveDuration | None = None
    """Unhealthy when messages wait and no handler has ended for so long. Default: ten times what 99 of 100 handlers
    take, a minute at least, an hour before that is known."""
    leave_when_stuck: bool | None = None
    """A worker that is stuck by that measure drains, releases what it holds and ends with exit code 1, for the platform
    to start another. Default: when `stuck_after` is given; what is reckoned from the p99 may be wrong about a job."""
    max_receives: int | None = Field(default=None, ge=1)
    """A message that was handed out more often goes to the dead-letter queue before it runs; receives that were
    released or put off by `Retry` don't count (known with `table` or `state_dir`). Default: the redrive policy's."""
    protect: bool = True
    """Have the platform spare this worker when it scales in or deploys, where it can be asked to."""
    notices: bool = True
    """Heed EC2's notices: spot interruption, rebalance recommendation, termination by Auto Scaling."""
    asg: str | None = None
    """The Auto Scaling group that this instance is in: it is protected from scale-in until the worker has drained."""
    lifecycle_hook: str | None = None
    """The group's hook on termination: handlers may finish, the hook is kept meanwhile and completed then."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """From which level on lines are logged, by a program that has set up no logging of its own."""

    @property
    def shares(self) -> dict[str, float]:
        """The queues, each with its share of the slots."""
        return parse_shares(self.queue)

    @property
    def class_limits(self) -> dict[str, int]:
        """The most slots of each class that is named."""
        return {name: int(number) for name, number in parse_shares(self.class_slots).items()}

    @property
    def fleet_limits(self) -> FleetLimits:
        """What holds for all workers together."""
        classes = {name: int(number) for name, number in parse_shares(self.class_fleet_slots).items()}
        return FleetLimits(self.fleet_slots, classes)

    @property
    def retry_limit(self) -> RetryLimit | None:
        """The fleet's retry budget."""
        return None if self.retry_budget is None else RetryLimit(self.retry_budget, self.retry_floor)

    @property
    def most_slots(self) -> int:
        """What the slots may grow to."""
        return self.slots.most if isinstance(self.slots, AutoSlots) else self.slots

    @property
    def grace_s(self) -> float:
        """The grace as set, or what the platform's stop timeout leaves."""
        if self.grace is not None:
            return self.grace
        return max(self.stop_timeout - _AFTER_GRACE_S, self.stop_timeout / 2)

    @property
    def poll_wait_s(self) -> int:
        """The poll wait as set, or what the grace can bear."""
        return (
            max(1, math.floor(min(LONGEST_POLL_S, self.grace_s / 2))) if self.poll_wait is None else int(self.poll_wait)
        )

    @property
    def leaves_when_stuck(self) -> bool:
        """As set, or when its author has said what stuck is."""
        return self.stuck_after is not None if self.leave_when_stuck is None else self.leave_when_stuck

    @property
    def visibility_timeout_s(self) -> int | None:
        return None if self.visibility_timeout is None else int(self.visibility_timeout)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Whoever runs a worker can change what its author wrote; what the platform says is a default only."""
        told = os.environ.get(_PLATFORMS_STOP_TIMEOUT)
        platform = InitSettingsSource(settings_cls, {"stop_timeout": told} if told else {})
        given = (env_settings, init_settings) if cls._environment_first else (init_settings, env_settings)
        return (*given, platform)


class _CommandLineSettings(WorkerSettings):
    """The same settings where what was typed just now wins over what was exported at some time."""

    _environment_first: ClassVar[bool] = False


def worker_settings(keywords: Mapping[str, Any]) -> WorkerSettings:
    """Settings from keywords in code, which the environment overrides. A keyword that is None counts as not given.

    Raises ConfigError with every fault of single settings, or else with every one between settings.
    """
    return _checked(WorkerSettings, keywords)


def command_line_settings(keywords: Mapping[str, Any]) -> WorkerSettings:
    """Settings from the command line's options, which override the environment; else as `worker_settings`."""
    return _checked(_CommandLineSettings, keywords)


def _checked(kind: type[WorkerSettings], keywords: Mapping[str, Any]) -> WorkerSettings:
    given = {name: value for name, value in keywords.items() if value is not None}
    try:
        settings = kind(**given)
    except ValidationError as error:
        faults = [fault_of(dict(each), kind.model_fields) for each in error.errors()]
        raise ConfigError([*faults, *unknown_variables(kind.model_fields, os.environ)]) from error
    faults = [*unknown_variables(kind.model_fields, os.environ), *faults_together(settings)]
    if faults:
        raise ConfigError(faults)
    return settings
