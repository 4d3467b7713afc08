"""Durations: what is read, what is refused and with which words, and that writing and reading agree."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.notation.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (90, 90.0),
        (0, 0.0),
        (1.5, 1.5),
        ("90", 90.0),
        ("90s", 90.0),
        ("1.5h", 5400.0),
        ("5m", 300.0),
        (" 5 M ", 300.0),
        ("1h30m", 5400.0),
        ("1h 30m 5s", 5405.0),
        ("250ms", 0.25),
        ("2d", 172_800.0),
    ],
)
def test_a_duration_is_read_as_seconds(written: object, seconds: float) -> None:
    assert parse_duration(written) == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["", "s", "5 parsecs", "--5s", "5m-", "1e3", "٥s", None, True, [5], math.nan])
def test_what_is_no_duration_is_refused_with_how_to_write_one(written: object) -> None:
    with pytest.raises(ValueError, match=r'not a duration; write seconds as a number \(90\) or .*"5m"'):
        parse_duration(written)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (-1, "negative"),
        (-0.001, "negative"),
        ("-5s", "negative"),
        ("-1", "negative"),
        (-math.inf, "negative"),
        (-(10**400), "negative"),
        (math.inf, "endless"),
        ("9" * 400, "endless"),
        (10**400, "endless"),
    ],
)
def test_a_negative_or_endless_duration_is_refused_as_what_it_is(written: object, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^{problem}; write seconds as a number"):
        parse_duration(written)


@given(st.integers(min_value=0, max_value=10**12))
def test_what_is_written_is_read_back_to_the_millisecond(milliseconds: int) -> None:
    text = format_duration(milliseconds / 1000)
    assert round(parse_duration(text) * 1000) == milliseconds
