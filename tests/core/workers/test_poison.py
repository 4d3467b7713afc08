"""The verdict on a message that was handed out again: what is evidence, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.workers.poison import MessageNote, Verdict, alone_since, ended_at, may_have_crashed, verdict

NOTHING = MessageNote()


@pytest.mark.parametrize(
    ("receive_count", "note", "max_receives", "expected"),
    [
        (1, NOTHING, None, Verdict.RUN),
        (2, MessageNote(1), None, Verdict.RUN),  # it failed, or was released
        (2, NOTHING, None, Verdict.ALONE),  # the first receive never ended
        (9, MessageNote(8, spared=8), 3, Verdict.RUN),  # eight deploys
        (4, MessageNote(3), 3, Verdict.DEAD_LETTER),  # three failures
        (4, MessageNote(3), 4, Verdict.RUN),
        (5, MessageNote(3), None, Verdict.ALONE),
        (3, MessageNote(2, alone="w1"), None, Verdict.DEAD_LETTER),
        (2, MessageNote(2, alone="w1"), None, Verdict.RUN),  # a copy of the receive that runs alone just now
        (3, MessageNote(7, spared=9), 5, Verdict.RUN),  # SQS's count is approximate
    ],
)
def test_only_evidence_convicts(
    receive_count: int, note: MessageNote, max_receives: int | None, expected: Verdict
) -> None:
    assert verdict(receive_count, note, max_receives).verdict is expected


@given(st.lists(st.booleans(), max_size=30))
def test_a_message_whose_every_receive_ended_in_order_and_by_no_fault_of_its_own_always_runs(ends: list[bool]) -> None:
    for receives in range(1, len(ends) + 2):
        assert verdict(receives, MessageNote(receives - 1, spared=receives - 1), max_receives=1).verdict is Verdict.RUN


@given(st.integers(0, 20))
def test_a_message_that_kills_every_worker_costs_two(orderly: int) -> None:
    """After any number of orderly failures: it kills one unsuspecting worker, then the one that it runs in alone."""
    note, receive, killed = MessageNote(orderly), orderly, 0
    while True:
        receive += 1
        ruling = verdict(receive, note, max_receives=None)
        if ruling.verdict is Verdict.DEAD_LETTER:
            break
        if ruling.verdict is Verdict.ALONE:
            note = MessageNote(receive, alone="w")
        killed += 1
    assert killed == 2


@given(st.integers(1, 100), st.integers(0, 100), st.integers(0, 100), st.integers(1, 50))
def test_no_cap_means_that_failures_alone_never_convict(
    receive_count: int, noted: int, spared: int, max_receives: int
) -> None:
    note = MessageNote(noted, spared=spared)
    assert verdict(receive_count, note, None).verdict is not Verdict.DEAD_LETTER
    if verdict(receive_count, note, max_receives).verdict is Verdict.DEAD_LETTER:
        assert receive_count > max_receives


@pytest.mark.parametrize(("now_s", "may"), [(100.0, False), (124.9, False), (125.0, True), (99.0, False)])
def test_a_message_that_is_back_before_its_lease_can_be_over_was_given_back(now_s: float, may: bool) -> None:
    assert may_have_crashed(100.0, now_s, lease_s=30) is may


def test_the_word_of_an_older_receive_changes_nothing() -> None:
    """A worker that lost its lease may be late with its word, when another has begun to run the message alone."""
    note = alone_since(MessageNote(), 3, "w2")
    assert ended_at(note, 2, spared=True) == note
    assert alone_since(note, 2, "w1") == note
    assert ended_at(note, 3, spared=False) == MessageNote(3)
