"""A pool's settings and its memory. All frozen; seconds and messages unless a name says more."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from tidegate.core.bottlenecks import ApiRate, Database
from tidegate.core.condition import Pressure
from tidegate.core.directive import Directive
from tidegate.core.downstream.state import GuardMemory
from tidegate.core.memory import ClassMemory, Contest, HealthMemory, Marks, MovedIn, Presence, Silence, SilentWork, Skew
from tidegate.core.stored.schema import SCHEMA
from tidegate.core.value import value

__all__ = [
    "RAMP_S",
    "Balance",
    "Holding",
    "KnownWorker",
    "Looseness",
    "Outlook",
    "Override",
    "OverrideKind",
    "Pool",
    "PoolState",
    "Retired",
    "Sample",
    "ServiceTime",
]

RAMP_S: Final = 10.0
"""What a step out adds at most (`ramp_share`, `ramp_workers`) is meant for a tick of so long. Of a longer one, a dump
would else find the first step alone for as long as it lasts: a schedule that calls once a minute gave a minute away."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool's settings as they hold at one tick (a schedule has already been applied to min and max).

    `utilization` None means automatic: the smallest number of slots that keeps the chance of waiting longer
    than the target below the share allowed. `drain_target_s` None means: the time left until the target.
    `max_slots` is the explicit ceiling, for a bottleneck known by count (licences, for example); `database`, `api` and
    `message_groups` (FIFO: how many are active at a time) are bottlenecks by their own figures.
    `finish_in_s` is what is left until the time of day by which a bulk pool is to be empty; None: a wait is held.
    `noisy_share` of the maximum is what noisy groups of a fair queue may add to what the quiet ones need. `contested`
    "insist" goes on setting a desired count that somebody else keeps setting too.
    `policy` "wait" holds the target for the least money; "littles-law" is the plain reading, which a fixed
    `utilization` also asks for. `economy` "prompt" carries no standing wait, however long the target. `hold_s` None
    learns for how long (`core.estimation.holding`).
    """

    name: str
    target_wait_s: float
    min_workers: int
    max_workers: int
    slots_per_worker: int = 1
    policy: Literal["littles-law", "wait"] = "wait"
    economy: Literal["lean", "prompt"] = "lean"
    utilization: float | None = None
    drain_target_s: float | None = None
    ramp_share: float = 4.0
    ramp_workers: int = 20
    hold_s: float | None = None
    tick_s: float = 10.0
    stop_timeout_s: float = 30.0
    service_time_hint_s: float | None = None
    start_up_hint_s: float | None = None
    max_slots: int | None = None
    limits_from: str = "settings"
    database: Database | None = None
    api: ApiRate | None = None
    message_groups: int | None = None
    class_hints_s: Mapping[str, float] = field(default_factory=dict)
    finish_in_s: float | None = None
    noisy_share: float = 0.25
    contested: Literal["yield", "insist"] = "yield"
    downstream_guard: bool = True
    hold_on_alarms: tuple[str, ...] = ()
    step_back: bool = True

    @property
    def plain(self) -> bool:
        """Sized by the plain formula, on the counts as they are: by setting, or because a utilization is given."""
        return self.policy == "littles-law" or self.utilization is not None


class OverrideKind(StrEnum):
    """An operator's hand on a pool."""

    FREEZE = "freeze"
    PIN = "pin"


@dataclass(frozen=True, slots=True)
class Override:
    """Set by `tidegate freeze` or `tidegate pin`; `until_s` None holds until `tidegate resume`."""

    kind: OverrideKind
    who: str
    since_s: float
    until_s: float | None = None
    workers: int | None = None


class Sample(NamedTuple):
    """At one tick: cumulative arrivals as reckoned from counts, what waited, and what was visible or in flight.

    A delayed message arrives when it comes due, not when it is sent. A tuple: sixty of them are read at each tick and
    stored with each state, and JSON arrays take a third of the room that objects do.
    """

    at_s: float
    arrived: float
    waiting: float
    in_hand: float
    counted: float = 0.0
    """As the queue said it; `waiting` is what was believed of it."""


@value
class KnownWorker:
    """What has been counted of one worker: its handler runs so far, and whether its start-up was timed."""

    starts: int
    completions: int
    failures: int
    timed: bool
    leases_lost: int = 0


@value
class ServiceTime:
    """Decayed sums over handler runs: mean = sum_s / runs, and the second moment for the spread."""

    runs: float
    sum_s: float
    square_sum_s2: float


@dataclass(frozen=True, slots=True)
class Retired:
    """A worker that was told to take no more work, since when.

    `left_at_s`: the desired count was lowered for it then. `renewal`: it is of an older revision, for the platform to
    replace, and the count stays. `deaf`: it has taken work all the same for so long that it can't have heard.
    `silent_since_s`: nothing has been heard of it since then, and the platform runs more workers than report.
    """

    worker_id: str
    since_s: float
    left_at_s: float | None = None
    renewal: bool = False
    deaf: bool = False
    silent_since_s: float | None = None


@value
class Balance:
    """Decayed sums of what workers prove: slots busy, starts, ends; waits and messages counted."""

    busy_s: float = 0.0
    starts: float = 0.0
    ends: float = 0.0
    seen_s: float = 0.0
    """How long slots, starts and ends have been counted."""
    waited_s: float = 0.0
    counted_s: float = 0.0
    span_s: float = 0.0
    """How long there was a backlog to compare."""
    ran_s: float = 0.0
    """What the runs that ended took, as workers told it."""
    lately_busy_s: float = 0.0
    lately_starts: float = 0.0
    lately_ends: float = 0.0
    """Slots, starts and ends once more, of the last minute."""


