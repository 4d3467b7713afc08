"""Decisions are counted as they are logged, and nothing that went wrong is overlooked."""

import json
from pathlib import Path

import pytest

from tidegate.sandbox.demo.logs import DecisionLog, errors_in, last_words


def decision(action: str, wrote: bool) -> str:
    return json.dumps({"event": "decision", "level": "info", "action": action, "wrote": wrote}) + "\n"


def test_decisions_are_read_once_and_a_line_in_the_making_later(tmp_path: Path) -> None:
    path = tmp_path / "controller.jsonl"
    log = DecisionLog(path)
    assert log.read() == []
    path.write_text(decision("out", True) + '{"event": "started"}\n' + decision("in", True)[:20])
    assert [entry["action"] for entry in log.read()] == ["out"]
    with path.open("a") as more:
        more.write(decision("in", True)[20:] + decision("hold", False))
    assert [entry["action"] for entry in log.read()] == ["in", "hold"]
    assert (log.decisions, log.scale_outs, log.scale_ins) == (3, 1, 1)


def test_a_change_that_was_not_written_is_no_scaling(tmp_path: Path) -> None:
    path = tmp_path / "controller.jsonl"
    path.write_text(decision("out", False) + decision("in", False))
    log = DecisionLog(path)
    log.read()
    assert (log.decisions, log.scale_outs, log.scale_ins) == (2, 0, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it wrote nothing"),
        ('{"event": "tick_failed", "error": "no space left"}\n', "no space left"),
        ('{"event": "started"}\n{"event": "decision", "steps": [1, 2]}\n', "decision"),
        ("Traceback\nMemoryError\n", "MemoryError"),
        ("x" * 1000, "x" * 300),
    ],
)
def test_the_last_words_of_a_program_fit_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "controller.jsonl"
    assert last_words(path) == "it wrote nothing"
    path.write_text(text)
    assert last_words(path) == words


def test_error_lines_and_tracebacks_are_errors_and_warnings_are_not(tmp_path: Path) -> None:
    path = tmp_path / "worker-1.jsonl"
    lines = ['{"level": "info"}', '{"level": "warning"}', '{"level": "error", "event": "x"}', "Traceback (most", ""]
    lines.append("tidegate: SIGTERM came before the work had begun; nothing to finish")
    path.write_text("\n".join(lines))
    assert errors_in([path]) == ['worker-1: {"level": "error", "event": "x"}', "worker-1: Traceback (most"]
