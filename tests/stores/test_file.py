"""The file store where files differ from other stores: several processes, writers that die, bad disks."""

import asyncio
import fcntl
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tests.contract.fleet import report
from tests.stores import writers
from tidegate.core.model import PoolState
from tidegate.core.reports import WorkerReport
from tidegate.errors import Denied, StateUnreadable, Unreachable
from tidegate.ports import StoredState
from tidegate.stores.file import FileStore


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path)


def reports_of(tmp_path: Path) -> set[str]:
    return {path.name for path in (tmp_path / "mail.pool" / "workers").iterdir()}


@pytest.mark.integration
def test_no_update_is_lost_between_processes(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as processes:
        list(processes.map(writers.count_up, [str(tmp_path)] * 3, [30] * 3))
    assert FileStore(tmp_path).load("mail") == StoredState(PoolState(desired=90), 90)


@pytest.mark.integration
def test_a_writer_killed_with_the_lock_in_its_hands_does_not_keep_it(tmp_path: Path, store: FileStore) -> None:
    store.save("mail", PoolState(desired=1), 0)
    command = [sys.executable, "-m", "tests.stores.writers", str(tmp_path / "mail.pool" / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
        holder.wait(10)
        assert store.save("mail", PoolState(desired=2), 1) == 2


def test_a_state_outlives_the_store_that_wrote_it(tmp_path: Path, store: FileStore) -> None:
    store.save("mail", PoolState(desired=3), 0)
    assert FileStore(tmp_path).load("mail") == StoredState(PoolState(desired=3), 1)


async def test_a_writer_that_died_half_way_leaves_what_was_there(tmp_path: Path, store: FileStore) -> None:
    store.save("mail", PoolState(desired=3), 0)
    await store.put("mail", report("i-1"), 1000.0)
    (tmp_path / "mail.pool" / "state.json.new").write_text('{"version": 2, "sta')
    (tmp_path / "mail.pool" / "workers" / "i-1.json.new").write_text('{"expi')
    assert store.load("mail") == StoredState(PoolState(desired=3), 1)
    assert store.workers("mail", 0.0) == (report("i-1"),)
    assert store.save("mail", PoolState(desired=4), 1) == 2
    await store.put("mail", report("i-2"), 1000.0)
    assert reports_of(tmp_path) == {"i-1.json", "i-2.json"}


def test_a_save_that_fails_before_the_last_step_changes_nothing(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save("mail", PoolState(desired=3), 0)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", fail)
        with pytest.raises(Unreachable, match="No space left on device; check the directory and its disk"):
            store.save("mail", PoolState(desired=4), 1)
    assert store.load("mail") == StoredState(PoolState(desired=3), 1)


async def test_what_has_expired_is_removed_from_the_disk_by_the_next_report(tmp_path: Path, store: FileStore) -> None:
    for worker, expires_at_s in [("i-1", 899.0), ("i-2", 900.0), ("i-3", 901.0)]:
        await store.put("mail", report(worker), expires_at_s)
    (tmp_path / "mail.pool" / "workers" / "damaged.json").write_text("{")

    await store.put("mail", report("i-4"), 1000.0)

    assert reports_of(tmp_path) == {"i-3.json", "i-4.json", "damaged.json"}


def files_in(directory: Path) -> dict[str, float]:
    """Every file and directory with the time of its last change."""
    return {str(path): path.stat().st_mtime_ns for path in [directory, *directory.rglob("*")]}


def test_reading_what_was_never_written_makes_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "state")
    assert store.load("mail") == StoredState()
    assert store.workers("mail", 0.0) == ()
    assert list(tmp_path.iterdir()) == []


async def test_reading_changes_nothing_not_even_what_has_expired(tmp_path: Path, store: FileStore) -> None:
    store.save("mail", PoolState(), 0)
    await store.put("mail", report("i-1"), 1000.0)
    (tmp_path / "mail.pool" / "workers" / "i-2.json.new").write_text("{")
    before = files_in(tmp_path)
    assert store.load("mail").version == 1
    assert store.workers("mail", 2000.0) == ()
    assert files_in(tmp_path) == before


async def test_reading_waits_for_nobody_who_writes(tmp_path: Path, store: FileStore) -> None:
    await store.put("mail", report("i-1"), 1000.0)
    with (tmp_path / "mail.pool" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert store.load("mail") == StoredState()
        assert store.workers("mail", 0.0) == (report("i-1"),)


async def test_a_report_that_is_removed_while_it_is_looked_for_is_no_fault(
    tmp_path: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.put("mail", report("i-1"), 1000.0)
    await store.put("mail", report("i-2"), 1000.0)
    read = Path.read_bytes

    def removing(path: Path) -> bytes:
        path.with_name("i-2.json").unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", removing)
    assert store.workers("mail", 0.0) == (report("i-1"),)


async def test_files_of_others_are_let_be(tmp_path: Path, store: FileStore) -> None:
    await store.put("mail", report("i-1"), 1000.0)
    (tmp_path / "mail.pool" / "workers" / ".DS_Store").write_bytes(b"\x00")
    assert store.workers("mail", 0.0) == (report("i-1"),)
    assert ".DS_Store" in reports_of(tmp_path)


async def test_a_heartbeat_that_waits_for_the_lock_does_not_hold_up_the_loop(tmp_path: Path, store: FileStore) -> None:
    """The same loop keeps the leases of the messages in hand."""
    store.save("mail", PoolState(), 0)
    with (tmp_path / "mail.pool" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        putting = asyncio.create_task(store.put("mail", report("i-1"), 1000.0))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not putting.done()
        fcntl.flock(lock, fcntl.LOCK_UN)
        await putting
    assert store.workers("mail", 0.0) == (report("i-1"),)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"text"', "{}", '{"version": "1", "state": {}}', '{"version": 1}', '{"version": 1, "state": []}'],
)
def test_a_damaged_file_is_refused_by_name_for_reading(tmp_path: Path, store: FileStore, text: str) -> None:
    store.save("mail", PoolState(), 0)
    (tmp_path / "mail.pool" / "state.json").write_text(text)
    with pytest.raises(StateUnreadable, match="state of pool mail can't be read"):
        store.load("mail")


@pytest.mark.parametrize("depth", [5, *range(850, 1050, 3), 100_000])
async def test_what_is_nested_too_deep_is_refused_like_all_that_is_damaged(
    tmp_path: Path, store: FileStore, depth: int
) -> None:
    """Some depths can be read and not handed on."""
    nested = "[" * depth + "]" * depth
    await store.put("mail", report("i-1"), 1000.0)
    (tmp_path / "mail.pool" / "state.json").write_text(
        f'{{"version": 1, "state": {{"schema": 1, "desired": {nested}}}}}'
    )
    (tmp_path / "mail.pool" / "workers" / "i-1.json").write_text(
        f'{{"expires_at_s": 1e9, "report": {{"slots": {nested}}}}}'
    )

    with pytest.raises(StateUnreadable, match="state of pool mail can't be read"):
        store.load("mail")
    with pytest.raises(StateUnreadable, match=r"report i-1\.json in pool mail"):
        store.workers("mail", 0.0)
    await store.put("mail", report("i-2"), 1000.0)


def test_a_file_that_is_not_json_is_not_written_over(tmp_path: Path, store: FileStore) -> None:
    store.save("mail", PoolState(), 0)
    (tmp_path / "mail.pool" / "state.json").write_text("{")
    with pytest.raises(StateUnreadable):
        store.save("mail", PoolState(), 1)


@pytest.mark.parametrize("text", ["{", "{}", '{"expires_at_s": 1000.0}', '{"expires_at_s": 1000.0, "report": {}}'])
async def test_a_damaged_report_is_refused_and_its_file_named(tmp_path: Path, store: FileStore, text: str) -> None:
    await store.put("mail", report("i-1"), 1000.0)
    (tmp_path / "mail.pool" / "workers" / "i-1.json").write_text(text)
    with pytest.raises(StateUnreadable, match=r"report i-1\.json in pool mail"):
        store.workers("mail", 0.0)


def test_a_directory_that_can_not_be_is_said_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unreachable, match=r"file:access on .*file/mail\.pool got no answer"):
        FileStore(tmp_path / "file").load("mail")


@pytest.mark.parametrize(
    ("target", "name", "use"),
    [
        (fcntl, "flock", lambda store: store.save("mail", PoolState(), 0)),
        (Path, "read_bytes", lambda store: store.load("mail")),
        (Path, "iterdir", lambda store: store.workers("mail", 0.0)),
    ],
)
def test_a_directory_that_may_not_be_used_is_denied(
    store: FileStore,
    monkeypatch: pytest.MonkeyPatch,
    target: object,
    name: str,
    use: Callable[[FileStore], object],
) -> None:
    """Patched, because root, as whom tests in containers run, may use every directory."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(target, name, refuse)
    with pytest.raises(Denied, match="let the user that tidegate runs as use it"):
        use(store)


async def test_a_report_that_nobody_waits_for_any_more_does_not_overwrite_the_one_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that leaves stops waiting for its heartbeat and sends its last word at once."""
    store = FileStore(tmp_path)
    write, first_may_go_on = store._put, threading.Event()

    def slowly(pool: str, one: WorkerReport, expires_at_s: float) -> None:
        if one.busy:
            first_may_go_on.wait(10)
        write(pool, one, expires_at_s)

    monkeypatch.setattr(store, "_put", slowly)
    first = asyncio.create_task(store.put("mail", report("w1", busy=1), 1000.0))
    await asyncio.sleep(0)
    first.cancel()
    last = asyncio.create_task(store.put("mail", report("w1", busy=0), 1000.0))
    await asyncio.sleep(0)
    first_may_go_on.set()
    await last
    assert store.workers("mail", 0.0) == (report("w1", busy=0),)
