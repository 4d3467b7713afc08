"""Where a fault is, and which findings rest on it."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.config.findings import At, Finding, Places

PLACES = st.lists(st.sampled_from(["pools", "orders", "queue", 0]), max_size=4).map(tuple)


def touches(one: At, other: At) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


@given(st.lists(PLACES, max_size=6), PLACES, st.lists(PLACES, max_size=2))
def test_a_finding_rests_on_each_fault_that_is_in_one_of_its_settings_or_around_it(
    faulty: list[At], at: At, among: list[At]
) -> None:
    finding = Finding(at, 1, "is odd", "mend it", tuple(among))

    assert finding.rests_on(Places(faulty)) is any(touches(mine, other) for mine in (at, *among) for other in faulty)
