"""Workers that run and do not report: do they work at all? Told by what no reporting worker can have done.

What is deleted a second, as CloudWatch counts it, beyond what those that report have completed, was done by others. Do
those hardly do anything of what these do, worker for worker, then they hang: an image that never comes to its first
receive call looks as healthy to the platform as any. Such workers are no capacity. Reckoned with like the others, they
would make the work seem more with each one that is added, until the pool is at its maximum.

Where deletions are too few or not known, messages in flight beyond those that reporting workers hold tell the same,
less surely: the count is approximate, and messages that back off are in it.
"""

import math
from typing import Final

from tidegate.core.memory import Proof, SilentWork
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["learn_silent_work", "nothing_done", "said_of_hanging"]

MEMORY_S: Final = 600.0

DELETIONS_LATE_S: Final = 120.0
"""The middle of a minute, its end, and a minute or two until it is published. What the others complete is held against
them as late, else each step out would look as if they alone had done it."""

NOTHING: Final = 0.25
"""Of what as many others do. What chance and a lag make of it is less."""

ENOUGH_DELETED: Final = 20.0
"""Messages. Who works as others do has by chance done so little of so many once in ten thousand times (Poisson)."""

ENOUGH_HELD_S: Final = 300.0
"""Slot-seconds: half of the memory with one slot in use."""

FREE_AT_MOST: Final = 0.1
"""Of the slots: between two jobs one is free for a moment."""

COMPARED_FROM: Final = 0.5
"""Silent workers ÷ reporting ones: of fewer, what is in flight is within the error of its count."""


def learn_silent_work(
    known: SilentWork,
    fleet: FleetSignals | None,
    silent: int,
    waiting: float,
    in_flight: float,
    deleted_per_s: float | None,
) -> SilentWork:
    """With what `silent` workers that should have begun by now have done since reports were last read, and should have.

    Only while messages wait and hardly any slot is free: then whoever works has work, however eagerly others poll.
    Forgotten when no worker is silent. While no report can be read nothing is learned.
    """
    if not silent:
        return SilentWork()
    if fleet is None or fleet.since_s <= 0:
        return known
    heard, passed_s = fleet.workers - fleet.unheard, fleet.since_s
    share, fade = heard / fleet.workers, math.exp(-passed_s / MEMORY_S)
    completed_per_s = _late(known.completed_per_s, fleet.departures * share / passed_s, passed_s)
    if not waiting or fleet.free > FREE_AT_MOST * fleet.slots:
        return SilentWork(known.deleted, known.held, completed_per_s)
    deleted, held = _faded(known.deleted, fade), _faded(known.held, fade)
    if deleted_per_s is not None:
        due_per_s = completed_per_s * silent / heard
        deleted = _added(deleted, due_per_s * passed_s, (deleted_per_s - completed_per_s) * passed_s)
    if silent >= COMPARED_FROM * heard:
        busy = fleet.busy * share
        held = _added(held, busy * silent / heard * passed_s, (in_flight - busy) * passed_s)
    return SilentWork(deleted, held, completed_per_s)


def _late(known: float | None, now: float, passed_s: float) -> float:
    """A rate as it was, on average, so long ago."""
    return now if known is None else now + (known - now) * math.exp(-passed_s / DELETIONS_LATE_S)


def _faded(known: Proof, fade: float) -> Proof:
    return Proof(known.due * fade, known.done * fade)


def _added(known: Proof, due: float, done: float) -> Proof:
    return Proof(known.due + due, known.done + done)


def nothing_done(work: SilentWork) -> bool:
    """Whether it is proven that those that do not report do not work either.

    >>> nothing_done(SilentWork(deleted=Proof(due=100.0, done=5.0))), nothing_done(SilentWork(deleted=Proof(5.0, 0.0)))
    (True, False)
    """
    proof, enough = work.deleted, ENOUGH_DELETED
    if proof.due < enough:
        proof, enough = work.held, ENOUGH_HELD_S
    return proof.due >= enough and proof.done < NOTHING * proof.due


def said_of_hanging(hanging: int, heard: int, running: int) -> str:
    """What is said of them; nothing where there are none."""
    if not hanging:
        return ""
    return (
        f"{heard} of {running} running workers report, and hardly any message is handled but by these: {hanging} that "
        "run hang, and count for nothing. Look at their log, and let a health check end what hangs (tidegate health)"
    )
