"""The lease book: which messages this worker holds, until when, and which visibility change each needs next.

Pure: no clock and no call in here. Times are seconds of one steady clock.

An expiry is only ever moved by a change that SQS confirmed, and is counted from before that call was sent, so that what
the book believes ends no later than what SQS believes. From the moment that a delete is sent, or a message is given
back, its lease is never extended again: a late extension would hide the message or overwrite its backoff.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from tidegate.core.workers.leases import LONGEST_LEASE_S

__all__ = ["Change", "Lease", "LeaseBook", "LeaseLimits", "Phase"]

_LONGEST_CALL_S: Final = 5.0
_SHORTEST_CALL_S: Final = 0.2

_RECEIVE_SLACK_S: Final = 5.0
"""SQS counts the 12 hours from when it handed the message out, which is a little before we saw it."""


class Phase(Enum):
    """What may still be done with a lease."""

    HELD = auto()
    DELETING = auto()
    RETURNING = auto()


@dataclass(frozen=True, slots=True)
class LeaseLimits:
    """How far leases are kept: None leaves it to SQS's 12 hours, and to the handler."""

    max_extensions: int | None = None
    progress_timeout_s: float | None = None
    """A lease whose handler has said nothing (`Message.progress`) for longer than this is not extended any more."""


@dataclass(slots=True)
class Lease:
    """One message's lease, as far as SQS has confirmed it. The book changes it in place: it has thousands a second."""

    key: int
    receipt_handle: str
    received_at_s: float
    expires_at_s: float
    phase: Phase = Phase.HELD
    delete_sent: bool = False
    """A delete without an answer may have deleted the message; then SQS says "over", and nothing has been lost."""
    visible_after_s: int = 0
    """For a lease that is being returned: how long the message stays hidden from the call on."""
    extensions: int = 0
    wanted_until_s: float = -math.inf
    """Its handler asked that it last until then."""
    heard_at_s: float = math.inf
    """When its handler last said that it goes on; endless before it has started, as nothing is expected then."""


@dataclass(frozen=True, slots=True)
class Change:
    """A visibility change to send: an extension, or the return of a message."""

    key: int
    receipt_handle: str
    timeout_s: int
    returns: bool


_NO_LIMITS: Final = LeaseLimits()


