"""Real worker processes against the sandbox's SQS endpoint: signals, exit codes, kill -9."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO

import boto3
import pytest

from tidegate.sandbox.sqs import SqsServer

pytestmark = pytest.mark.integration

Start = Callable[..., "subprocess.Popen[str]"]


class Queue:
    """One queue of a running endpoint, as a test sends to it and looks at it."""

    def __init__(self, server: SqsServer) -> None:
        self.server = server
        self._sqs = boto3.client(
            "sqs",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self.url = self.create()

    def create(self) -> str:
        """Its URL, which is the same each time."""
        url: str = self._sqs.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "2"})["QueueUrl"]
        return url

    def delete(self) -> None:
        self._sqs.delete_queue(QueueUrl=self.url)

    def send(self, *bodies: str) -> None:
        for body in bodies:
            self._sqs.send_message(QueueUrl=self.url, MessageBody=body)

    def counts(self) -> tuple[int, int]:
        """Visible, in flight."""
        seen = self.server.snapshot()["orders"]
        return seen.visible, seen.in_flight


@pytest.fixture
def queue() -> Iterator[Queue]:
    with SqsServer() as server:
        yield Queue(server)


@pytest.fixture
def start(queue: Queue) -> Iterator[Start]:
    processes: list[subprocess.Popen[str]] = []

    def start(handler: str, **settings: str) -> "subprocess.Popen[str]":
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TIDEGATE_"))}
        environment |= {
            "AWS_ENDPOINT_URL_SQS": queue.server.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "TIDEGATE_WORKER_QUEUE": queue.url,
            "TIDEGATE_WORKER_POLL_WAIT": "1",
            **{f"TIDEGATE_WORKER_{name.upper()}": value for name, value in settings.items()},
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "tidegate", "work", f"tests.worker.handlers:{handler}"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def lines_until(stream: IO[str], words: str) -> Iterator[str]:
    """The lines up to the one with these words; an end without them is a failure."""
    for each in stream:
        yield each
        if words in each:
            return
    pytest.fail(f"no line said {words}")


def let_go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_a_worker_works_a_queue_off_and_leaves_with_exit_code_0(queue: Queue, start: Start) -> None:
    bodies = [f"b{i}" for i in range(50)]
    queue.send(*bodies)
    worker = start("quick", slots="8")
    assert sorted(line(worker) for _ in bodies) == sorted(f"done {body}" for body in bodies)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait() == 0
    assert queue.counts() == (0, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("handler", ["waits", "waits_async"])
def test_a_message_in_mid_work_is_finished_and_deleted_after_the_signal(
    queue: Queue, start: Start, handler: str, number: signal.Signals
) -> None:
    queue.send("one")
    worker = start(handler)
    assert line(worker) == "started one"
    worker.send_signal(number)
    let_go(worker)
    assert line(worker) == "done one"
    assert worker.wait() == 0
    assert queue.counts() == (0, 0)


@pytest.mark.parametrize("handler", ["never_ends", "waits_async"])
def test_what_does_not_end_within_the_grace_is_visible_again_and_the_worker_still_exits_0(
    queue: Queue, start: Start, handler: str
) -> None:
    queue.send("one")
    worker = start(handler, grace="1", visibility_timeout="600")
    assert line(worker) == "started one"
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=10) == 0
    assert queue.counts() == (1, 0)


def test_a_deadlocked_pool_of_threads_gives_its_messages_back_and_ends_with_1_for_the_platform(
    queue: Queue, start: Start
) -> None:
    queue.send("a", "b")
    worker = start("deadlocks", slots="2", stuck_after="2s", grace="1", visibility_timeout="600")
    assert {line(worker), line(worker)} == {"started a", "started b"}
    queue.send("waits behind them")
    _, errors = worker.communicate(timeout=40)
    assert worker.returncode == 1
    assert "tidegate: the worker is wedged: stuck: 2 of 2 slots busy, 0 of them live" in errors
    assert "Traceback" not in errors
    assert queue.counts() == (3, 0)


def test_what_a_worker_that_was_killed_held_is_done_by_the_next(queue: Queue, start: Start) -> None:
    queue.send("one")
    killed = start("never_ends")
    assert line(killed) == "started one"
    killed.kill()
    killed.wait()
    assert line(start("quick")) == "done one"


def test_a_handler_longer_than_the_lease_is_not_given_to_a_second_worker(queue: Queue, start: Start) -> None:
    """The lease is 2 s; the second worker polls all the time; three seconds of its empty polls are the proof."""
    queue.send("one")
    first = start("waits")
    assert line(first) == "started one"
    second = start("quick")
    queue.server.snapshot()
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(timeout=5)
    assert queue.counts() == (0, 1)
    let_go(first)
    assert line(first) == "done one"
    for worker in (first, second):
        worker.send_signal(signal.SIGTERM)
        assert worker.wait() == 0
    assert second.stdout is not None
    assert second.stdout.read() == ""


def test_a_blocked_loop_of_async_handlers_does_not_starve_the_leases(queue: Queue, start: Start) -> None:
    """The mistake of agno #9512: renewal shares the loop that user code blocks."""
    queue.send("one")
    worker = start("blocks_its_loop")
    assert line(worker) == "started one"
    with pytest.raises(subprocess.TimeoutExpired):
        worker.wait(timeout=4)
    assert queue.counts() == (0, 1)
    let_go(worker)
    assert line(worker) == "done one"
    worker.send_signal(signal.SIGTERM)
    assert worker.wait() == 0
    assert queue.counts() == (0, 0)


