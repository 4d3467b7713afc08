"""The kinds of value that settings hold, and the small tables in a pool's: what `models` is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from tidegate.config.finish_by import read_finish_by
from tidegate.config.resources import (
    read_alarm,
    read_cluster,
    read_group,
    read_namespace,
    read_path,
    read_queue,
    read_region,
    read_service,
    read_table,
)
from tidegate.config.schedule import holds, read_cron, read_zone
from tidegate.config.setting import SettingsTable, setting
from tidegate.config.values import Amount, Count, Duration, Durations, Flag, Percent, Text, Then
from tidegate.core.bottlenecks import ApiRate, Database
from tidegate.core.reports import CLASSES_AT_MOST
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.core.workers.worker_slots import WorkerFit, slots_that_fit

__all__ = ["ApiSettings", "DatabaseSettings", "EcsService", "Ramp", "Window", "WorkerBox"]


Time = Annotated[float, Duration(at_least_s=0.001)]
TimeOrZero = Annotated[float, Duration(at_least_s=0)]
Interval = Annotated[float, Duration(at_least_s=0.1, at_most_s=3600)]
Lease = Annotated[float, Duration(at_least_s=1, at_most_s=LONGEST_LEASE_S)]
Workers = Annotated[int, Count(at_least=0)]
OneOrMore = Annotated[int, Count(at_least=1)]
PerSecond = Annotated[float, Amount(at_least=0.001, at_most=1_000_000)]
Calls = Annotated[float, Amount(at_least=0.001, at_most=100_000)]
Megabytes = Annotated[int, Count(at_least=1)]
Ticks = Annotated[int, Count(at_least=1, at_most=600)]
Queue = Annotated[Text, Then(read_queue)]
Cluster = Annotated[Text, Then(read_cluster)]
Service = Annotated[Text, Then(read_service)]
Group = Annotated[Text, Then(read_group)]
Cron = Annotated[Text, Then(read_cron)]
Region = Annotated[Text, Then(read_region)]
Table = Annotated[Text, Then(read_table)]
Path = Annotated[Text, Then(read_path)]
AlarmName = Annotated[Text, Then(read_alarm)]
Namespace = Annotated[Text, Then(read_namespace)]
FinishBy = Annotated[Text, Then(read_finish_by)]
Share = Annotated[float, Amount(at_least=0, at_most=1)]
OnOff = Annotated[bool, Flag()]
Hints = Annotated[Mapping[str, float], Durations(at_least_s=0.001, at_most=CLASSES_AT_MOST)]
Zone = Annotated[Text, Then(read_zone)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EcsService(SettingsTable):
    """The ECS service whose desired count is set."""

    cluster: Cluster = setting(description="Name or ARN of the ECS cluster.", examples=["prod"])
    service: Service = setting(description="Name or ARN of the ECS service.", examples=["orders"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ramp(SettingsTable):
    """The most workers added in one tick, or in ten seconds of a longer one: the larger of the two."""

    percent: Percent = setting(
        400.0, description="Most workers added per tick (in a longer one per 10 s), in percent of those desired now."
    )
    workers: Workers = setting(
        20, description="Most workers added per tick (in a longer one per 10 s), as a count, however few there are now."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings(SettingsTable):
    """Connections that all workers of the pool share."""

    connections: OneOrMore = setting(
        description="Most connections that the database (or its proxy) takes.", examples=[100]
    )
    reserved: Workers = setting(0, description="Of these, what is kept for others: migrations, dashboards, people.")
    per_slot: OneOrMore = setting(1, description="Connections that one slot holds at a time.")

    @property
    def bottleneck(self) -> Database:
        """As a decision needs it."""
        return Database(self.connections, self.reserved, self.per_slot)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings(SettingsTable):
    """The rate of an API that all workers of the pool share."""

    calls_per_second: PerSecond = setting(description="Most calls a second that the API takes.", examples=[100])
    calls_per_message: Calls = setting(1.0, description="Calls that the handler makes for one message, on average.")

    @property
    def bottleneck(self) -> ApiRate:
        """As a decision needs it."""
        return ApiRate(self.calls_per_second, self.calls_per_message)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerBox(SettingsTable):
    """What one worker has, and what one job of it takes: only checked against `slots_per_worker`."""

    cpus: Calls | None = setting(None, description="Cores of one worker (ECS: CPU units ÷ 1024).", examples=[2])
    cpu_per_job: Calls | None = setting(
        None,
        description="Cores that a running job keeps busy: 1 when it computes, little when it waits.",
        examples=[0.2],
    )
    memory_mib: OneOrMore | None = setting(None, description="Memory limit of one worker, in MiB.", examples=[4096])
    memory_mib_per_job: OneOrMore | None = setting(
        None, description="Resident memory that one job adds at its peak, in MiB.", examples=[300]
    )

    @property
    def fit(self) -> WorkerFit | None:
        """The most slots that it has room for; None while too little of it is known."""
        return slots_that_fit(
            cpus=self.cpus,
            cpu_per_job=self.cpu_per_job,
            memory_mib=self.memory_mib,
            memory_mib_per_job=self.memory_mib_per_job,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(SettingsTable):
    """Other limits for a part of the day or week. Where windows overlap, the highest of each limit wins."""

    name: Text = setting(description="What decisions call this window.", examples=["office hours"])
    start: Cron = setting(
        description="When the window opens: cron expression of five fields (minute, hour, day, month, weekday).",
        examples=["0 8 * * MON-FRI"],
    )
    end: Cron = setting(
        description="When the window closes: cron expression of five fields; the first end after a start counts.",
        examples=["0 20 * * MON-FRI"],
    )
    timezone: Zone = setting(
        "UTC", description="Time zone of start and end; changes of the clocks are followed.", examples=["Europe/Berlin"]
    )
    min_workers: Workers | None = setting(None, description="Replaces the pool's `min_workers` in the window.")
    max_workers: OneOrMore | None = setting(None, description="Replaces the pool's `max_workers` in the window.")

    def holds(self, now_s: float) -> bool:
        """Whether the window is open at `now_s` (seconds since the epoch)."""
        return holds(self.start, self.end, self.timezone, now_s)
