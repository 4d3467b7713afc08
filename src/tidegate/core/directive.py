"""What the controller tells a pool's workers; each reads it back with its heartbeat."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tidegate.core.stored.schema import SCHEMA

__all__ = ["Directive", "must_tell", "said", "to_repeat"]

REPEAT_S: Final = 900.0
"""A directive that has become empty is told again for so long: the write that emptied it may have been lost, and a
worker that never hears it would take no work for ever. A Lambda ticks once a minute, so it gets fifteen tries."""


@dataclass(frozen=True, slots=True)
class Directive:
    """Nothing in it: work as usual. A field that a newer version added is ignored by an older worker.

    `retire` are the ids of workers that are to take no more work. `shed` says that the pool is at its ceiling and late:
    producers that can, send less. `limits` are named limits that hold for all workers together.
    """

    retire: tuple[str, ...] = ()
    shed: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)
    changed_at_s: float = 0.0
    """When it last became another one."""
    schema: int = SCHEMA

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing."""
        return not (self.retire or self.shed or self.limits)


def said(before: Directive, now_s: float, *, retire: tuple[str, ...], shed: bool) -> Directive:
    """What is said from now on, with the time since when it has been said.

    >>> said(Directive(changed_at_s=5.0), 9.0, retire=(), shed=False).changed_at_s
    5.0
    >>> said(Directive(changed_at_s=5.0), 9.0, retire=(), shed=True).changed_at_s
    9.0
    """
    if retire == before.retire and shed == before.shed:
        return before
    return replace(before, retire=retire, shed=shed, changed_at_s=now_s)


def to_repeat(directive: Directive, now_s: float) -> Directive:
    """The same, to be told as if it had become so now: somebody may still go by an older one.

    >>> to_repeat(Directive(changed_at_s=5.0), now_s=9e3).changed_at_s
    9000.0

    What was never another one stays untold, and the time since when something is asked for stays true.

    >>> to_repeat(Directive(), now_s=9e3).changed_at_s
    0.0
    >>> to_repeat(Directive(shed=True, changed_at_s=5.0), now_s=9e3).changed_at_s
    5.0
    """
    return replace(directive, changed_at_s=now_s) if directive.is_empty and directive.changed_at_s else directive


def must_tell(directive: Directive, now_s: float) -> bool:
    """Whether to write it at this tick: while it says something, and for a while after it last changed."""
    return not directive.is_empty or now_s - directive.changed_at_s <= REPEAT_S
