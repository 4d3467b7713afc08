"""The settings of all pools together; those of each pool are in `pool`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from tidegate.config.pool import TICK_S, PoolSettings
from tidegate.config.setting import SettingsTable, setting
from tidegate.config.tables import Interval, Megabytes, Namespace, Path, Region, Table, Ticks
from tidegate.config.values import NotEmpty
from tidegate.core.notation.arns import parse_arn

__all__ = ["Settings"]

_EXAMPLE = {
    "queue": "orders",
    "target_wait": "30s",
    "ecs": {"cluster": "prod", "service": "orders"},
    "max_workers": 50,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(SettingsTable):
    """Everything that the controller is told: common settings and one table per pool."""

    tick_s: Interval = setting(
        TICK_S, name="tick", description="How often the controller looks at each pool and decides."
    )
    table: Table | None = setting(
        None,
        description="Name or ARN of the DynamoDB table of states and heartbeats. Without it or `state_dir`: in memory.",
        examples=["tidegate"],
    )
    state_dir: Path | None = setting(
        None,
        description="Directory of pool states and workers' heartbeats, when everything runs on one machine.",
        examples=["/var/lib/tidegate"],
    )
    region: Region | None = setting(
        None, description="AWS Region. Left out: where the AWS SDK finds it by itself.", examples=["eu-central-1"]
    )
    record: Path | None = setting(
        None,
        description="File that every decision is recorded in with all that it was made from, for `tidegate replay`. "
        "Each controller needs its own.",
        examples=["/var/lib/tidegate/decisions.jsonl"],
    )
    record_megabytes: Megabytes = setting(
        100, description="The most megabytes that recordings take; the older half goes when the newer one is full."
    )
    health_file: Path | None = setting(
        None,
        description="File that `run` writes at each tick for `tidegate health`, a container's health check.",
        examples=["/run/tidegate/health.json"],
    )
    publish: Literal["off", "log", "cloudwatch"] = setting(
        "off",
        description='Where metrics for alarms and dashboards go. "cloudwatch": PutMetricData, once a minute. "log": '
        "lines of CloudWatch's embedded metric format in the log of `run` and of the Lambda, for where CloudWatch Logs "
        "reads that log. Each pool's metrics are billed as custom metrics.",
        examples=["log"],
    )
    namespace: Namespace = setting("tidegate", description="CloudWatch namespace of the metrics that `publish` writes.")
    ticks_per_invocation: Ticks = setting(
        1,
        description="Of the Lambda only: ticks made in one invocation, `tick` apart, as far as its time-out allows. A "
        "schedule calls it once a minute at most.",
    )
    pools: Annotated[Mapping[str, PoolSettings], NotEmpty()] = setting(
        description="The pools, each under its name.", examples=[{"orders": _EXAMPLE}]
    )

    def __post_init__(self) -> None:
        pools = {name: pool.named(name, self.tick_s) for name, pool in self.pools.items()}
        object.__setattr__(self, "pools", pools)  # frozen, and not yet handed out

    @property
    def account(self) -> str | None:
        """The controller's own account, as the ARN of a service or cluster says, else the table's; None: none does.

        Services are in the controller's own account, as their calls take no other; a table may be shared by another.
        """
        capacity = [name for pool in self.pools.values() if pool.ecs for name in (pool.ecs.service, pool.ecs.cluster)]
        arns = map(parse_arn, [*capacity, self.table or ""])
        return next((arn.account for arn in arns if arn), None)
