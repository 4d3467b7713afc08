"""What a pool remembers of itself between ticks, in parts: each bounded, each JSON."""

from collections.abc import Mapping
from dataclasses import field

from tidegate.core.value import value

__all__ = [
    "ClassMemory",
    "Contest",
    "HealthMemory",
    "Marks",
    "MovedIn",
    "Presence",
    "Proof",
    "Silence",
    "SilentWork",
    "Skew",
]


Marks = tuple[tuple[float, float], ...]
"""(the end of a minute, the send time before which nothing that waited then was sent), both rising."""

Silence = tuple[tuple[float, int], ...]
"""(since when, how many more) workers run and are not heard of, oldest first."""


@value
class Contest:
    """Changes of the desired count by others lately, and until when tidegate leaves it to them.

    `pause_s` is how long it would yield next time.
    """

    changes_s: tuple[float, ...] = ()
    until_s: float | None = None
    pause_s: float = 600.0


@value
class Presence:
    """Workers that take work; and while some that were asked for are missing, since when none has come.

    `most` is the most that were there since then.
    """

    there: int = 0
    most: int = 0
    missing_since_s: float | None = None


@value
class Proof:
    """What some have done of what was due if they did as others do: decayed sums."""

    due: float = 0.0
    done: float = 0.0


@value
class SilentWork:
    """What workers that do not report have done: messages deleted, slot-seconds in which messages were in flight."""

    deleted: Proof = field(default_factory=Proof)
    held: Proof = field(default_factory=Proof)
    completed_per_s: float | None = None
    """By those that report, as late as deletions are known."""


@value
class Skew:
    """The time of the fleet's newest report by its own clock, when reports were last looked at, and by how much that
    clock is behind ours."""

    newest_s: float = 0.0
    looked_s: float | None = None
    behind_s: float = 0.0


@value
class MovedIn:
    """From when on arrivals may have been moved here, and when the first that surely were came (None: none yet)."""

    since_s: float
    came_at_s: float | None = None


@value
class ClassMemory:
    """Decayed sums of one job class: starts for its share, handler runs for its service time."""

    starts: float = 0.0
    runs: float = 0.0
    sum_s: float = 0.0
    square_sum_s2: float = 0.0


@value
class HealthMemory:
    """What the health block is made of.

    `changes` are (at_s, change of the count) of the last hour, the latest `health.CHANGES_KEPT` of them. `pinned` is
    the share of time at the ceiling, averaged over about an hour. `time_at_s` are seconds spent at each count (a key of
    JSON, hence a text), fading over about three days, for the `health.COUNTS_KEPT` most frequent counts.
    """

    changes: tuple[tuple[float, int], ...] = ()
    pinned: float = 0.0
    time_at_s: Mapping[str, float] = field(default_factory=dict)
    watched_s: float = 0.0
