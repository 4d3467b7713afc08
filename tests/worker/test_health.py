"""Health: a worker that does nothing while messages wait is found, whatever else of it still runs."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.worker.conftest import PLAN, Bench, Work, until, working
from tidegate.entrypoints.cli import app
from tidegate.errors import ConfigError, Unreachable
from tidegate.testing import FakeWorkQueue
from tidegate.worker.handlers.run_handler import ThreadRunner
from tidegate.worker.health.check import HealthWatch
from tidegate.worker.health.server import ANY_ADDRESS, serve_health
from tidegate.worker.message import Message
from tidegate.worker.telemetry.memory import JobMemory


def watch_of(bench: Bench) -> HealthWatch:
    """Every worker has one."""
    (watch,) = (each for each in bench.service._telemetry.watches if isinstance(each, HealthWatch))
    return watch


async def turns(condition: Callable[[], object]) -> None:
    """Lets threads and the loop go on until the condition holds."""
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.to_thread(int)


async def eventually(condition: threading.Event) -> None:
    await asyncio.to_thread(condition.wait, 20)
    assert condition.is_set()


async def test_a_deadlocked_thread_pool_is_found_and_its_end_too() -> None:
    """Two real threads, each waiting for what the other holds; a clock that a test moves."""
    skipped_s = 0.0
    loop = asyncio.get_running_loop()
    locks = {"a": threading.Lock(), "b": threading.Lock()}
    holds = {"a": threading.Event(), "b": threading.Event()}
    rescue, over = threading.Event(), threading.Semaphore(0)

    def handler(message: Message) -> None:
        if message.body not in locks:
            return
        other = "b" if message.body == "a" else "a"
        with locks[message.body]:
            holds[message.body].set()
            holds[other].wait(20)
            while not locks[other].acquire(timeout=0.01):  # as `acquire()` does, but that the test can end it
                if rescue.is_set():
                    break
        over.release()

    queue = FakeWorkQueue(visibility_s=40_000)
    plan = replace(PLAN, poll_wait_s=1)
    async with working(
        Work(), queue, plan, runner=ThreadRunner(handler, slots=2), clock=lambda: loop.time() + skipped_s
    ) as bench:
        for _ in range(30):
            queue.send("quick")
        await turns(lambda: len(queue.deleted) == 30)
        watch = watch_of(bench)
        for body in ("a", "b", "waits behind them"):
            queue.send(body)
        await eventually(holds["a"])
        await eventually(holds["b"])
        await watch.look()
        assert watch.health.healthy
        skipped_s = 61.0
        await watch.look()
        assert not watch.health.healthy
        assert (watch.health.slots, watch.health.busy, watch.health.live) == (2, 2, 0)
        assert watch.health.line.startswith("stuck: 2 of 2 slots busy, 0 of them live; messages wait and for 6")
        rescue.set()
        await asyncio.to_thread(over.acquire)
        await asyncio.to_thread(over.acquire)
        await turns(lambda: len(queue.deleted) == 33)
        await watch.look()
        assert watch.health.healthy


@pytest.mark.looptime
async def test_an_idle_worker_is_healthy_for_ever(work: Work) -> None:
    async with working(work, plan=replace(PLAN, stuck_after_s=10.0)) as bench:
        await asyncio.sleep(3600)
        assert watch_of(bench).health.line == "healthy: idle, 2 slots free"


@pytest.mark.looptime
async def test_long_jobs_are_healthy_while_nothing_waits_or_nobody_can_tell() -> None:
    queue = FakeWorkQueue(visibility_s=600)
    async with working(Work(takes_s=7200), queue, replace(PLAN, stuck_after_s=600.0)) as bench:
        queue.send()
        queue.send()
        await asyncio.sleep(3600)
        assert watch_of(bench).health.healthy
        queue.fail("attributes", *[Unreachable("sqs:GetQueueAttributes", "orders", "no answer")] * 10)
        queue.send()
        await asyncio.sleep(60)
        assert watch_of(bench).health.healthy
        await asyncio.sleep(120)
        assert not watch_of(bench).health.healthy


@pytest.mark.looptime
async def test_a_handler_that_says_that_it_goes_on_is_a_sign_of_life() -> None:
    queue = FakeWorkQueue(visibility_s=600)

    async def steps(message: Message) -> None:
        for _ in range(100):
            await asyncio.sleep(60)
            message.progress()

    async with working(steps, queue, replace(PLAN, slots=1, stuck_after_s=100.0, grace_s=1.0)) as bench:
        queue.send()
        queue.send()
        await asyncio.sleep(3600)
        assert watch_of(bench).health.healthy


async def asked(port: int, request: bytes) -> tuple[int, dict[str, object]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if body else {}


async def test_probes_are_answered_by_path_and_by_what_is_so() -> None:
    well = True
    server = await serve_health("127.0.0.1", 0, {"/healthz": lambda: (well, {"line": "as it is"})})
    port = server.sockets[0].getsockname()[1]
    get = b"GET /healthz HTTP/1.1\r\nHost: worker\r\n\r\n"
    assert await asked(port, get) == (200, {"line": "as it is"})
    well = False
    assert await asked(port, get) == (503, {"line": "as it is"})
    assert await asked(port, b"HEAD /healthz?x=1 HTTP/1.1\r\n\r\n") == (503, {})
    assert (await asked(port, b"GET / HTTP/1.1\r\n\r\n"))[0] == 404
    assert (await asked(port, b"POST /healthz HTTP/1.1\r\n\r\n"))[0] == 405
    assert (await asked(port, b"nonsense\r\n\r\n"))[0] == 400
    server.close()
    await server.wait_closed()


async def test_a_worker_answers_probes_and_is_ready_from_its_first_poll_until_it_is_told_to_leave() -> None:
    taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    taken.close()
    await taken.wait_closed()
    queue, release = FakeWorkQueue(), asyncio.Event()

    async def handler(message: Message) -> None:
        await release.wait()

    async with working(handler, queue, replace(PLAN, health_port=port, poll_wait_s=1)) as bench:
        queue.send()
        await turns(queue.in_flight)
        ready = b"GET /readyz HTTP/1.1\r\n\r\n"
        assert await asked(port, ready) == (200, {"state": "running", "reason": ""})
        assert (await asked(port, b"GET /healthz HTTP/1.1\r\n\r\n"))[0] == 200
        bench.service.stop("SIGTERM")
        assert (await asked(port, ready))[0] == 503
        assert (await asked(port, b"GET /healthz HTTP/1.1\r\n\r\n"))[0] == 200
        release.set()
        await bench.serving


async def test_a_port_that_is_taken_is_one_clear_error() -> None:
    taken = await asyncio.start_server(lambda reader, writer: None, ANY_ADDRESS, 0)
    port = taken.sockets[0].getsockname()[1]
    with pytest.raises(ConfigError, match=f"health_port = {port}: can't be listened on .*; choose another"):
        async with working(Work(), plan=replace(PLAN, health_port=port)) as bench:
            await bench.serving
    taken.close()


def health(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["health", *options])
    return result.exit_code, (result.stdout + result.stderr).strip()


@pytest.mark.looptime
async def test_the_health_file_is_what_tidegate_health_says(work: Work, tmp_path: Path) -> None:
    file = tmp_path / "health.json"
    async with working(work, plan=replace(PLAN, health_file=file)) as bench:
        await until(lambda: bench.queue.calls)
        await until(file.exists)
        told = json.loads(file.read_text())
    assert told["line"] == "healthy: idle, 2 slots free"


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ('{"at_s": 1e12, "healthy": true, "line": "healthy: idle"}', 0, "healthy: idle"),
        ('{"at_s": 1e12, "healthy": false, "line": "stuck: it is"}', 1, "stuck: it is"),
        ('{"at_s": 5.0, "healthy": true, "line": "healthy: idle"}', 1, "stuck: the last word is"),
        ("{", 1, "can't be read"),
        ("[]", 1, "can't be read"),
        ("[" * 100_000, 1, "can't be read"),
        (None, 1, "worker or controller has not started, or its health_file is another"),
    ],
)
def test_tidegate_health_is_one_line_and_an_exit_code(tmp_path: Path, text: str | None, code: int, says: str) -> None:
    file = tmp_path / "health.json"
    if text is not None:
        file.write_text(text)
    found, said = health("--file", str(file))
    assert found == code
    assert says in said
    assert len(said.splitlines()) == 1


def test_tidegate_health_without_a_file_says_what_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEGATE_WORKER_HEALTH_FILE", raising=False)
    found, said = health()
    assert found == 2
    assert "no --file, TIDEGATE_WORKER_HEALTH_FILE or TIDEGATE_HEALTH_FILE: write --file PATH" in said
    assert len(said.splitlines()) == 1


@pytest.mark.looptime
async def test_a_disk_that_takes_no_health_file_ends_nothing_and_is_said_once_and_once_more_when_it_does(
    work: Work, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    file = tmp_path / "missing" / "health.json"
    async with working(work, plan=replace(PLAN, health_file=file)):
        await asyncio.sleep(60)
        assert caplog.text.count(f"the health file {file}: can't be written (No such file or directory)") == 1
        file.parent.mkdir()
        await until(file.exists)
        await asyncio.sleep(60)
        assert caplog.text.count(f"the health file {file}: it is written again") == 1


def test_what_a_job_adds_to_the_process_is_shared_among_those_at_once() -> None:
    peaks = iter([100, 100, 500])
    memory = JobMemory(lambda: next(peaks))
    assert memory.per_job_bytes() is None
    memory.busy(1)
    memory.busy(4)
    memory.busy(2)
    assert memory.per_job_bytes() == 0
    assert memory.per_job_bytes() == 100


@pytest.mark.looptime
async def test_a_fleet_that_starts_at_once_sends_its_first_polls_at_random_times(work: Work) -> None:
    assert [await first_poll_s(work, draw) for draw in (0.0, 0.25, 0.9)] == pytest.approx([0.0, 5.0, 18.0])


async def first_poll_s(work: Work, draw: float) -> float:
    started_s = asyncio.get_running_loop().time()
    async with working(work, plan=replace(PLAN, start_delay_s=20.0), random=lambda: draw) as bench:
        await until(lambda: bench.queue.calls)
        return bench.queue.calls[0].at_s - started_s


@pytest.mark.looptime
async def test_a_worker_told_to_leave_before_its_first_poll_leaves_at_once(work: Work) -> None:
    async with working(work, plan=replace(PLAN, start_delay_s=3600.0)) as bench:
        await asyncio.sleep(1)
        await bench.stop()
        assert asyncio.get_running_loop().time() < 10
        assert bench.queue.calls == []