class LeaseBook:
    """All leases of one worker. Keys are the book's own: a redelivered copy of a message is another lease."""

    def __init__(self, visibility_s: int, limits: LeaseLimits = _NO_LIMITS, keys: Iterator[int] | None = None) -> None:
        """`keys` gives each lease its key: books of one worker share one, so that no two leases have the same."""
        if not 1 <= visibility_s <= LONGEST_LEASE_S:
            raise ValueError(f"a lease lasts 1 to {LONGEST_LEASE_S} s, not {visibility_s}")
        self.visibility_s = visibility_s
        self.look_s = min(1.0, visibility_s / 10)
        """How often to look: every second, or ten times per lease when leases are shorter than ten seconds."""
        self.call_s = min(_LONGEST_CALL_S, max(_SHORTEST_CALL_S, visibility_s / 4))
        """How long a call about a lease may take: one that hangs must leave time for another try within the lease."""
        self.longest_s = min(float(LONGEST_LEASE_S - _RECEIVE_SLACK_S), _extended_s(visibility_s, limits))
        """How long a lease can be kept at all: SQS's end, or as many extensions as there may be."""
        self._limits = limits
        self._leases: dict[int, Lease] = {}
        self.unconfirmed: set[int] = set()
        """Keys of returns that somebody asks about: each is taken out when SQS has confirmed it."""
        self._keys = itertools.count(1) if keys is None else keys

    def __len__(self) -> int:
        return len(self._leases)

    def left_s(self, key: int, now_s: float) -> float:
        """How long the message can be hidden at most, in seconds from now."""
        lease = self._leases.get(key)
        return 0.0 if lease is None else max(0.0, float(self._time_left_s(lease, now_s)))

    @property
    def gated(self) -> bool:
        """True when leases are kept only for handlers that say that they go on."""
        return self._limits.progress_timeout_s is not None

    def get(self, key: int) -> Lease | None:
        """The lease, or None once it has ended (deleted, returned, lost)."""
        return self._leases.get(key)

    def holds(self, key: int) -> bool:
        """True while the message is this worker's and nothing has been sent that gives it up."""
        lease = self._leases.get(key)
        return lease is not None and lease.phase is Phase.HELD

    def too_late(self, handed_out_s: float, now_s: float) -> bool:
        """True when the lease of what was handed out then is over, or will be before an extension can go out."""
        return handed_out_s + self.visibility_s - now_s <= 2 * self.look_s

    def take(self, receipt_handle: str, handed_out_s: float) -> int:
        """A message was received: its lease runs since SQS handed it out, whether or not a handler has it yet."""
        key = next(self._keys)
        self._leases[key] = Lease(key, receipt_handle, handed_out_s, handed_out_s + self.visibility_s)
        return key

    def heard(self, key: int, now_s: float) -> None:
        """Its handler starts, or says that it goes on."""
        if self._limits.progress_timeout_s is not None and self.holds(key):
            self._leases[key].heard_at_s = now_s

    def want(self, key: int, for_s: float, now_s: float) -> None:
        """Its handler asks that the lease last at least so long from now; that much silence is announced, too."""
        if self.holds(key):
            lease = self._leases[key]
            lease.wanted_until_s = max(lease.wanted_until_s, now_s + for_s)

    def changes_due(self, now_s: float) -> list[Change]:
        """Every change that should be sent now: leases in the second half of their time, and messages given back."""
        changes = (self._change(lease, now_s) for lease in self._leases.values())
        return [change for change in changes if change is not None]

    def _change(self, lease: Lease, now_s: float) -> Change | None:
        left_s = max(0, self._time_left_s(lease, now_s))
        if lease.phase is Phase.RETURNING:
            return Change(lease.key, lease.receipt_handle, min(lease.visible_after_s, left_s), returns=True)
        if lease.phase is Phase.DELETING or not self._is_due(lease, now_s) or self._gives_up(lease, now_s):
            return None
        wanted_s = math.ceil(max(0.0, lease.wanted_until_s - now_s))
        timeout_s = min(max(self.visibility_s, wanted_s), left_s)
        gain_s = now_s + timeout_s - lease.expires_at_s
        if timeout_s < 1 or gain_s < min(1.0, self.visibility_s / 4):
            return None
        return Change(lease.key, lease.receipt_handle, timeout_s, returns=False)

    def _is_due(self, lease: Lease, now_s: float) -> bool:
        return lease.expires_at_s - now_s <= self.visibility_s / 2 or lease.wanted_until_s > lease.expires_at_s

    def _gives_up(self, lease: Lease, now_s: float) -> bool:
        """True when the lease is to run out: extended often enough, or its handler has been silent for too long."""
        most, silence_s = self._limits.max_extensions, self._limits.progress_timeout_s
        if most is not None and lease.extensions >= most:
            return True
        return silence_s is not None and now_s > max(lease.heard_at_s + silence_s, lease.wanted_until_s)

    def _time_left_s(self, lease: Lease, now_s: float) -> int:
        return math.floor(lease.received_at_s + LONGEST_LEASE_S - _RECEIVE_SLACK_S - now_s)

    def changed(self, change: Change, sent_at_s: float) -> None:
        """SQS confirmed a change sent at `sent_at_s`: the lease runs anew from then, or the message is back."""
        lease = self._leases.get(change.key)
        if lease is None:
            return
        if change.returns:
            del self._leases[change.key]
            self.unconfirmed.discard(change.key)
        else:
            lease.expires_at_s = sent_at_s + change.timeout_s
            lease.extensions += 1

    def end(self, key: int) -> bool:
        """SQS says that the lease is no more. True when it was held, that is, when it has just been lost."""
        lease = self._leases.pop(key, None)
        return lease is not None and _loses(lease)

    def lapsed(self, now_s: float) -> list[int]:
        """Ends all leases whose time is up, and gives the keys of those that were still held: they are lost.

        A message being returned is simply visible again; one whose delete was sent is the deleter's to judge.
        """
        over = [lease for lease in self._leases.values() if lease.expires_at_s <= now_s]
        for lease in over:
            if lease.phase is not Phase.DELETING:
                del self._leases[lease.key]
        return [lease.key for lease in over if _loses(lease)]

    def give_back(self, key: int, visible_after_s: int) -> None:
        """The message is to be visible again so many seconds after the change is sent (0: at once)."""
        if self.holds(key):
            lease = self._leases[key]
            lease.phase, lease.visible_after_s = Phase.RETURNING, visible_after_s

    def returning(self) -> bool:
        """True while some message given back has not been confirmed as such."""
        return any(lease.phase is Phase.RETURNING for lease in self._leases.values())

    def start_delete(self, key: int) -> None:
        """A delete is being sent: the lease is not extended while it is under way."""
        if self.holds(key):
            lease = self._leases[key]
            lease.phase, lease.delete_sent = Phase.DELETING, True

    def time_to_delete_s(self, key: int, now_s: float) -> float:
        """How long to wait for the answer to a delete: half of what the lease has left is for an extension after it."""
        lease = self._leases.get(key)
        if lease is None:
            return self.call_s
        return min(self.call_s, max(_SHORTEST_CALL_S, (lease.expires_at_s - now_s) / 2))

    def delete_failed(self, key: int, now_s: float) -> bool:
        """The delete did not go through. True when the lease still runs: it is kept alive again for another try."""
        lease = self._leases.get(key)
        if lease is None:
            return False
        if lease.expires_at_s <= now_s:
            del self._leases[key]
            return False
        lease.phase = Phase.HELD
        return True

    def deleted(self, key: int, now_s: float) -> bool:
        """The delete went through. True when the lease ran until then; otherwise nobody knows what was deleted."""
        lease = self._leases.pop(key, None)
        return lease is not None and now_s < lease.expires_at_s


def _extended_s(visibility_s: int, limits: LeaseLimits) -> float:
    """How long a lease lasts when it is extended as often as it may be, each time at half time."""
    return math.inf if limits.max_extensions is None else visibility_s * (1 + limits.max_extensions / 2)


def _loses(lease: Lease) -> bool:
    """Whether the end of this lease takes a message from a handler at work."""
    return lease.phase is Phase.HELD and not lease.delete_sent
