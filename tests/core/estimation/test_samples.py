"""Samples keep their columns, and know how close together they are."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.estimation.samples import Samples
from tidegate.core.model import Sample

STEPS_S = st.lists(st.floats(0.1, 100.0), min_size=1, max_size=20)


def sampled(steps_s: list[float]) -> list[Sample]:
    """Samples so far apart, each with other figures."""
    return [Sample(sum(steps_s[: n + 1]), 2.0 * n, 3.0 * n, 4.0 * n, 5.0 * n) for n in range(len(steps_s))]


@given(steps_s=STEPS_S, begin=st.integers(0, 25))
def test_one_more_sample_gives_what_all_of_them_at_once_would(steps_s: list[float], begin: int) -> None:
    *before, last = sampled(steps_s)
    grown, whole = Samples.of(before).then(last, begin), Samples.of([*before[begin:], last])
    assert grown == whole
    assert (grown.at_s, grown.arrived) == (whole.at_s, whole.arrived)
    assert (grown.waiting, grown.counted) == (whole.waiting, whole.counted)
    assert grown.apart_s <= whole.apart_s


@given(steps_s=STEPS_S)
def test_no_two_samples_are_closer_than_is_said(steps_s: list[float]) -> None:
    samples = Samples.of(sampled(steps_s))
    assert samples.apart_s == min((after - before for before, after in pairwise(samples.at_s)), default=math.inf)


def test_samples_stay_what_they_are() -> None:
    samples = Samples.of(sampled([1.0, 2.0]))
    assert Samples.of(samples) is samples
    assert samples.counted == (0.0, 5.0)


@pytest.mark.parametrize("none", [(), []])
def test_without_samples_the_columns_are_empty(none: list[Sample]) -> None:
    assert Samples.of(none).at_s == ()
