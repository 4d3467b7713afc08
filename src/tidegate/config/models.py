"""The settings as frozen models. Each field says its effect; `schema` and `reference` make everything else of it.

Attributes carry their unit (`target_wait_s`), the settings' names in the file do not (`target_wait = "30s"`).
What settings mean together is checked by `checks`, so that one wrong field never hides another fault.
These are plain pydantic models: the models of pydantic-settings stop at the first unreadable source, forget which
source a value came from, and take keys such as `_env_file` in the file itself as orders to read something else.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, field_validator

from tidegate.config.resources import (
    read_cluster,
    read_group,
    read_namespace,
    read_queue,
    read_region,
    read_service,
    read_table,
)
from tidegate.config.schedule import holds, read_cron, read_zone
from tidegate.config.values import Amount, Chance, Count, Duration, Percent, Text
from tidegate.core.bottlenecks import ApiRate, Database
from tidegate.core.model import Pool

__all__ = ["ApiSettings", "DatabaseSettings", "EcsService", "PoolSettings", "Ramp", "Settings", "Window", "WorkerBox"]

_TICK_S = 10.0
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
Namespace = Annotated[Text, AfterValidator(read_namespace)]
Zone = Annotated[Text, AfterValidator(read_zone)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EcsService(_Table):
    """The ECS service whose desired count is set."""

    cluster: Cluster = Field(description="Name or ARN of the ECS cluster.", examples=["prod"])
    service: Service = Field(description="Name or ARN of the ECS service.", examples=["orders"])


class Ramp(_Table):
    """The most workers added in one tick: the larger of the two."""

    percent: Percent = Field(100.0, description="Most workers added per tick, in percent of those desired now.")
    workers: Workers = Field(4, description="Most workers added per tick, as a count, however few there are now.")


class DatabaseSettings(_Table):
    """Connections that all workers of the pool share."""

    connections: OneOrMore = Field(
        description="Most connections that the database (or its proxy) takes.", examples=[100]
    )
    reserved: Workers = Field(0, description="Of these, what is kept for others: migrations, dashboards, people.")
    per_slot: OneOrMore = Field(1, description="Connections that one slot holds at a time.")


class ApiSettings(_Table):
    """The rate of an API that all workers of the pool share."""

    calls_per_second: PerSecond = Field(description="Most calls a second that the API takes.", examples=[100])
    calls_per_message: Calls = Field(1.0, description="Calls that the handler makes for one message, on average.")


class WorkerBox(_Table):
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


class Window(_Table):
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


class PoolSettings(_Table):
    """One pool: workers of one kind, their queue or queues, and how long a message may wait."""

    queue: Queue | None = Field(
        None,
        description="The queue that the workers serve: URL, ARN or name. Either this or `queues`.",
        examples=["orders"],
    )
    queues: Annotated[tuple[Queue, ...], Field(min_length=1)] | None = Field(
        None,
        description="Several queues that the same workers serve: URLs, ARNs or names.",
        examples=[["orders", "returns"]],
    )
    target_wait_s: Time = Field(
        alias="target_wait",
        description="The objective: no message should wait longer than this before a worker starts it.",
        examples=["30s"],
    )
    ecs: EcsService | None = Field(None, description="The ECS service to scale. Either this or `asg`.")
    asg: Group | None = Field(
        None, description="Name of the Auto Scaling group to scale. Either this or `ecs`.", examples=["orders-workers"]
    )
    min_workers: Workers = Field(
        1, description="Never fewer workers than this. With 0, the first message waits for a worker to start."
    )
    max_workers: OneOrMore = Field(
        description="Never more workers than this: the limit of what is spent.", examples=[50]
    )
    slots_per_worker: OneOrMore = Field(
        1, description="How many messages one worker handles at a time; the workers' own `slots` must be the same."
    )
    policy: Literal["littles-law", "wait"] = Field(
        "littles-law",
        description='How the workers needed are found. "littles-law": the plain formula, which a share as '
        '`utilization` also asks for. "wait", on trial: hold the target for the least money, by measured waits, '
        "surges and start-ups.",
        examples=["wait"],
    )
    economy: Literal["lean", "prompt"] = Field(
        "lean",
        description='Of policy "wait". "lean": where the target allows it, a backlog stands on purpose, and waits are '
        'a good part of `target_wait`. "prompt": none stands; shorter waits at a price.',
        examples=["prompt"],
    )
    utilization: Chance = Field(
        None,
        description='Share of the slots to keep busy when steady; "auto" finds the fewest slots that keep the target.',
    )
    drain_target_s: Time | None = Field(
        None,
        alias="drain_target",
        description="How fast a backlog is worked off. Left out: in the time left until `target_wait`.",
        examples=["5m"],
    )
    ramp: Ramp = Field(Ramp(), description="Most workers added in one tick: the larger of a percentage and a count.")
    hold_s: TimeOrZero | None = Field(
        None,
        alias="hold",
        description="How long fewer workers must have been enough before any is taken away. Left out: as long as a new "
        "worker takes to start, as measured.",
        examples=["2m"],
    )
    max_slots: OneOrMore | None = Field(
        None,
        description="Most slots in all workers together, for a bottleneck known by count (connections, licences).",
        examples=[200],
    )
    database: DatabaseSettings | None = Field(
        None, description="Never more slots than the database has connections for.", examples=[{"connections": 100}]
    )
    api: ApiSettings | None = Field(
        None,
        description="Never more slots than stay within an API's rate: rate × service time ÷ calls, with the service "
        "time from before the API got slow.",
        examples=[{"calls_per_second": 100}],
    )
    message_groups: OneOrMore | None = Field(
        None,
        description="FIFO queues: how many message groups are active at a time. More slots than groups find no work.",
        examples=[20],
    )
    worker: WorkerBox | None = Field(
        None,
        description="What one worker has and what a job takes, to check `slots_per_worker` against.",
        examples=[{"cpus": 2, "cpu_per_job": 0.2}],
    )
    service_time_hint_s: Time | None = Field(
        None,
        alias="service_time_hint",
        description="How long a handler runs, used only until workers have measured it.",
        examples=["800ms"],
    )
    start_up_hint_s: TimeOrZero | None = Field(
        None,
        alias="start_up_hint",
        description="From raising the desired count to a worker's first receive, used only until it has been measured.",
        examples=["45s"],
    )
    stop_timeout_s: TimeOrZero = Field(
        30.0,
        alias="stop_timeout",
        description="How long the platform lets a worker finish after SIGTERM (ECS: the container's stopTimeout).",
    )
    visibility_timeout_s: Lease | None = Field(
        None,
        alias="visibility_timeout",
        description="The queues' visibility timeout, for checking `lease_heartbeat` without asking AWS.",
        examples=["60s"],
    )
    lease_heartbeat_s: Time | None = Field(
        None,
        alias="lease_heartbeat",
        description="How often workers without the SDK extend leases; only checked, at the start with the queues' own.",
        examples=["20s"],
    )
    schedule: tuple[Window, ...] = Field(
        (), description="Other minimums and maximums at certain times, one table each."
    )

    _name: str = PrivateAttr("")
    _tick_s: float = PrivateAttr(_TICK_S)

    @property
    def name(self) -> str:
        """The pool's name: its table's in the file."""
        return self._name

    @property
    def all_queues(self) -> tuple[str, ...]:
        """The pool's queues, whether written as `queue` or as `queues`."""
        return (() if self.queue is None else (self.queue,)) + (self.queues or ())

    def named(self, name: str, tick_s: float) -> Self:
        """A copy that knows its name and what the file says for all pools."""
        copy = self.model_copy()
        copy._name, copy._tick_s = name, tick_s
        return copy

    def at(self, now_s: float) -> Pool:
        """The pool as a decision needs it at `now_s` (seconds since the epoch): the schedule has been applied."""
        least, most, source = self.limits_at(now_s)
        return Pool(
            name=self._name,
            target_wait_s=self.target_wait_s,
            min_workers=least,
            max_workers=most,
            slots_per_worker=self.slots_per_worker,
            policy=self.policy,
            economy=self.economy,
            utilization=self.utilization,
            drain_target_s=self.drain_target_s,
            ramp_share=self.ramp.percent / 100,
            ramp_workers=self.ramp.workers,
            hold_s=self.hold_s,
            tick_s=self._tick_s,
            stop_timeout_s=self.stop_timeout_s,
            service_time_hint_s=self.service_time_hint_s,
            start_up_hint_s=self.start_up_hint_s,
            max_slots=self.max_slots,
            limits_from=source,
            database=None if self.database is None else Database(**self.database.model_dump()),
            api=None if self.api is None else ApiRate(self.api.calls_per_second, self.api.calls_per_message),
            message_groups=self.message_groups,
        )

    def limits_at(self, now_s: float) -> tuple[int, int, str]:
        """(min_workers, max_workers, where they come from) at `now_s`.

        The maximum holds over the minimum: it was set for cost or for the sake of something that breaks.
        """
        windows = [window for window in self.schedule if window.holds(now_s)]
        least = max((w.min_workers for w in windows if w.min_workers is not None), default=self.min_workers)
        most = max((w.max_workers for w in windows if w.max_workers is not None), default=self.max_workers)
        source = "schedule " + " and ".join(repr(window.name) for window in windows) if windows else "settings"
        return min(least, most), most, source


