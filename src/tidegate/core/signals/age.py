"""Whether the oldest message's age speaks of a wait, or of a message that came back, was hidden, or was moved here.

A message that has waited all along can't be older than the oldest one that was seen before. Whoever is older was not
there to be taken: it is retried (a poison head), was hidden by its timeout, or came from a dead-letter queue, where an
age of days is no delay of ours. Such an age says nothing about workers, so it sizes nothing and takes no lean away.
"""

import math

from tidegate.core.bounds import at_least
from tidegate.core.memory import Marks
from tidegate.core.observation import Reading
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.value import value

__all__ = ["HeadAge", "judge_age", "marked"]

MINUTE_S = 60.0
MARKS_KEPT = 6
"""A reading is three minutes old at most, and is compared with what was known a minute before."""

SLACK_S = 30.0
"""The metric is a minute's maximum: two readings of one message may differ by a part of that."""

COUNTS_LAG_S = 60.0
"""What is idle now shows that nothing waits that was sent before the counts' lag ("a minute or more to converge",
API_GetQueueAttributes)."""

IDLE_SHARE = 0.1
"""Between two jobs any slot is idle for a moment."""


@value
class HeadAge:
    """The age in seconds and the time it speaks of, when it is a wait; else None and what was made of it."""

    value_s: float | None = None
    at_s: float | None = None
    note: str = ""


def judge_age(reading: Reading | None, marks: Marks) -> HeadAge:
    """Compared with what was known before the reading's own minute began.

    >>> judge_age(Reading(100.0, 1080.0), marks=((1020.0, 970.0),)).value_s
    100.0
    >>> judge_age(Reading(86_400.0, 1080.0), marks=((1020.0, 970.0),))
    HeadAge(value_s=None, at_s=None, note='an oldest message of 86400 s is left aside: it was not waiting all that \
time, but retried, hidden or moved here')
    """
    if reading is None or reading.value is None:
        return HeadAge()
    before_s = reading.taken_at_s - MINUTE_S
    known_s = [sent_s for at_s, sent_s in marks if at_s <= before_s]  # both rise
    if known_s and reading.taken_at_s - reading.value < known_s[-1] - SLACK_S:
        return HeadAge(
            note=f"an oldest message of {reading.value:.0f} s is left aside: "
            "it was not waiting all that time, but retried, hidden or moved here"
        )
    return HeadAge(reading.value, reading.taken_at_s)


def marked(
    marks: Marks,
    reading: Reading | None,
    fleet: FleetSignals | None,
    in_hand: tuple[float, float] | None,
    now_s: float,
) -> Marks:
    """What the latest minutes show as the oldest that could wait: it only moves on.

    A fresh age of all queues, for its minute; and where slots stand idle with nothing left to take, all that was sent
    up to the counts' lag ago. Without reports an empty queue with nothing in flight says the same. `in_hand` is what
    waits and what is in flight, None when that is not known.
    """
    if reading is not None and reading.value is not None:
        marks = _with(marks, reading.taken_at_s, reading.taken_at_s - reading.value)
    if in_hand is not None and _nothing_left(fleet, *in_hand):
        marks = _with(marks, math.ceil(now_s / MINUTE_S) * MINUTE_S, now_s - COUNTS_LAG_S)
    return marks


def _with(marks: Marks, at_s: float, sent_s: float) -> Marks:
    """Later marks know it too; the oldest one beyond those that are kept goes."""
    if marks and at_s > marks[-1][0]:
        return (*marks, (at_s, max(sent_s, marks[-1][1])))[-MARKS_KEPT:]
    for at, sent in marks:
        if at == at_s and sent >= sent_s:  # a minute's metric is read six times
            return marks
    earlier = [mark for mark in marks if mark[0] < at_s]
    here = max(sent_s, earlier[-1][1] if earlier else sent_s)
    later = [(at, max(sent, here)) for at, sent in marks if at > at_s]
    return (*earlier, (at_s, here), *later)[-MARKS_KEPT:]


def _nothing_left(fleet: FleetSignals | None, waiting: float, in_flight: float) -> bool:
    if fleet is None:
        return waiting + in_flight <= 0
    idle = fleet.free
    return idle >= at_least(IDLE_SHARE * fleet.slots, 1.0) and waiting <= idle
