"""Recordings on disk: bounded, whole lines only, and never a reason for a tick to fail."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.core.observations import NOW_S, POOL, observe, queue
from tidegate.core.decide import decide
from tidegate.core.model import PoolState
from tidegate.core.stored.codec import to_json
from tidegate.core.stored.recording import Record
from tidegate.errors import RecordingUnreadable
from tidegate.stores.recording import RecordingFile, older, read_recording


def record(number: int = 0, pool: str = "orders") -> Record:
    at_s = NOW_S + 10 * number
    seen = observe(queue(number, at_s=at_s), at_s=at_s)
    named = replace(POOL, name=pool)
    return Record(named, PoolState(), seen, decide(named, PoolState(), seen)[0])


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def test_what_was_kept_is_read_again_in_order(file: Path, said: list[str]) -> None:
    kept = [record(n) for n in range(5)]
    recording = RecordingFile(file, 1_000_000, said.append)
    for each in kept:
        recording.keep(each)
    assert list(read_recording(file)) == kept
    assert said == []
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_older_half_goes_when_the_newer_is_full_and_no_line_is_cut(file: Path, said: list[str]) -> None:
    line = len(to_json(record(10)).encode()) + 1
    recording = RecordingFile(file, 6 * line + 20, said.append)
    for n in range(10, 30):
        recording.keep(record(n))
        assert sum(path.stat().st_size for path in file.parent.iterdir()) <= 6 * line + 20
    numbers = [int(r.decision.at_s - NOW_S) // 10 for path in (older(file), file) for r in read_recording(path)]
    assert numbers == list(range(numbers[0], 30))
    assert len(numbers) > 3


def test_a_line_larger_than_the_half_is_kept_alone(file: Path, said: list[str]) -> None:
    recording = RecordingFile(file, 10, said.append)
    recording.keep(record(1))
    recording.keep(record(2))
    assert [list(read_recording(path)) for path in (older(file), file)] == [[record(1)], [record(2)]]


def test_what_cannot_be_written_is_lost_and_said_once_and_once_more_when_it_works_again(
    tmp_path: Path, said: list[str]
) -> None:
    file = tmp_path / "away" / "decisions.jsonl"
    recording = RecordingFile(file, 1_000_000, said.append)
    recording.keep(record(1))
    recording.keep(record(2))
    assert said == [
        f"decisions can't be recorded in {file}: No such file or directory; they are made all the same",
    ]
    file.parent.mkdir()
    recording.keep(record(3))
    recording.keep(record(4))
    assert said[1:] == [f"decisions are recorded in {file} again; 2 were not"]
    assert list(read_recording(file)) == [record(3), record(4)]


def test_a_disk_that_fills_up_in_the_middle_of_a_line_leaves_nothing_of_it(
    file: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = RecordingFile(file, 1_000_000, said.append)
    recording.keep(record(1))
    write, room = os.write, [100]

    def full(descriptor: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        fits, room[0] = data[: room[0]], 0
        return write(descriptor, fits)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        recording.keep(record(2))
    assert "No space left on device" in said[0]
    recording.keep(record(3))
    assert list(read_recording(file)) == [record(1), record(3)]


def test_a_full_device_stops_nobody(said: list[str]) -> None:
    RecordingFile(Path("/dev/full"), 1_000_000, said.append).keep(record())
    assert len(said) == 1


def test_a_pipe_that_nobody_reads_or_that_is_full_stops_nobody(tmp_path: Path, said: list[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    recording = RecordingFile(pipe, 1_000_000, said.append)
    recording.keep(record(1))
    assert len(said) == 1
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for n in range(200):
            recording.keep(record(n))
        assert "Resource temporarily unavailable" in said[-1]
        os.read(reader, 1_000_000)
        recording.keep(record(7))
        assert os.read(reader, 1_000_000).decode().endswith(to_json(record(7)) + "\n")
    finally:
        os.close(reader)


def test_a_number_that_json_has_not_is_lost_with_its_record(file: Path, said: list[str]) -> None:
    recording = RecordingFile(file, 1_000_000, said.append)
    recording.keep(replace(record(), pool=replace(POOL, target_wait_s=float("inf"))))
    assert len(said) == 1
    assert not file.exists()


def test_threads_never_mix_their_lines(file: Path, said: list[str]) -> None:
    recording = RecordingFile(file, 100_000_000, said.append)

    def keep(pool: str) -> None:
        for n in range(20):
            recording.keep(record(n, pool))

    threads = [threading.Thread(target=keep, args=(f"pool{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(list(read_recording(file))) == 160
    assert said == []


def lines(*numbers: int) -> bytes:
    return b"".join(to_json(record(n)).encode() + b"\n" for n in numbers)


def test_a_last_line_without_its_newline_is_whole_if_it_can_be_read(file: Path) -> None:
    file.write_bytes(lines(1, 2)[:-1])
    assert list(read_recording(file)) == [record(1), record(2)]


def faulty() -> Iterator[tuple[bytes | None, str]]:
    yield None, "can't be opened: no such file or directory; name a recording"
    yield b"", "is empty; let the controller run for a tick or two"
    yield b"t_s,count\n0,1\n", "is no recording of tidegate; name a file that `tidegate run --record FILE` wrote"
    yield b'{"event": "decision"}\n', "is no recording of tidegate"
    yield bytes(range(256)), "is no recording of tidegate"
    yield (
        lines(1, 2)[:-40],
        "ends in the middle of line 2: its writer was stopped there; keep the whole ones: head -n 1",
    )
    later = lines(1).replace(b'"schema":1,"kind"', b'"schema":9,"kind"')
    yield later, "line 1 has schema 9, this tidegate reads schema 1; run the tidegate version that wrote it"
    yield lines(1) + b"{}\n" + lines(2), "line 2 has schema None"
    yield lines(1) + b"\xff\n" + lines(2), "line 2 is damaged: not UTF-8; take the line out: sed -i 2d"
    yield lines(1).replace(b'"target_wait_s":30,', b'"target_wait_s":"x",'), "line 1 is damaged: pool.target_wait_s"


def test_a_named_pipe_is_no_recording_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingUnreadable, match="can't be opened: is a named pipe; name a recording"):
        list(read_recording(tmp_path / "pipe"))


@pytest.mark.parametrize(("content", "said"), list(faulty()))
def test_what_cannot_be_replayed_says_why_and_what_to_do(file: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RecordingUnreadable) as caught:
        list(read_recording(file))
    assert str(caught.value).startswith(f"recording {file} ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
