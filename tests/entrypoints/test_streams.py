"""Streams that fail: the line is lost, the program is not."""

import errno
import io
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from tidegate.entrypoints.show import say
from tidegate.entrypoints.streams import Lossy, ending_well


@pytest.fixture
def file(tmp_path: Path) -> Iterator[TextIO]:
    with (tmp_path / "log").open("w+", encoding="utf-8") as opened:
        yield opened


def content(file: TextIO) -> str:
    return Path(file.name).read_text(encoding="utf-8")


def test_a_line_is_in_the_file_at_once_and_as_utf_8(file: TextIO) -> None:
    Lossy(file).write("orders: 2 → 4\n")

    assert content(file) == "orders: 2 → 4\n"


def test_what_the_encoding_has_not_is_written_as_an_escape(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w", encoding="ascii") as file:
        Lossy(file).write("2 → 4 \udc80\n")

        assert content(file) == "2 \\u2192 4 \\udc80\n"


def test_a_stream_in_memory_is_written_to_as_well() -> None:
    stream = io.StringIO()

    Lossy(stream).write("one\n")

    assert stream.getvalue() == "one\n"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EAGAIN])
def test_a_line_that_can_not_be_written_is_lost_and_the_next_is_tried_again(
    file: TextIO, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    lossy = Lossy(file)
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fail)
        assert lossy.write("one\n") == 4
    lossy.write("two\n")
    lossy.flush()

    assert content(file) == "two\n"


def test_after_a_line_that_was_cut_the_next_is_whole(file: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_three_bytes_and_then_none(descriptor: int, data: bytes) -> int:
        if room.pop():
            return write(descriptor, data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    write, room = os.write, [False, True]
    lossy = Lossy(file)
    with monkeypatch.context() as full:
        full.setattr(os, "write", write_three_bytes_and_then_none)
        lossy.write("one two\n")
    lossy.write("three\n")
    lossy.write("four\n")

    assert content(file) == "one\nthree\nfour\n"


def test_a_write_in_pieces_is_a_whole_line(file: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))

    Lossy(file).write("one two\n")
    Lossy(file).write("three\n")

    assert content(file) == "one two\nthree\n"


def test_a_stream_that_was_closed_loses_everything_quietly(file: TextIO) -> None:
    file.close()

    lossy = Lossy(file)

    assert lossy.write("one\n") == 4
    assert not lossy.isatty()


def test_a_terminal_is_known_as_one() -> None:
    leader, follower = pty.openpty()
    with open(leader, "rb"), open(follower, "w", encoding="utf-8") as terminal:
        assert Lossy(terminal).isatty()


@pytest.mark.parametrize("unwritten", [OSError(errno.ENOENT, "No such file", "orders.csv"), ValueError("orders")])
def test_a_failure_that_is_not_of_stdout_comes_out_as_it_is(
    monkeypatch: pytest.MonkeyPatch, unwritten: Exception
) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    with pytest.raises(type(unwritten)) as raised, ending_well():
        raise unwritten

    assert raised.value is unwritten


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_the_streams_encoding_has_not_is_written_all_the_same(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A C locale, or PYTHONIOENCODING: `validate` has an arrow in each of its lines."""
    kept = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(kept, encoding=encoding))
    with ending_well():
        say("orders → prod")
    assert kept.getvalue() == b"orders \\u2192 prod\n"
