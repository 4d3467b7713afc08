"""The kinds of value that settings hold, and the small tables in a pool's: what `models` is made of."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tidegate.config.finish_by import read_finish_by
from tidegate.config.resources import (
    read_alarm,
    read_cluster,
    read_group,
    read_namespace,
    read_queue,
    read_region,
    read_service,
    read_table,
)
from tidegate.config.schedule import holds, read_cron, read_zone
from tidegate.config.values import Amount, Count, Duration, Durations, Flag, Percent, Text
from tidegate.core.reports import CLASSES_AT_MOST

__all__ = ["ApiSettings", "DatabaseSettings", "EcsService", "Ramp", "SettingsTable", "Window", "WorkerBox"]

_VISIBILITY_LIMIT_S = 43_200.0
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""

Time = Annotated[float, Duration(at_least_s=0.001)]
TimeOrZero = Annotated[float, Duration(at_least_s=0)]
Interval = Annotated[float, Duration(at_least_s=0.1, at_most_s=3600)]
Lease = Annotated[float, Duration(at_least_s=1, at_most_s=_VISIBILITY_LIMIT_S)]
Workers = Annotated[int, Count(at_least=0)]
OneOrMore = Annotated[int, Count(at_least=1)]
PerSecond = Annotated[float, Amount(at_least=0.001, at_most=1_000_000)]
Calls = Annotated[float, Amount(at_least=0.001, at_most=100_000)]
Megabytes = Annotated[int, Count(at_least=1)]
Ticks = Annotated[int, Count(at_least=1, at_most=600)]
Queue = Annotated[Text, AfterValidator(read_queue)]
Cluster = Annotated[Text, AfterValidator(read_cluster)]
Service = Annotated[Text, AfterValidator(read_service)]
Group = Annotated[Text, AfterValidator(read_group)]
Cron = Annotated[Text, AfterValidator(read_cron)]
Region = Annotated[Text, AfterValidator(read_region)]
Table = Annotated[Text, AfterValidator(read_table)]
AlarmName = Annotated[Text, AfterValidator(read_alarm)]
Namespace = Annotated[Text, AfterValidator(read_namespace)]
FinishBy = Annotated[Text, AfterValidator(read_finish_by)]
Share = Annotated[float, Amount(at_least=0, at_most=1)]
OnOff = Annotated[bool, Flag()]
Hints = Annotated[Mapping[str, float], Durations(at_least_s=0.001, at_most=CLASSES_AT_MOST)]
Zone = Annotated[Text, AfterValidator(read_zone)]


class SettingsTable(BaseModel):
    """Frozen, and refusing what it doesn't know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EcsService(SettingsTable):
    """The ECS service whose desired count is set."""

    cluster: Cluster = Field(description="Name or ARN of the ECS cluster.", examples=["prod"])
    service: Service = Field(description="Name or ARN of the ECS service.", examples=["orders"])


class Ramp(SettingsTable):
    """The most workers added in one tick: the larger of the two."""

    percent: Percent = Field(100.0, description="Most workers added per tick, in percent of those desired now.")
    workers: Workers = Field(4, description="Most workers added per tick, as a count, however few there are now.")


class DatabaseSettings(SettingsTable):
    """Connections that all workers of the pool share."""

    connections: OneOrMore = Field(
        description="Most connections that the database (or its proxy) takes.", examples=[100]
    )
    reserved: Workers = Field(0, description="Of these, what is kept for others: migrations, dashboards, people.")
    per_slot: OneOrMore = Field(1, description="Connections that one slot holds at a time.")


class ApiSettings(SettingsTable):
    """The rate of an API that all workers of the pool share."""

    calls_per_second: PerSecond = Field(description="Most calls a second that the API takes.", examples=[100])
    calls_per_message: Calls = Field(1.0, description="Calls that the handler makes for one message, on average.")


class WorkerBox(SettingsTable):
    """What one worker has, and what one job of it takes: only checked against `slots_per_worker`."""

    cpus: Calls | None = Field(None, description="Cores of one worker (ECS: CPU units ÷ 1024).", examples=[2])
    cpu_per_job: Calls | None = Field(
        None,
        description="Cores that a running job keeps busy: 1 when it computes, little when it waits.",
        examples=[0.2],
    )
    memory_mib: OneOrMore | None = Field(None, description="Memory limit of one worker, in MiB.", examples=[4096])
    memory_mib_per_job: OneOrMore | None = Field(
        None, description="Resident memory that one job adds at its peak, in MiB.", examples=[300]
    )


class Window(SettingsTable):
    """Other limits for a part of the day or week. Where windows overlap, the highest of each limit wins."""

    name: Text = Field(description="What decisions call this window.", examples=["office hours"])
    start: Cron = Field(
        description="When the window opens: cron expression of five fields (minute, hour, day, month, weekday).",
        examples=["0 8 * * MON-FRI"],
    )
    end: Cron = Field(
        description="When the window closes: cron expression of five fields; the first end after a start counts.",
        examples=["0 20 * * MON-FRI"],
    )
    timezone: Zone = Field(
        "UTC", description="Time zone of start and end; changes of the clocks are followed.", examples=["Europe/Berlin"]
    )
    min_workers: Workers | None = Field(None, description="Replaces the pool's `min_workers` in the window.")
    max_workers: OneOrMore | None = Field(None, description="Replaces the pool's `max_workers` in the window.")

    def holds(self, now_s: float) -> bool:
        """Whether the window is open at `now_s` (seconds since the epoch)."""
        return holds(self.start, self.end, self.timezone, now_s)
