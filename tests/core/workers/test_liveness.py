"""When a worker counts as stuck, and when it must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.workers.liveness import Sight, longest_silence_s, p99_s, verdict


@pytest.mark.parametrize(
    ("sight", "healthy", "live"),
    [
        (Sight(1000.0, slots=4), True, 4),  # idle for ever
        (Sight(1000.0, 4, (100.0,) * 4, 100.0, messages_wait=True), False, 0),
        (Sight(1000.0, 4, (100.0,) * 4, 100.0, messages_wait=False), True, 0),  # one long round of jobs, nothing waits
        (Sight(1000.0, 4, (100.0,) * 4, 100.0, messages_wait=None), True, 0),  # not known: a restart mends no network
        (Sight(1000.0, 4, (100.0, 100.0, 100.0, 990.0), 990.0, messages_wait=True), True, 1),
        (Sight(1000.0, 4, (939.0,), 939.0, messages_wait=True), False, 3),
        (Sight(1000.0, 4, (940.0,), 940.0, messages_wait=True), True, 4),
        (Sight(1000.0, 1, (100.0, 100.0), 999.0, messages_wait=True), True, 0),  # slots were taken back meanwhile
    ],
)
def test_only_a_worker_that_ends_nothing_while_messages_wait_is_stuck(sight: Sight, healthy: bool, live: int) -> None:
    health = verdict(sight, longest_s=60.0)
    assert (health.healthy, health.live) == (healthy, live)
    assert health.line.startswith("healthy" if healthy else "stuck")


@given(st.lists(st.floats(0, 1e4), min_size=20, max_size=300))
def test_at_most_one_of_a_hundred_takes_longer_than_the_p99(times_s: list[float]) -> None:
    found = p99_s(times_s)
    assert found is not None
    assert sum(each > found for each in times_s) <= len(times_s) / 100


@given(st.none() | st.floats(0, 1e5))
def test_the_patience_is_never_less_than_a_minute_unless_it_is_set(p99: float | None) -> None:
    assert longest_silence_s(p99, None) >= 60
    assert longest_silence_s(p99, 1.0) == 1.0
