"""Which messages may run: the verdict on one that SQS hands out again, by evidence and not by its receive count. Pure.

Releases, deploys and back-offs raise a message's receive count as failures and crashes do. So the fleet keeps a note of
a message from the first receive that ended without a delete: the receive that ended last in an orderly way, and how
many were not the message's fault. A receive without such an end is *unexplained*: its worker may have died of it, or of
something else. The next run is then *alone*, with nothing else in flight in that worker, and noted before it begins. A
run alone that never ended is proof: nothing else can have been its worker's death. So one bad message costs two
workers: the first, unsuspecting, and the one that it ran in alone.
"""

from dataclasses import dataclass, replace
from enum import StrEnum, auto
from typing import Final

__all__ = ["NOTE_KEPT_S", "MessageNote", "Ruling", "Verdict", "alone_since", "ended_at", "may_have_crashed", "verdict"]

NOTE_KEPT_S: Final = 14 * 86_400.0
"""A note outlives its message: SQS keeps none for longer.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
"""

_CLOCKS_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class MessageNote:
    """What the fleet knows of a message; all zero when nothing was ever noted."""

    receive: int = 0
    """The last receive (by SQS's count) of which there is something to say."""
    alone: str = ""
    """The worker in which that receive began to run alone; empty once it has ended, and for all other receives."""
    spared: int = 0
    """Receives that count for nothing: released, turned away, put off by `Retry`."""


def alone_since(note: MessageNote, receive: int, worker_id: str) -> MessageNote:
    """This receive is about to run alone; unchanged when a newer one is noted."""
    return note if receive < note.receive else replace(note, receive=receive, alone=worker_id)


def ended_at(note: MessageNote, receive: int, *, spared: bool) -> MessageNote:
    """This receive has ended in an orderly way; unchanged when a newer one is noted.

    >>> ended_at(MessageNote(receive=2, alone="i-1"), 2, spared=True)
    MessageNote(receive=2, alone='', spared=1)
    """
    return note if receive < note.receive else MessageNote(receive, spared=note.spared + spared)


class Verdict(StrEnum):
    """What to do with a message that was received again."""

    RUN = auto()
    ALONE = auto()
    DEAD_LETTER = auto()


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict and its reason, for the log and for the dead letter."""

    verdict: Verdict
    reason: str = ""


def may_have_crashed(first_received_at_s: float, now_s: float, lease_s: float) -> bool:
    """False when too little time has passed since the first receive: a worker that dies keeps its lease to the end.

    Five seconds are for clocks that differ. Times of day, in seconds.

    >>> may_have_crashed(first_received_at_s=100.0, now_s=112.0, lease_s=30), may_have_crashed(100.0, 131.0, 30)
    (False, True)
    """
    return now_s - first_received_at_s >= lease_s - _CLOCKS_S


def verdict(receive_count: int, note: MessageNote, max_receives: int | None) -> Ruling:
    """On a message received for the `receive_count`th time; `max_receives` None: it may come back for ever.

    >>> verdict(3, MessageNote(receive=2, spared=1), max_receives=5).verdict
    <Verdict.RUN: 'run'>
    >>> verdict(3, MessageNote(receive=1), max_receives=5).reason
    'receive 2 never ended'
    >>> verdict(4, MessageNote(receive=3, alone="i-1"), max_receives=5).reason
    'it ran alone in worker i-1, which never came to its end: it kills workers'
    >>> verdict(8, MessageNote(receive=7, spared=2), max_receives=5).reason
    'handed out 7 times, 2 by no fault of its own, and never done (max_receives 5)'
    """
    if note.alone and note.receive < receive_count:
        reason = f"it ran alone in worker {note.alone}, which never came to its end: it kills workers"
        return Ruling(Verdict.DEAD_LETTER, reason)
    runs = receive_count - 1 - min(note.spared, receive_count - 1)
    if max_receives is not None and runs >= max_receives:
        spared = f", {note.spared} by no fault of its own," if note.spared else ""
        reason = f"handed out {receive_count - 1} times{spared} and never done (max_receives {max_receives})"
        return Ruling(Verdict.DEAD_LETTER, reason)
    if note.receive < receive_count - 1:
        return Ruling(Verdict.ALONE, f"receive {receive_count - 1} never ended")
    return Ruling(Verdict.RUN)