@value
class Outlook:
    """Decayed sums over blind windows and the ones after them, in √rate (`core.estimation.outlook`)."""

    windows: float = 0.0
    then: float = 0.0
    now: float = 0.0
    then_square: float = 0.0
    then_now: float = 0.0
    now_square: float = 0.0
    missed: float = 0.0
    """By how much the next window's was missed, either way."""
    high: float = 2.0
    """The 95 % quantile of that, above, in mean misses: learned."""


@value
class Holding:
    """What shorter and longer hold times would have cost (`estimation.holding`), one entry for each of its shares."""

    kept: tuple[int, ...] = ()
    """The workers that each would have now."""
    bills: tuple[float, ...] = ()
    """Decayed worker-seconds: kept, and started again."""


@value
class Looseness:
    """Starts of messages that had waited, decayed; and of those as many as show how far their waits differed."""

    starts: float = 0.0
    spread: float = 0.0


@dataclass(frozen=True)  # no slots: it is copied with `changed`
class PoolState:
    """What a pool remembers between ticks. JSON-serialisable: it lives in DynamoDB between Lambda runs."""

    samples: tuple[Sample, ...] = ()
    """The last minutes of arrivals, oldest first."""
    needs: tuple[tuple[float, int], ...] = ()
    """(at_s, workers needed) of the last half-hour that no later need reaches: falling, oldest first."""
    lows: tuple[tuple[float, int], ...] = ()
    """(at_s, workers needed) of the last half-hour that no later need undercuts: rising, oldest first."""
    holding: Holding = field(default_factory=Holding)
    """What keeping workers for longer or shorter would have cost."""
    watched_since_s: float | None = None
    """Needs have been reckoned without a gap since then."""
    ticked_at_s: float | None = None
    service_time: ServiceTime | None = None
    latest: ServiceTime | None = None
    """The same of the last minute, or of the last runs where it has few."""
    quick_s: float | None = None
    """The service time while nothing that handlers call is slow: follows the mean down at once, and up by the hour."""
    start_ups_s: tuple[float, ...] = ()
    """The latest start-up times measured, from the raise to the first receive call."""
    raises: tuple[tuple[float, int], ...] = ()
    """(at_s, workers) of each raise of the desired count whose workers have not all been seen yet."""
    known_workers: Mapping[str, KnownWorker] = field(default_factory=dict)
    """The reporting workers, by a short digest of their ids."""
    reports_read_at_s: float | None = None
    """When the reports could last be read: what is new in the next ones was done since then (None: since the tick)."""
    unsampled: float = 0
    """Handler runs begun that no sample has taken in yet, because counts could not be read."""
    delayed: float = 0
    """Messages that were not due yet when counts could last be read."""
    reported_at_s: float | None = None
    """When a worker of this pool was last heard of: a pool that uses the SDK is not idle when it falls silent."""
    lean: float = 0.0
    """How much of the standing wait has been earned by measured waits, from none (0) to all of it (1)."""
    surge: float = 0.4
    """How far √rate rises over the blind window, ÷ √rate: the 95 % quantile, learned. At first a doubling."""
    outlook: Outlook = field(default_factory=Outlook)
    guard: GuardMemory = field(default_factory=GuardMemory)
    pressure: Pressure | None = None
    """Messages are late and no more workers may be had."""
    count_error: float = 0.15
    """The counts' relative error, learned (one standard deviation)."""
    balance: Balance = field(default_factory=Balance)
    looseness: Looseness = field(default_factory=Looseness)
    margin: float = 0.0
    """Added to the need, as a share of it, for waits that were late."""
    override: Override | None = None
    desired: int | None = None
    """What tidegate last asked for; another value found later means somebody else set it."""
    replaced: tuple[tuple[float, int], ...] = ()
    """(at_s, the count that was there) of the last minute's changes of ours: a platform may show these for a while."""
    oldest_sent: Marks = ()
    """What could be the oldest message that waits, by the minute (`core.signals.age`)."""
    moved_in: MovedIn | None = None
    """Set while the oldest message is older than could be: retried, hidden, or moved here."""
    contest: Contest = field(default_factory=Contest)
    """Others who set the desired count."""
    presence: Presence = field(default_factory=Presence)
    """Workers that take work, and those that do not come."""
    silence: Silence = ()
    """Workers that run and are not heard of."""
    silent_work: SilentWork = field(default_factory=SilentWork)
    """What these do."""
    mixed_at_s: float | None = None
    """When workers of this pool last ran that do not report, beside others that do."""
    skew: Skew = field(default_factory=Skew)
    """How far the workers' clock is from ours."""
    idle_since_s: float | None = None
    """Since when slots stand idle while messages wait."""
    classes: Mapping[str, ClassMemory] = field(default_factory=dict)
    health: HealthMemory = field(default_factory=HealthMemory)
    retired: tuple[Retired, ...] = ()
    """The workers that take no more work, oldest first."""
    directive: Directive = field(default_factory=Directive)
    """What the pool's workers are told."""
    slots_per_worker: int | None = None
    """As the workers last reported it."""
    fleet_slots: int | None = None
    """The limit on handlers that the workers keep among themselves, as they last reported it."""
    schema: int = SCHEMA
