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

from tidegate.core.fleet import FleetSignals
from tidegate.core.memory import Proof, SilentWork

__all__ = ["learn_silent_work", "nothing_done", "said_of_hanging"]

MEMORY_S: Final = 600.0
"""Deletions are known two minutes late: over ten, that is no matter."""

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
    if fleet is None or not waiting or fleet.free > FREE_AT_MOST * fleet.slots:
        return known
    heard, passed_s = fleet.workers - fleet.unheard, fleet.since_s
    share, fade = heard / fleet.workers, math.exp(-passed_s / MEMORY_S)
    deleted, held = _faded(known.deleted, fade), _faded(known.held, fade)
    if deleted_per_s is not None:
        completed = fleet.departures * share
        deleted = _added(deleted, completed * silent / heard, deleted_per_s * passed_s - completed)
    if silent >= COMPARED_FROM * heard:
        busy = fleet.busy * share
        held = _added(held, busy * silent / heard * passed_s, (in_flight - busy) * passed_s)
    return SilentWork(deleted, held)


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
