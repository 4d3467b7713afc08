"""What a dependency can take: the formula of connections and calls, and its edges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.bottlenecks import max_workers_for


@pytest.mark.parametrize(
    ("db_pool_size", "api_rate", "item_time_s", "calls_per_item", "most"),
    [
        (20, 100, 0.02, 1, 2),  # min(20, int(100 × 0.02 ÷ 1))
        (20, None, 0.02, 1, 20),
        (None, 100, 0.5, 2, 25),
        (3, 1000, 1.0, 1, 3),
        (None, 100, 0.29, 1, 29),  # 28.999999999999996 to a machine
        (20, 1, 0.02, 1, 1),  # even one worker is over the rate, but none would do nothing
    ],
)
def test_the_smaller_of_connections_and_calls_binds(
    db_pool_size: int | None, api_rate: float | None, item_time_s: float, calls_per_item: float, most: int
) -> None:
    assert max_workers_for(db_pool_size, api_rate, item_time_s, calls_per_item) == most


def test_with_no_limit_at_all_there_is_no_answer() -> None:
    with pytest.raises(ValueError, match="give db_pool_size, api_rate or both"):
        max_workers_for(None, None, 1.0)


@pytest.mark.parametrize("wrong", [(0, 100, 1, 1), (20, 0, 1, 1), (20, 100, 0, 1), (20, 100, 1, -1)])
def test_nothing_is_divided_by_or_multiplied_with_nothing(wrong: tuple[int, float, float, float]) -> None:
    with pytest.raises(ValueError, match="must be more than 0"):
        max_workers_for(*wrong)


@given(st.integers(1, 500), st.floats(0.1, 1e4), st.floats(0.001, 100), st.floats(0.1, 20))
def test_the_calls_stay_within_the_rate_and_the_connections_within_the_pool(
    db_pool_size: int, api_rate: float, item_time_s: float, calls_per_item: float
) -> None:
    workers = max_workers_for(db_pool_size, api_rate, item_time_s, calls_per_item)
    assert 1 <= workers <= db_pool_size
    assert workers == 1 or workers * calls_per_item / item_time_s <= api_rate * (1 + 1e-6)
