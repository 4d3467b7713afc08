"""Whether the oldest message's age speaks of a wait, or of a message that came back, was hidden, or was moved here.

A message that has waited all along can't be older than the oldest one that was seen before. Whoever is older was not
there to be taken: it is retried (a poison head), was hidden by its timeout, or came from a dead-letter queue, where an
age of days is no delay of ours. Such an age says nothing about workers, so it sizes nothing and takes no lean away.
"""

from dataclasses import dataclass

from tidegate.core.fleet import FleetSignals
from tidegate.core.observation import Reading

__all__ = ["HeadAge", "frontier_s", "judge_age"]

SLACK_S = 30.0
"""The metric is a minute's maximum: two readings of one message may differ by a part of that."""

COUNTS_LAG_S = 60.0
"""What is idle now shows that nothing waits that was sent before the counts' lag ("a minute or more to converge",
API_GetQueueAttributes)."""


@dataclass(frozen=True, slots=True)
class HeadAge:
    """The age in seconds and the time it speaks of, when it is a wait; else None and what was made of it."""

    value_s: float | None = None
    at_s: float | None = None
    note: str = ""


def judge_age(reading: Reading | None, frontier: float | None) -> HeadAge:
    """`frontier` is the send time before which nothing waits (see `frontier_s`); None: not known yet.

    >>> judge_age(Reading(40.0, 1000.0), frontier=970.0).value_s
    40.0
    >>> judge_age(Reading(86_400.0, 1000.0), frontier=970.0)
    HeadAge(value_s=None, at_s=None, note='an oldest message of 86400 s is left aside: it was not waiting all that \
time, but retried, hidden or moved here')
    """
    if reading is None or reading.value is None:
        return HeadAge()
    if frontier is not None and reading.taken_at_s - reading.value < frontier - SLACK_S:
        return HeadAge(
            note=f"an oldest message of {reading.value:.0f} s is left aside: "
            "it was not waiting all that time, but retried, hidden or moved here"
        )
    return HeadAge(reading.value, reading.taken_at_s)


def frontier_s(
    known: float | None,
    reading: Reading | None,
    fleet: FleetSignals | None,
    in_hand: tuple[float, float] | None,
    now_s: float,
) -> float | None:
    """The send time before which no message can still wait for its first start: it only moves on.

    What a fresh age of all queues shows as the oldest; and where slots stand idle with nothing left to take, all that
    was sent up to the counts' lag ago. Without reports an empty queue with nothing in flight says the same. `in_hand`
    is what waits and what is in flight, None when that is not known.
    """
    marks = [] if known is None else [known]
    if reading is not None and reading.value is not None:
        marks.append(reading.taken_at_s - reading.value)
    if in_hand is not None and _nothing_left(fleet, *in_hand):
        marks.append(now_s - COUNTS_LAG_S)
    return max(marks, default=None)


def _nothing_left(fleet: FleetSignals | None, waiting: float, in_flight: float) -> bool:
    if fleet is None:
        return waiting + in_flight <= 0
    return fleet.busy < fleet.slots and waiting <= fleet.slots - fleet.busy
