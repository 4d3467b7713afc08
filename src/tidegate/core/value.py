"""A frozen dataclass that costs no more to make than a plain one: for the many values that one decision is made of.

`@dataclass(frozen=True)` sets each field by a call of `object.__setattr__`, which made a fifth of a decision's time. A
`@value` is frozen where it is checked, by mypy, which refuses an assignment as it does for the other; at run time it is
a plain dataclass with slots, equality and a hash. What leaves the core by its own name (`Pool`, `PoolState`,
`Observation`, `Decision`, reports) stays frozen at run time too, for people who have no mypy.
"""

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

__all__ = ["changed", "maker", "value"]

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


def maker(kind: type[T]) -> type[T]:
    """The constructor of a dataclass with slots, as a function: to make one by many keywords at half the price or less.

    A class is handed its keywords in a dictionary and a frozen one sets each field by a call; a function does neither.
    It takes nothing but keywords, though to type checkers it is the class itself; a field with a default factory has to
    be given.

    >>> from tidegate.core.decision import Health
    >>> maker(Health)(pinned_share=0.5) == Health(pinned_share=0.5)
    True
    """
    each: Any = kind
    defaults = {field.name: field.default for field in fields(each) if field.default is not MISSING}
    names = [field.name for field in fields(each)]
    known: dict[str, Any] = {"new": object.__new__, "kind": kind, "open_kind": kind, "defaults": defaults}
    steps = [f"made.{name} = {name}" for name in names]
    if each.__dataclass_params__.frozen:
        # An open one that becomes it in the end: "__class__ assignment only works if both classes have the same
        # __slots__" (https://docs.python.org/3/reference/datamodel.html#slots).
        known["open_kind"] = type(kind.__name__, (), {"__slots__": names})
        steps.append("made.__class__ = kind")
    takes = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in names)
    lines = (f"def make(*, {takes}):", "made = new(open_kind)", *steps, "return made")
    exec("\n    ".join(lines), known)  # noqa: S102  # of names of fields only, as `dataclass` itself makes its own
    made: type[T] = known["make"]
    return made
