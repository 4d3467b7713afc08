"""Durations: what is read, what is refused and with which words, and that writing and reading agree."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.durations import format_duration, parse_duration


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


@pytest.mark.parametrize("written", ["", "s", "5 parsecs", "-5s", "5m-", "1e3", "٥s", None, True, [5]])
def test_what_is_no_duration_is_refused_with_how_to_write_one(written: object) -> None:
    with pytest.raises(ValueError, match=r'not a duration; write seconds as a number \(90\) or .*"5m"'):
        parse_duration(written)


@pytest.mark.parametrize("written", [-1, -0.001, math.inf, math.nan, "9" * 400, 10**400, -(10**400)])
def test_a_negative_or_endless_number_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="zero or more seconds and has an end"):
        parse_duration(written)


@given(st.integers(min_value=0, max_value=10**12))
def test_what_is_written_is_read_back_to_the_millisecond(milliseconds: int) -> None:
    text = format_duration(milliseconds / 1000)
    assert round(parse_duration(text) * 1000) == milliseconds
