"""A pool's decision: what is wanted, which rule had the last word, and every step's values. All frozen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from tidegate.core.condition import Condition
from tidegate.core.stored.schema import SCHEMA
from tidegate.core.value import value

__all__ = ["Action", "Decision", "Health", "Reason", "Scalar", "Step", "Told", "decided", "shown"]

Scalar = float | int | str | bool | None

_PARTS = (1.0, 10.0, 100.0, 1e3, 1e4)
_EXACT = 1e11
"""From there on a thousandth is about what a float can tell apart."""


class Action(StrEnum):
    """What a decision does to the desired count."""

    OUT = "out"
    IN = "in"
    HOLD = "hold"


_OUT, _IN, _HOLD = Action.OUT, Action.IN, Action.HOLD


class Reason(StrEnum):
    """Which rule had the last word."""

    NEED = "need"
    STEADY = "steady"
    CEILING = "ceiling"
    RAMP = "ramp"
    HOLD_TIME = "hold_time"
    DOWNSTREAM = "downstream"
    BUSY_FLOOR = "busy_floor"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    NOT_STARTING = "not_starting"
    CONTESTED = "contested"
    DEPLOYING = "deploying"
    RETIRING = "retiring"
    FROZEN = "frozen"
    PINNED = "pinned"
    SIGNAL_STALE = "signal_stale"
    SIGNAL_MISSING = "signal_missing"
    QUEUE_DENIED = "queue_denied"
    QUEUE_GONE = "queue_gone"
    UNMEASURED = "unmeasured"


def shown(figure: float, digits: int) -> float:
    """A figure as a step shows it, with so many digits after the point.

    There are thirty in a decision, and `round`, which goes by way of a text, takes four times as long.

    >>> shown(2 / 3, 3), shown(12.0, 1), shown(-0.0004, 3), shown(1e300, 3)
    (0.667, 12.0, 0.0, 1e+300)
    """
    parts = _PARTS[digits]
    return (figure * parts + 0.5) // 1.0 / parts if -_EXACT < figure < _EXACT else figure


@value
class Step:
    """One step of the fixed order: its name, the values it saw and made, and what it did in words."""

    name: str
    values: Mapping[str, Scalar] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """How the pool fares (`core.explain.health`). `advice` are sentences: what was noticed, what to mend.

    `usual_count` is the count of workers that held for most of the last days, `usual_share` for how much of them.
    """

    changes_per_min: float = 0.0
    reversals_per_h: int = 0
    pinned_share: float = 0.0
    usual_count: int | None = None
    usual_share: float = 0.0
    watched_s: float = 0.0
    advice: tuple[str, ...] = ()


class Told(NamedTuple):
    """What a decision says of itself: for people, logs and metrics; nothing is decided by it."""

    sentence: str
    steps: tuple[Step, ...]
    health: Health


class _ToldWhenAsked:
    """What a decision says of itself is put together when somebody first looks at any of it, and then kept.

    That takes a good part of a tick's time, and of a simulation's decisions hardly any is read. It depends on nothing
    but what `decide` was given, so it doesn't matter when it is asked for.
    """

    __slots__ = ("_tell",)

    if TYPE_CHECKING:
        _tell: Callable[[], Told]
    else:  # a type checker would take any name for an attribute

        def __getattr__(self, name):
            """Called for what has not been set yet."""
            if name not in Told._fields:
                raise AttributeError(f"{type(self).__name__} has no {name}")
            told = self._tell()
            for field_name, value in zip(Told._fields, told, strict=True):
                _set(self, field_name, value)
            _set(self, "_tell", lambda: told)  # what it was told by can go
            return getattr(told, name)


_set: Final = object.__setattr__


@dataclass(frozen=True, slots=True)
class Decision(_ToldWhenAsked):
    """Desired count, reason code, one sentence, and every step's values."""

    pool: str
    at_s: float
    current: int
    desired: int
    action: Action
    reason: Reason
    sentence: str
    steps: tuple[Step, ...] = ()
    errors: tuple[str, ...] = ()
    health: Health = field(default_factory=Health)
    state: Condition = Condition.NORMAL
    """Late for more than a minute at the ceiling (or under the downstream guard): producers are asked to send less."""
    schema: int = SCHEMA


def decided(
    pool: str,
    at_s: float,
    current: int,
    desired: int,
    reason: Reason,
    errors: tuple[str, ...],
    state: Condition,
    tell: Callable[[], Told],
) -> Decision:
    """A decision that is told when somebody asks: equal to the one that is made with all that `tell` gives."""
    made = object.__new__(Decision)
    _set(made, "pool", pool)
    _set(made, "at_s", at_s)
    _set(made, "current", current)
    _set(made, "desired", desired)
    _set(made, "action", _OUT if desired > current else _IN if desired < current else _HOLD)
    _set(made, "reason", reason)
    _set(made, "errors", errors)
    _set(made, "state", state)
    _set(made, "schema", SCHEMA)
    _set(made, "_tell", tell)
    return made
