"""The stored shapes come back from JSON as they went in, and anything else is refused."""

import json
import math

import pytest

from tidegate.core.model import KnownWorker, Override, OverrideKind, PoolState, Sample, ServiceTime
from tidegate.core.reports import DependencyFigures, WorkFigures
from tidegate.core.stored.codec import from_json, to_json
from tidegate.errors import StateUnreadable

FULL = PoolState(
    samples=(Sample(at_s=1.0, arrived=2.0, waiting=3.0, in_hand=4.0),),
    needs=((1.0, 2),),
    service_time=ServiceTime(runs=3.0, sum_s=2.4, square_sum_s2=2.0),
    start_ups_s=(31.5,),
    raises=((0.5, 3),),
    known_workers={"1a2b3c4d": KnownWorker(starts=3, completions=2, failures=1, timed=True)},
    watched_since_s=0.5,
    ticked_at_s=2.5,
    reported_at_s=2.0,
    override=Override(OverrideKind.PIN, who="ada", since_s=1.0, until_s=2.0, workers=7),
    desired=4,
)


@pytest.mark.parametrize("state", [PoolState(), FULL])
def test_a_state_comes_back_as_it_went_in(state: PoolState) -> None:
    assert from_json(PoolState, to_json(state)) == state


@pytest.mark.parametrize(
    ("row", "sample"),
    [([1.0, 2.0, 3.0, 4.0], Sample(1.0, 2.0, 3.0, 4.0)), ([1, 2, 3, 4, 5, "new"], Sample(1.0, 2.0, 3.0, 4.0, 5.0))],
    ids=["an older version's", "a newer version's"],
)
def test_samples_of_another_version_are_read_with_the_columns_that_both_have(row: list[object], sample: Sample) -> None:
    stored = {**json.loads(to_json(FULL)), "samples": [row]}
    state = from_json(PoolState, json.dumps(stored))
    assert (state.samples, state.needs) == ((sample,), FULL.needs)
    assert state.samples[0] == from_json(PoolState, to_json(state)).samples[0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_not_is_refused_when_it_is_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(PoolState(start_ups_s=(value,)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ('{"samples": [], "start_ups_s": [NaN]}', "NaN is no number of JSON"),
        ("[1]", "PoolState"),
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 100_000, "not JSON"),
        (json.dumps({"schema": 2}), "schema 2, this tidegate reads schema 1"),
        (json.dumps({"needs": []}), "schema None, this tidegate reads schema 1"),
        (json.dumps({"schema": 1, "needs": "many"}), "needs"),
    ],
)
def test_a_damaged_or_differently_versioned_text_is_refused(text: str, says: str) -> None:
    with pytest.raises(StateUnreadable, match=says):
        from_json(PoolState, text)


def test_a_report_carries_its_dependencies_and_an_older_one_without_them_is_read() -> None:
    calls = {"payments": DependencyFigures(calls=9, errors=1, timeouts=2, throttled=3, time_sum_s=4.5)}
    figures = WorkFigures(10.0, dependencies=calls)
    assert from_json(WorkFigures, to_json(figures)) == figures
    assert from_json(WorkFigures, '{"span_s": 10.0}').dependencies == {}


def test_what_is_no_value_of_ours_is_not_written() -> None:
    with pytest.raises(TypeError):
        to_json({"a": object()})
