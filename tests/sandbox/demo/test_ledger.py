"""The verdict follows from what was sent, what was deleted and what the workers wrote down."""

import json
from pathlib import Path

import pytest

from tidegate.errors import TidegateError
from tidegate.sandbox.demo.ledger import Ledger, Messages, Run, read_journals, reckon

SENT = {"a": 100.0, "b": 100.0, "c": 100.0, "d": 100.0}


def runs(*ids: str, pid: int = 1, wait_s: float = 1.0, ended: bool = True) -> list[Run]:
    return [Run(id_, pid, 100 + wait_s, 102 + wait_s if ended else None) for id_ in ids]


def judge(deleted: str, *done: Run, killed: set[int] | None = None) -> Messages:
    return reckon(SENT, set(deleted), done, killed or set(), target_s=10)


def test_all_done_is_nothing_lost_nobody_interrupted() -> None:
    found = judge("abcd", *runs("a", "b", "c"), *runs("d", wait_s=3.0))
    assert found == Messages(4, 4, 0, 0, 0, 0, 0.0, 1.0, 3.0)


def test_a_message_that_was_never_deleted_is_lost() -> None:
    assert judge("abc", *runs("a", "b", "c", "d")).lost_ids == ("d",)


def test_a_message_deleted_before_its_handler_ended_is_lost() -> None:
    found = judge("abcd", *runs("a", "b", "c"), *runs("d", ended=False))
    assert (found.lost_ids, found.interrupted) == (("d",), 1)


def test_a_run_that_did_not_end_is_interrupted_unless_a_test_killed_its_worker() -> None:
    done = [*runs("a", "b", "c", "d"), *runs("a", pid=7, ended=False)]
    assert (judge("abcd", *done).interrupted, judge("abcd", *done).killed) == (1, 0)
    found = judge("abcd", *done, killed={7})
    assert (found.interrupted, found.killed, found.lost) == (0, 1, 0)


def test_a_message_handled_twice_is_one_duplicate() -> None:
    assert judge("abcd", *runs("a", "b", "c", "d"), *runs("a", "a", pid=2)).duplicates == 2


def test_waits_run_to_the_first_start_and_a_message_never_started_is_late() -> None:
    done = [*runs("a", wait_s=4.0), *runs("a", wait_s=99.0), *runs("b", wait_s=11.0), *runs("c", wait_s=-0.5)]
    found = judge("abc", *done)
    assert (found.late_share, found.wait_p50_s, found.wait_p99_s) == (0.5, 4.0, 11.0)


def test_an_empty_demo_has_no_waits() -> None:
    assert reckon({}, set(), [], set(), 10) == Messages(0, 0, 0, 0, 0, 0, 0.0, None, None)


def test_the_ledger_counts_its_own_queue_only_and_a_dead_letter_stays_open() -> None:
    ledger = Ledger("demo")
    for queue, id_ in (("demo", "a"), ("demo", "b"), ("demo-dead", "a")):
        ledger.sent(queue, id_, 5.0)
    ledger.received("demo", "a", 1, 6.0)
    ledger.deleted("demo", "a", 7.0)
    ledger.deleted("demo-dead", "b", 7.0)
    ledger.moved("demo", "demo-dead", "b", 8.0)
    ledger.expired("demo", "b", 9.0)
    assert ledger.open() == 1
    assert ledger.accounts() == ({"a": 5.0, "b": 5.0}, {"a"})


def journal(path: Path, *lines: tuple[str, str]) -> None:
    entries = (json.dumps({"event": event, "id": id_, "at_s": 1.0, "pid": 7}) for event, id_ in lines)
    path.write_text("\n".join(entries) + "\n")


def test_a_journal_gives_its_runs_and_a_line_cut_short_is_none(tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl"
    journal(path, ("start", "a"), ("start", "b"), ("end", "a"), ("start", "a"))
    with path.open("a") as lines:
        lines.write('{"event": "end", "id": "b"')
    found = read_journals(tmp_path)
    assert [(run.message_id, run.ended_at_s) for run in found] == [("a", 1.0), ("b", None), ("a", None)]


def test_two_runs_of_one_message_side_by_side_in_one_process_are_two(tmp_path: Path) -> None:
    journal(tmp_path / "7.jsonl", ("start", "a"), ("start", "a"), ("end", "a"), ("end", "a"))
    assert [run.ended_at_s is not None for run in read_journals(tmp_path)] == [True, True]


def test_a_journal_that_ends_what_it_never_began_is_refused(tmp_path: Path) -> None:
    journal(tmp_path / "7.jsonl", ("end", "a"))
    with pytest.raises(TidegateError, match="ends a run of a that it never began"):
        read_journals(tmp_path)
