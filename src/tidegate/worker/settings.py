"""A worker's settings. What wins: command line, variable TIDEGATE_WORKER_<NAME>, keyword of `Worker(...)`, default."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from tidegate.core.durations import format_duration, parse_duration
from tidegate.errors import ConfigError, Fault
from tidegate.worker.leases import LONGEST_LEASE_S

__all__ = ["PREFIX", "WorkerOptions", "WorkerSettings", "command_line_settings", "worker_settings"]

PREFIX: Final = "TIDEGATE_WORKER_"

_AFTER_GRACE_S: Final = 5.0
"""After the grace: a second for handlers that were told, two to release and to delete, one for the final report."""
_LONGEST_POLL_S: Final = 20
_MOST_SLOTS: Final = 1_000

_PLATFORMS_STOP_TIMEOUT: Final = "ECS_CONTAINER_STOP_TIMEOUT"


def _positive(seconds: float) -> float:
    if seconds == 0:
        raise ValueError("not more than nothing; write a time such as 10s")
    return seconds


def _long_poll(seconds: float) -> float:
    if not _whole(seconds, 1, _LONGEST_POLL_S):
        problem = "no long poll (one of 0 s would ask hundreds of times a second, and each is billed)"
        raise ValueError(f"{problem}; write whole seconds from 1 to {_LONGEST_POLL_S}")
    return seconds


def _lease(seconds: float) -> float:
    if not _whole(seconds, 1, LONGEST_LEASE_S):
        fix = "write whole seconds from 1 s to 12h, or leave it out to use the queue's own"
        raise ValueError(f"no lease that can be kept alive; {fix}")
    return seconds


def _whole(value: float, least: int, most: int) -> bool:
    return least <= value <= most and value == int(value)


Duration = Annotated[float, BeforeValidator(parse_duration)]
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]


class WorkerOptions(TypedDict, total=False):
    """The settings as keywords; `WorkerSettings` says what each means. None counts as not given."""

    pool: str | None
    id: str | None
    slots: int | None
    poll_wait: float | str | None
    visibility_timeout: float | str | None
    grace: float | str | None
    stop_timeout: float | str | None
    heartbeat: float | str | None
    table: str | None
    state_dir: str | Path | None
    region: str | None
    retry_base: float | str | None
    retry_cap: float | str | None
    protect: bool | None


class WorkerSettings(BaseSettings):
    """Durations are seconds: 90, "90s", "5m"."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, env_ignore_empty=True)

    _environment_first: ClassVar[bool] = True

    queue: str = Field(min_length=1)
    """The queue's URL, ARN or name."""
    pool: str = ""
    """The pool that this worker's heartbeat belongs to. Default: the queue's name."""
    id: str = ""
    """The worker's name in reports. Default: host, process and a random part."""
    slots: int = Field(default=1, ge=1, le=_MOST_SLOTS)
    """How many handlers run at once."""
    poll_wait: Annotated[Duration, AfterValidator(_long_poll)] | None = None
    """Long poll, whole seconds from 1 to 20. Default: 20 s, or half the grace if that is less: a worker that is told to
    leave waits for its outstanding poll. With ECS's stop timeout of 30 s that is 12 s."""
    visibility_timeout: Annotated[Duration, AfterValidator(_lease)] | None = None
    """Lease of each message, 1 s to 12 h, whole seconds. Default: the queue's own."""
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
    state_dir: Path | None = None
    """A directory in place of the table, for controller and workers on one machine."""
    region: str | None = None
    """AWS Region. Default: what boto3 finds. The Region that the queue's URL or ARN names wins, for the queue."""
    retry_base: Duration = 1.0
    """A message whose handler raised is hidden for up to this long, doubled at each further receive …"""
    retry_cap: Duration = 300.0
    """… and for no longer than this."""
    protect: bool = True
    """Have the platform spare this worker when it scales in or deploys, where it can be asked to."""

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
            max(1, math.floor(min(_LONGEST_POLL_S, self.grace_s / 2)))
            if self.poll_wait is None
            else int(self.poll_wait)
        )

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
        raise ConfigError([_fault(dict(each)) for each in error.errors()]) from error
    faults = _faults_together(settings)
    if faults:
        raise ConfigError(faults)
    return settings


def _fault(error: Mapping[str, Any]) -> Fault:
    name = ".".join(str(part) for part in error["loc"]) or "settings"
    if error["type"] == "missing":
        return Fault(name, None, "not given", f"pass {name}=… or set {PREFIX}{name.upper()}")
    if error["type"] == "extra_forbidden":
        known = ", ".join(WorkerSettings.model_fields)
        return Fault(name, error["input"], "there is no such setting", f"choose from {known}")
    problem, _, fix = str(error["msg"]).removeprefix("Value error, ").partition("; ")
    return Fault(name, error["input"], problem, fix or _FIXES.get(name, f"correct it, or {PREFIX}{name.upper()}"))


_FIXES: Final = {
    "slots": f"write a whole number from 1 to {_MOST_SLOTS}",
    "queue": "write the queue's URL, its ARN (arn:aws:sqs:REGION:ACCOUNT:NAME) or its name",
}


def _faults_together(settings: WorkerSettings) -> list[Fault]:
    faults = []
    if settings.table is not None and settings.state_dir is not None:
        fix = "give one of them"
        faults.append(Fault("state_dir", str(settings.state_dir), f"table = {settings.table!r} is given too", fix))
    if settings.retry_base > settings.retry_cap:
        problem = f"more than retry_cap = {format_duration(settings.retry_cap)}"
        faults.append(Fault("retry_base", settings.retry_base, problem, "lower it, or raise retry_cap"))
    if settings.grace is not None and settings.grace >= settings.stop_timeout:
        stop = format_duration(settings.stop_timeout)
        problem = f"reaches the stop timeout of {stop}, at which the platform kills what has not ended"
        faults.append(Fault("grace", settings.grace, problem, "shorten it, or set stop_timeout to the platform's own"))
    if settings.poll_wait is not None and settings.poll_wait > settings.grace_s:
        grace = format_duration(settings.grace_s)
        problem = f"longer than the grace of {grace}, so a worker told to leave could not finish its poll"
        faults.append(Fault("poll_wait", settings.poll_wait, problem, "shorten it, or raise grace"))
    return faults