@pytest.mark.parametrize(
    ("handler", "settings", "says"),
    [
        ("quick", {"queue": "nowhere"}, "sqs:GetQueueUrl on nowhere found nothing"),
        ("quick", {"slots": "none"}, "slots = 'none'"),
        ("slow", {}, "module tests.worker.handlers has no slow"),
        ("NOT_CALLABLE", {}, "NOT_CALLABLE is int, which can't be called"),
    ],
)
def test_a_worker_that_cannot_start_says_why_in_one_line_and_exits_2(
    start: Start, handler: str, settings: dict[str, str], says: str
) -> None:
    worker = start(handler, **settings)
    _, errors = worker.communicate()
    assert worker.returncode == 2
    assert says in errors
    assert "Traceback" not in errors


def test_an_endpoint_that_is_not_there_yet_is_said_at_once_and_a_stop_meanwhile_is_no_error(
    queue: Queue, start: Start
) -> None:
    queue.server.stop()
    worker = start("quick")
    assert worker.stderr is not None
    said = worker.stderr.readline()
    assert "the queue can't be reached yet" in said
    assert "sqs:GetQueueAttributes" in said
    assert "got no answer" in said
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=20)
    assert worker.returncode == 0
    assert "Traceback" not in errors


def test_a_copy_that_came_while_the_process_was_stopped_is_not_run_beside_the_one_that_another_worker_got(
    queue: Queue, start: Start
) -> None:
    """The lease is 2 s. The stopped worker's poll is answered, and the answer waits in its socket until SIGCONT."""
    stopped = start("quick", poll_wait="20")
    queue.send("zero")
    assert line(stopped) == "done zero"
    stop_in_a_poll(stopped, queue)
    other = start("quick")
    assert line(other) == "done one"
    other.send_signal(signal.SIGTERM)
    assert other.wait() == 0
    stopped.send_signal(signal.SIGCONT)
    queue.send("two")
    assert line(stopped) == "done two"
    stopped.send_signal(signal.SIGTERM)
    queue.send("three")  # ends the poll, if another is under way
    assert stopped.wait() == 0


def stop_in_a_poll(worker: "subprocess.Popen[str]", queue: Queue) -> None:
    """The worker stands still, and "one" was handed to its poll."""
    for _ in range(5):
        while queue.counts() != (0, 0):  # what is done is deleted, by which time the next poll has been sent
            with pytest.raises(subprocess.TimeoutExpired):
                worker.wait(timeout=0.1)
        worker.send_signal(signal.SIGSTOP)
        os.waitpid(worker.pid, os.WUNTRACED)
        queue.send("one")
        if queue.counts() == (0, 1):
            return
        worker.send_signal(signal.SIGCONT)  # it was between two polls
        assert line(worker) == "done one"
    raise AssertionError("it never was in a poll")


def test_a_workers_log_tells_its_start_and_its_leave_and_never_a_body(queue: Queue, start: Start) -> None:
    queue.send("card-4111")
    worker = start("waits", log_level="debug")
    assert line(worker) == "started card-4111"
    worker.send_signal(signal.SIGTERM)
    let_go(worker)
    _, errors = worker.communicate(timeout=20)
    assert "starts: slots 1, lease 2 s, poll 1 s, grace 25 s" in errors
    assert "worker leaves (SIGTERM)" in errors
    assert "worker stopped: 1 completed, 0 failed" in errors
    assert "4111" not in errors


def test_a_queue_that_is_deleted_in_mid_work_and_made_again_ends_no_worker(queue: Queue, start: Start) -> None:
    queue.send("one")
    worker = start("waits")
    assert line(worker) == "started one"
    queue.delete()
    let_go(worker)
    assert line(worker) == "done one"
    assert worker.stderr is not None
    said = list(lines_until(worker.stderr, "found nothing"))
    queue.create()
    queue.send("two")
    assert line(worker) == "started two"
    assert line(worker) == "done two"
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=20)
    assert worker.returncode == 0
    assert "Traceback" not in "".join([*said, errors])