_EXAMPLE = {
    "queue": "orders",
    "target_wait": "30s",
    "ecs": {"cluster": "prod", "service": "orders"},
    "max_workers": 50,
}


class Settings(_Table):
    """Everything that the controller is told: common settings and one table per pool."""

    tick_s: Interval = Field(
        _TICK_S, alias="tick", description="How often the controller looks at each pool and decides."
    )
    table: Table | None = Field(
        None,
        description="Name or ARN of the DynamoDB table of states and heartbeats. Without it or `state_dir`: in memory.",
        examples=["tidegate"],
    )
    state_dir: Text | None = Field(
        None,
        description="Directory of pool states and workers' heartbeats, when everything runs on one machine.",
        examples=["/var/lib/tidegate"],
    )
    region: Region | None = Field(
        None, description="AWS Region. Left out: where the AWS SDK finds it by itself.", examples=["eu-central-1"]
    )
    record: Text | None = Field(
        None,
        description="File that every decision is recorded in with all that it was made from, for `tidegate replay`. "
        "Each controller needs its own.",
        examples=["/var/lib/tidegate/decisions.jsonl"],
    )
    record_megabytes: Megabytes = Field(
        100, description="The most megabytes that recordings take; the older half goes when the newer one is full."
    )
    publish: Literal["off", "log", "cloudwatch"] = Field(
        "off",
        description='Where metrics for alarms and dashboards go. "cloudwatch": PutMetricData, once a minute. "log": '
        "lines of CloudWatch's embedded metric format in the log of `run` and of the Lambda, for where CloudWatch Logs "
        "reads that log. Each pool's metrics are billed as custom metrics.",
        examples=["log"],
    )
    namespace: Namespace = Field("tidegate", description="CloudWatch namespace of the metrics that `publish` writes.")
    ticks_per_invocation: Ticks = Field(
        1,
        description="Of the Lambda only: ticks made in one invocation, `tick` apart, as far as its time-out allows. A "
        "schedule calls it once a minute at most.",
    )
    pools: Annotated[Mapping[str, PoolSettings], Field(min_length=1)] = Field(
        description="The pools, each under its name.", examples=[{"orders": _EXAMPLE}]
    )

    @field_validator("pools", mode="after")
    @classmethod
    def _name_pools(cls, pools: Mapping[str, PoolSettings], info: ValidationInfo) -> Mapping[str, PoolSettings]:
        tick_s = info.data.get("tick_s", _TICK_S)
        return {name: pool.named(name, tick_s) for name, pool in pools.items()}
