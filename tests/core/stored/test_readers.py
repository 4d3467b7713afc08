"""Stored values are read as the types that annotations name, or refused with their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import pytest

from tidegate.core.decision import Decision, Scalar
from tidegate.core.model import PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport
from tidegate.core.stored.readers import Unfit, reader


class Tide(StrEnum):
    HIGH = "high"
    LOW = "low"


class Buoy(NamedTuple):
    depth_m: float
    lit: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    name: str
    width_m: float = 1.0
    tides: Mapping[str, Tide] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Harbour:
    gates: tuple[Gate, ...]
    spare: Gate | None = None


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        (float, 5, 5.0),
        (float | None, None, None),
        (float | None, 5, 5.0),
        (int | float, 5, 5),
        (tuple[int, ...] | str, [1], (1,)),
        (tuple[int, ...] | str | None, "one", "one"),
        (tuple[int, ...] | Mapping[str, int], {"one": 1}, {"one": 1}),
        (Literal["yes", "no"], "no", "no"),
        (Tide, "low", Tide.LOW),
        (tuple[float, int], [1, 2], (1.0, 2)),
        (Buoy, [1, True], Buoy(1.0, True)),
        (Buoy, [1, False], Buoy(1.0)),
        (Buoy, [1], Buoy(1.0)),
        (Buoy, [1, True, "red"], Buoy(1.0, True)),
        (tuple[float, int], [1, 2, "newer"], (1.0, 2)),
        (Buoy, {"depth_m": 1, "lit": True}, Buoy(1.0, True)),
        (Buoy, {"depth_m": 1, "colour": "red"}, Buoy(1.0)),
        (Mapping[str, tuple[int, ...]], {"a": [1, 2]}, {"a": (1, 2)}),
        (Gate, {"name": "north"}, Gate("north")),
        (Gate, {"name": "north", "tides": {"noon": "high"}}, Gate("north", tides={"noon": Tide.HIGH})),
        (Gate, {"name": "north", "made_by": "a newer version"}, Gate("north")),
        (Harbour, {"gates": [{"name": "north", "width_m": 2}], "spare": None}, Harbour((Gate("north", 2.0),))),
        (Harbour, {"gates": [], "spare": {"name": "south"}}, Harbour((), Gate("south"))),
    ],
)
def test_what_fits_is_read(kind: Any, stored: object, value: object) -> None:
    read = reader(kind)(stored)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("value", [1, 1.0, "1", True, None])
def test_a_scalar_keeps_its_type(value: Scalar) -> None:
    assert type(reader(Scalar)(value)) is type(value)


@pytest.mark.parametrize(
    ("kind", "stored", "at", "problem"),
    [
        (float, "5", "", "a str, not a number"),
        (Buoy, {"lit": True}, "0", "a NoneType, not a number"),
        (Buoy, [], "", "a list, not a list of 2"),
        (Buoy, [True], "0", "a bool, not a number"),
        (float, True, "", "a bool, not a number"),
        (float, 10**400, "", "a number beyond all measure"),
        (int, 5.0, "", "a float, not a whole number"),
        (int, True, "", "a bool, not a whole number"),
        (str, None, "", "a NoneType, not a text"),
        (bool, 1, "", "a int, not true or false"),
        (float | None, [], "", "a list, not a number"),
        (Scalar, [], "", "a list, not true or false"),
        (Literal["yes", "no"], "perhaps", "", "none of 'yes', 'no'"),
        (Tide, "ebb", "", "none of 'high', 'low'"),
        (Tide, [], "", "none of 'high', 'low'"),
        (tuple[int, ...], "many", "", "a str, not a list"),
        (tuple[int, ...], [1, "2"], "1", "a str, not a whole number"),
        (tuple[float, int], [1.0], "", "a list, not a list of 2"),
        (tuple[float, int], [1.0, None], "1", "a NoneType, not a whole number"),
        (Mapping[str, int], [], "", "a list, not an object"),
        (Mapping[str, int], {"a": "b"}, "a", "a str, not a whole number"),
        (Gate, [], "", "a list, not an object"),
        (Gate, {}, "name", "is missing"),
        (Harbour, {"gates": [{"name": "a"}, {"name": "b", "tides": {"noon": 7}}]}, "gates.1.tides.noon", "none of"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(kind: Any, stored: object, at: str, problem: str) -> None:
    with pytest.raises(Unfit) as caught:
        reader(kind)(stored)
    assert ".".join(caught.value.at) == at
    assert caught.value.problem.startswith(problem)


@pytest.mark.parametrize("kind", [bytes, list[int], dict[str, int], set[int]])
def test_a_type_that_nothing_stored_has_is_a_fault_of_ours(kind: Any) -> None:
    with pytest.raises(TypeError, match="nothing stored is a"):
        reader(kind)


@pytest.mark.parametrize("kind", [PoolState, Decision, Observation, WorkerReport])
def test_each_shape_that_is_stored_can_be_read(kind: type) -> None:
    assert reader(kind) is reader(kind)
