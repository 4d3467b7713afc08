"""The settings of all pools together, as frozen models; those of each pool are in `pool`.

These are plain pydantic models: the models of pydantic-settings stop at the first unreadable source, forget which
source a value came from, and take keys such as `_env_file` in the file itself as orders to read something else.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from tidegate.config.pool import TICK_S, PoolSettings
from tidegate.config.tables import Interval, Megabytes, Namespace, Region, SettingsTable, Table, Ticks
from tidegate.config.values import Text

__all__ = ["Settings"]

_EXAMPLE = {
    "queue": "orders",
    "target_wait": "30s",
    "ecs": {"cluster": "prod", "service": "orders"},
    "max_workers": 50,
}


class Settings(SettingsTable):
    """Everything that the controller is told: common settings and one table per pool."""

    tick_s: Interval = Field(
        TICK_S, alias="tick", description="How often the controller looks at each pool and decides."
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
        tick_s = info.data.get("tick_s", TICK_S)
        return {name: pool.named(name, tick_s) for name, pool in pools.items()}
