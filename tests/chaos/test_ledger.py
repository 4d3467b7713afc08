"""The judge of the storm: what counts as a reason for a message to run again, and what does not."""

import pytest

from tests.chaos.ledger import Record, explain
from tidegate.sandbox.demo.ledger import Run

FIRST, AGAIN = Run("m1", pid=1, started_at_s=100.0, ended_at_s=101.0), Run("m1", pid=2, started_at_s=130.0)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Record(killed_pids={1}), "its worker was killed"),
        (Record(unanswered_at_s={"m1": [101.2]}), "an answer was lost"),
        (Record(unanswered_at_s={"m1": [95.0]}, lease_s=10.0), "an answer was lost"),
        (Record(parted=(100.5, 129.0)), "it was in hand in the partition"),
        (Record(parted=(110.0, 120.0), lease_s=9.0), "it was in hand in the partition"),
    ],
)
def test_a_run_is_repeated_for_a_reason(record: Record, reason: str) -> None:
    assert explain([AGAIN, FIRST], record) == ({reason: 1}, [])


@pytest.mark.parametrize(
    "record",
    [
        Record(),
        Record(killed_pids={2}),
        Record(unanswered_at_s={"m2": [101.2], "m1": [131.0]}),
        Record(unanswered_at_s={"m1": [80.0]}, lease_s=10.0),
        Record(parted=(131.0, 161.0)),
        Record(parted=(60.0, 90.0)),
        Record(parted=(110.0, 120.0), lease_s=8.0),
    ],
)
def test_a_repetition_without_a_reason_is_named(record: Record) -> None:
    assert explain([FIRST, AGAIN], record) == ({}, ["m1"])


def test_a_message_that_ran_once_needs_no_reason() -> None:
    assert explain([FIRST], Record()) == ({}, [])
