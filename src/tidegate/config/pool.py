"""One pool's settings. Each field says its effect; `schema` and `reference` make everything else of it.

Attributes carry their unit (`target_wait_s`), the settings' names in the file do not (`target_wait = "30s"`).
What settings mean together is checked by `checks`, so that one wrong field never hides another fault.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

from tidegate.config.finish_by import seconds_left
from tidegate.config.setting import SettingsTable, setting
from tidegate.config.tables import (
    AlarmName,
    ApiSettings,
    DatabaseSettings,
    EcsService,
    FinishBy,
    Group,
    Hints,
    Lease,
    OneOrMore,
    OnOff,
    Queue,
    Ramp,
    Share,
    Time,
    TimeOrZero,
    Window,
    WorkerBox,
    Workers,
)
from tidegate.config.values import Chance, NotEmpty
from tidegate.core.model import Pool

__all__ = ["TICK_S", "PoolSettings"]

TICK_S = 10.0
"""How often the controller looks, where the settings do not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings(SettingsTable):
    """One pool: workers of one kind, their queue or queues, and how long a message may wait."""

    queue: Queue | None = setting(
        None,
        description="The queue that the workers serve: URL, ARN or name. Either this or `queues`.",
        examples=["orders"],
    )
    queues: Annotated[tuple[Queue, ...], NotEmpty()] | None = setting(
        None,
        description="Several queues that the same workers serve: URLs, ARNs or names.",
        examples=[["orders", "returns"]],
    )
    target_wait_s: Time | None = setting(
        None,
        name="target_wait",
        description="The objective: no message should wait longer than this before a worker starts it. Either this or "
        "`finish_by`.",
        examples=["30s"],
    )
    finish_by: FinishBy | None = setting(
        None,
        description="The objective of a bulk pool: empty by this time of day, each day, with the fewest workers.",
        examples=["06:00 Europe/Berlin"],
    )
    fair_queue: OnOff = setting(
        False,
        description="Read the metrics of quiet groups (a standard queue whose messages carry a group), so that noisy "
        "groups can't bring the pool further than `noisy_share`.",
    )
    noisy_share: Share = setting(
        0.25,
        description="Of `max_workers`, what noisy groups of a fair queue may add to what the quiet groups need.",
    )
    contested: Literal["yield", "insist"] = setting(
        "yield",
        description='When somebody else keeps setting the desired count. "yield": leave it to them for ten minutes, '
        'then for twice as long, and so on. "insist": set it again each time.',
        examples=["insist"],
    )
    ecs: EcsService | None = setting(None, description="The ECS service to scale. Either this or `asg`.")
    asg: Group | None = setting(
        None, description="Name of the Auto Scaling group to scale. Either this or `ecs`.", examples=["orders-workers"]
    )
    min_workers: Workers = setting(
        1, description="Never fewer workers than this. With 0, the first message waits for a worker to start."
    )
    max_workers: OneOrMore = setting(
        description="Never more workers than this: the limit of what is spent.", examples=[50]
    )
    slots_per_worker: OneOrMore = setting(
        1, description="How many messages one worker handles at a time; the workers' own `slots` must be the same."
    )
    policy: Literal["littles-law", "wait"] = setting(
        "wait",
        description='How the workers needed are found. "wait": hold the target for the least money, by measured waits, '
        'surges and start-ups. "littles-law": the plain formula, which a share as `utilization` also asks for.',
        examples=["littles-law"],
    )
    economy: Literal["lean", "prompt"] = setting(
        "lean",
        description='Of policy "wait". "lean": where the target allows it, a backlog stands on purpose, and waits are '
        'a good part of `target_wait`. "prompt": none stands; shorter waits at a price.',
        examples=["prompt"],
    )
    utilization: Chance = setting(
        None,
        description='Share of the slots to keep busy when steady; "auto" finds the fewest slots that keep the target.',
    )
    drain_target_s: Time | None = setting(
        None,
        name="drain_target",
        description="How fast a backlog is worked off. Left out: in the time left until `target_wait`.",
        examples=["5m"],
    )
    ramp: Ramp = setting(
        Ramp(),
        description="Most workers added in a tick, or 10 s of a longer one: the larger of a percentage and a count.",
    )
    hold_s: TimeOrZero | None = setting(
        None,
        name="hold",
        description="How long fewer workers must have been enough before any is taken away. Left out: what would "
        "have been cheapest of late, up to what a new worker takes to start.",
        examples=["2m"],
    )
    max_slots: OneOrMore | None = setting(
        None,
        description="Most slots in all workers together, for a bottleneck known by count (connections, licences).",
        examples=[200],
    )
    database: DatabaseSettings | None = setting(
        None, description="Never more slots than the database has connections for.", examples=[{"connections": 100}]
    )
    api: ApiSettings | None = setting(
        None,
        description="Never more slots than stay within an API's rate: rate × service time ÷ calls, with the service "
        "time from before the API got slow.",
        examples=[{"calls_per_second": 100}],
    )
    message_groups: OneOrMore | None = setting(
        None,
        description="FIFO queues: how many message groups are active at a time. More slots than groups find no work.",
        examples=[20],
    )
    downstream_guard: OnOff = setting(
        True,
        description="Add no workers while what handlers call fails, is slow, or completes no more for more workers.",
        examples=[False],
    )
    hold_on_alarms: tuple[AlarmName, ...] = setting(
        (),
        description="CloudWatch alarms, by name or ARN: while one of them is in ALARM no workers are added.",
        examples=[["payments-5xx"]],
    )
    step_back: OnOff = setting(
        True,
        description="After a step out that completed no more and made handlers slower: go back to the last count that "
        "was better. Off: only add none.",
        examples=[False],
    )
    worker: WorkerBox | None = setting(
        None,
        description="What one worker has and what a job takes, to check `slots_per_worker` against.",
        examples=[{"cpus": 2, "cpu_per_job": 0.2}],
    )
    service_time_hint_s: Time | None = setting(
        None,
        name="service_time_hint",
        description="How long a handler runs, used until workers have measured it; "
        "without the SDK, while CloudWatch does not contradict it by more than a quarter.",
        examples=["800ms"],
    )
    class_hints_s: Hints = setting(
        {},
        name="service_time_hints",
        description="How long a handler runs for messages of each job class, used only until workers have measured it.",
        examples=[{"mail": "500ms", "export": "10m"}],
    )
    start_up_hint_s: TimeOrZero | None = setting(
        None,
        name="start_up_hint",
        description="From raising the desired count to a worker's first receive, used only until it has been measured. "
        "Where no worker reports, what the platform's running count shows is measured, and the longer one believed. "
        "Left out: a minute.",
        examples=["45s"],
    )
    stop_timeout_s: TimeOrZero = setting(
        30.0,
        name="stop_timeout",
        description="How long the platform lets a worker finish after SIGTERM (ECS: the container's stopTimeout).",
    )
    visibility_timeout_s: Lease | None = setting(
        None,
        name="visibility_timeout",
        description="The queues' visibility timeout, for checking `lease_heartbeat` without asking AWS.",
        examples=["60s"],
    )
    lease_heartbeat_s: Time | None = setting(
        None,
        name="lease_heartbeat",
        description="How often workers without the SDK extend leases; only checked, at the start with the queues' own.",
        examples=["20s"],
    )
    schedule: tuple[Window, ...] = setting(
        (), description="Other minimums and maximums at certain times, one table each."
    )

    name: str = ""
    """Its table's in the file."""
    tick_s: float = TICK_S
    """What the file says for all pools."""

    @property
    def all_queues(self) -> tuple[str, ...]:
        """The pool's queues, whether written as `queue` or as `queues`."""
        return (() if self.queue is None else (self.queue,)) + (self.queues or ())

    def named(self, name: str, tick_s: float) -> Self:
        """A copy that knows its name and what the file says for all pools."""
        return replace(self, name=name, tick_s=tick_s)

    def at(self, now_s: float) -> Pool:
        """The pool as a decision needs it at `now_s` (seconds since the epoch): the schedule has been applied."""
        least, most, source = self.limits_at(now_s)
        left_s = None if self.finish_by is None else seconds_left(self.finish_by, now_s)
        target_s = self.target_wait_s if self.target_wait_s is not None else (left_s or 0.0)
        return Pool(
            name=self.name,
            target_wait_s=target_s,
            finish_in_s=left_s,
            noisy_share=self.noisy_share,
            contested=self.contested,
            class_hints_s=self.class_hints_s,
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
            tick_s=self.tick_s,
            stop_timeout_s=self.stop_timeout_s,
            service_time_hint_s=self.service_time_hint_s,
            start_up_hint_s=self.start_up_hint_s,
            max_slots=self.max_slots,
            limits_from=source,
            database=None if self.database is None else self.database.bottleneck,
            api=None if self.api is None else self.api.bottleneck,
            message_groups=self.message_groups,
            downstream_guard=self.downstream_guard,
            hold_on_alarms=self.hold_on_alarms,
            step_back=self.step_back,
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
