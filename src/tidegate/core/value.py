"""A frozen dataclass that costs no more to make than a plain one: for the many values that one decision is made of.

`@dataclass(frozen=True)` sets each field by a call of `object.__setattr__`, which made a fifth of a decision's time. A
`@value` is frozen where it is checked, by mypy, which refuses an assignment as it does for the other; at run time it is
a plain dataclass with slots, equality and a hash. What leaves the core by its own name (`Pool`, `PoolState`,
`Observation`, `Decision`, reports) stays frozen at run time too, for people who have no mypy.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

__all__ = ["changed", "value"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(kind: type[T]) -> type[T]:
    """The class as a dataclass with slots, frozen to type checkers."""
    return dataclass(slots=True, unsafe_hash=True)(kind)


if TYPE_CHECKING:
    from dataclasses import replace as changed  # so that names and types of fields are checked
else:

    def changed(given, **fields):
        """`dataclasses.replace` at a sixth of its price, for a large dataclass that has neither slots nor checks.

        >>> from tidegate.core.model import PoolState
        >>> changed(PoolState(lean=0.5), desired=3) == PoolState(lean=0.5, desired=3)
        True
        """
        copy = object.__new__(type(given))
        object.__setattr__(copy, "__dict__", vars(given) | fields)
        return copy
