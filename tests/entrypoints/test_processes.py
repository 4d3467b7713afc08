"""The real command as a real process: it ends as it should, and whatever is wrong is one clear line each."""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.entrypoints.stand_ins import AskedQueue, HeldQueue, denies, endpoint, nobody, silence

pytestmark = pytest.mark.integration

BASH = shutil.which("bash") or "/bin/bash"
WAIT_S = 20
UNREACHABLE_S = 5
STOP_S = 2
START_S = 5
"""Far more than a start takes (half a second here): the tests share the machine."""

SETTINGS = """\
region = "eu-central-1"
state_dir = "state"

[pools.orders]
queue = "orders"
target_wait = "30s"
ecs = { cluster = "prod", service = "orders" }
max_workers = 10
service_time_hint = "1s"
"""
SECOND_POOL = """
[pools.mail]
queue = "nowhere"
target_wait = "30s"
asg = "mail-workers"
max_workers = 10
service_time_hint = "1s"
"""


class Place:
    """A directory with settings, and the environment that the command runs in."""

    def __init__(self, directory: Path, endpoint_url: str) -> None:
        self.directory = directory
        self.file = directory / "tidegate.toml"
        self.file.write_text(SETTINGS)
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "AWS_ENDPOINT_URL": endpoint_url,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tidegate", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.directory, env=self.env, stdout=pipe, stderr=pipe, text=True)

    def tidegate(self, *arguments: str) -> tuple[int, str, list[str]]:
        """Exit code, stdout, lines of stderr."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
        return process.returncode, out, err.splitlines()


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """The URL of an account with the ECS service prod/orders and the queue "orders"."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    client(url, "sqs").create_queue(QueueName="orders")
    ecs = client(url, "ecs")
    ecs.create_cluster(clusterName="prod")
    ecs.register_task_definition(
        family="orders", containerDefinitions=[{"name": "worker", "image": "worker", "memory": 64}]
    )
    ecs.create_service(cluster="prod", serviceName="orders", taskDefinition="orders", desiredCount=1)
    yield url
    server.stop()


def client(url: str, service: str) -> Any:
    # `Any`: the stubs have one overload per service name, and here the name is a variable.
    make: Any = boto3.client
    return make(
        service,
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


@pytest.fixture
def place(tmp_path: Path, moto: str) -> Place:
    return Place(tmp_path, moto)


def desired_count(url: str) -> int:
    (service,) = client(url, "ecs").describe_services(cluster="prod", services=["orders"])["services"]
    return int(service["desiredCount"])


def test_a_stop_in_the_middle_of_a_tick_lets_it_decide_act_and_end_with_0(place: Place, moto: str) -> None:
    queue = HeldQueue()
    with endpoint(queue) as sqs_url:
        place.env["AWS_ENDPOINT_URL_SQS"] = sqs_url
        before = desired_count(moto)
        process = place.start("run")
        try:
            assert queue.held.wait(WAIT_S), "the first tick never asked for the counts"
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGINT)
            queue.release.set()
            out, err = process.communicate(timeout=WAIT_S)
        finally:
            queue.release.set()
            process.kill()
            process.wait(WAIT_S)

    lines = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 0, err
    assert [line["event"] for line in lines] == ["started", "decision", "stopped"]
    decided = lines[1]
    assert (decided["current"], decided["wrote"]) == (before, True)
    assert desired_count(moto) == decided["desired"] > before


def test_once_decides_and_a_second_run_knows_what_the_first_asked_for(place: Place) -> None:
    code, out, err = place.tidegate("once", "--json")
    assert (code, err) == (0, [])
    asked_for = json.loads(out)["decision"]["desired"]

    code, out, err = place.tidegate("status")

    assert (code, err) == (0, [])
    assert out == f"orders: run by the controller; last asked for {asked_for}\n"


def test_a_dry_run_makes_no_file_and_no_directory(place: Place) -> None:
    code, out, err = place.tidegate("once", "--dry-run", "--json")

    assert (code, err) == (0, [])
    assert json.loads(out)["wrote"] is False
    assert list(place.directory.iterdir()) == [place.file]


@pytest.mark.parametrize("command", ["run", "once"])
def test_a_wrong_setting_is_one_line_with_setting_value_and_fix(place: Place, command: str) -> None:
    place.file.write_text(SETTINGS.replace("max_workers = 10", "max_workers = 0"))

    code, out, (line,) = place.tidegate(command)

    assert (code, out) == (2, "")
    assert line.startswith("tidegate: pools.orders.max_workers = 0: ")
    assert "; write " in line


@pytest.mark.parametrize("command", ["run", "once"])
def test_an_unknown_queue_is_one_line_with_its_name_and_what_to_check(place: Place, command: str) -> None:
    place.file.write_text(SETTINGS.replace('queue = "orders"', 'queue = "ordres"'))

    code, _, (line,) = place.tidegate(command)

    assert code == 2
    assert line.startswith("tidegate: orders: sqs:GetQueueUrl on ordres found nothing: ")
    assert "check the queue's name, Region and account" in line


def test_a_worker_whose_queue_is_not_there_ends_with_one_line(place: Place) -> None:
    place.env |= {"PYTHONPATH": str(place.directory), "AWS_REGION": "eu-central-1"}
    (place.directory / "jobs.py").write_text("def handle(message): ...\n")

    code, _, (line,) = place.tidegate("work", "jobs:handle", "--queue", "ordres")

    assert code == 2
    assert line.startswith("tidegate: sqs:GetQueueUrl on ordres found nothing: ")


def test_an_unknown_table_is_one_line_though_states_and_heartbeats_both_need_it(place: Place) -> None:
    place.file.write_text(SETTINGS.replace('state_dir = "state"', 'table = "nowhere"'))

    code, _, (line,) = place.tidegate("run")

    assert code == 2
    assert line.startswith("tidegate: orders: dynamodb:")
    assert "nowhere" in line
    assert "check its name, Region and account" in line


@pytest.mark.parametrize(("url_of", "command"), [(nobody, "once"), (silence, "run")])
def test_an_endpoint_that_does_not_answer_is_said_within_five_seconds(
    tmp_path: Path, url_of: Callable[[], AbstractContextManager[str]], command: str
) -> None:
    with url_of() as url:
        place = Place(tmp_path, url)
        begun_s = time.monotonic()
        code, _, lines = place.tidegate(command)
        took_s = time.monotonic() - begun_s

    assert code == 2
    assert [line.split(" got no answer: ")[0] for line in lines] == [
        "tidegate: orders: sqs:GetQueueUrl on orders",
        "tidegate: orders: ecs:DescribeServices on ecs:prod/orders",
    ]
    for line in lines:
        assert url in line
        assert line.endswith("; check the endpoint, the network and the Region")
    assert took_s < UNREACHABLE_S + START_S


def test_a_stop_while_nothing_answers_ends_run_with_0_at_once(tmp_path: Path) -> None:
    with silence() as url:
        process = Place(tmp_path, url).start("run")
        assert process.stdout
        assert json.loads(process.stdout.readline())["event"] == "started"
        begun_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=WAIT_S)
        took_s = time.monotonic() - begun_s

    assert (process.returncode, err) == (0, "")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["stopped"]
    assert took_s < STOP_S


def test_hundreds_of_signals_end_run_with_0(place: Place) -> None:
    process = place.start("run")
    assert process.stdout
    assert json.loads(process.stdout.readline())["event"] == "started"
    deadline_s = time.monotonic() + WAIT_S
    while process.poll() is None and time.monotonic() < deadline_s:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAIT_S)

    assert (process.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["event"] == "stopped"


@pytest.mark.parametrize("command", ["run", "once"])
@pytest.mark.parametrize("answer", [b"<html>no such page</html>", b"null", b"{}", b"[]", b'{"Attributes": 5}'])
def test_a_queue_that_answers_something_else_than_sqs_is_one_line_without_a_traceback(
    place: Place, answer: bytes, command: str
) -> None:
    with endpoint(lambda _: (200, answer)) as url:
        place.env["AWS_ENDPOINT_URL_SQS"] = url
        code, _, (line,) = place.tidegate(command)

    assert code == 2
    assert line.startswith("tidegate: orders: ")


@pytest.fixture
def shell(place: Place) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs `tidegate …` with the shell's redirections; the exit code is that of tidegate, whatever reads its output."""

    def run(command: str) -> subprocess.CompletedProcess[str]:
        line = f"set -o pipefail; {sys.executable} -m tidegate {command}"
        return subprocess.run(
            [BASH, "-c", line], cwd=place.directory, env=place.env, capture_output=True, text=True, timeout=WAIT_S
        )

    return run


Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["once", "validate", "schema", "--help", "status"])
def test_a_stdout_that_is_full_is_one_line_and_exit_code_2(
    place: Place, shell: Shell, command: str, unbuffered: str
) -> None:
    place.env["PYTHONUNBUFFERED"] = unbuffered

    done = shell(f"{command} > /dev/full")

    assert done.returncode == 2
    assert done.stderr == "tidegate: can't write to stdout: No space left on device; make room or write elsewhere\n"


@pytest.mark.parametrize("command", ["once", "validate", "schema", "--help", "status"])
def test_a_reader_that_has_gone_ends_a_command_quietly(shell: Shell, command: str) -> None:
    done = shell(f"{command} | true")

    assert done.returncode in (0, 1), "0 when all was written before the reader went"
    assert done.stderr == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("command", ["once", "validate", "schema", "--help", "status"])
def test_streams_that_are_closed_are_no_failure(shell: Shell, command: str, closed: str) -> None:
    done = shell(f"{command} {closed}")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("redirected", ["> /dev/full", "> >(read)", ">&-", "2>&-", ">&- 2>&-", "2> /dev/full"])
def test_run_goes_on_ticking_whatever_becomes_of_its_output_and_ends_with_0(place: Place, redirected: str) -> None:
    """`> >(read)` is a reader that goes after the first line."""
    place.file.write_text(SETTINGS.replace("region =", 'tick = "100ms"\nregion ='))
    queue = AskedQueue(20)
    with endpoint(queue) as url:
        place.env["AWS_ENDPOINT_URL_SQS"] = url
        line = f"exec {sys.executable} -m tidegate run {redirected}"
        process = subprocess.Popen([BASH, "-c", line], cwd=place.directory, env=place.env, stdout=subprocess.DEVNULL)
        try:
            assert queue.asked_often.wait(WAIT_S), "it no longer ticks"
            process.send_signal(signal.SIGTERM)
            assert process.wait(WAIT_S) == 0
        finally:
            process.kill()
            process.wait(WAIT_S)


def test_denied_access_is_one_line_for_each_permission_that_names_it(tmp_path: Path) -> None:
    with endpoint(denies) as url:
        code, _, lines = Place(tmp_path, url).tidegate("run")

    assert code == 2
    assert lines == [
        "tidegate: orders: sqs:GetQueueUrl on orders was denied: AccessDeniedException (User: ann is not authorized to "
        "perform this action); allow sqs:GetQueueUrl on orders to the role that tidegate runs as",
        "tidegate: orders: ecs:DescribeServices on ecs:prod/orders was denied: AccessDeniedException (User: ann is not "
        "authorized to perform this action); allow ecs:DescribeServices on ecs:prod/orders to the role that tidegate "
        "runs as",
    ]


def test_no_credentials_at_all_is_said_with_where_to_get_them(place: Place) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        del place.env[name]
    place.env |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"}

    code, _, lines = place.tidegate("once")

    assert code == 2
    assert len(lines) == 2
    for line in lines:
        assert "was denied: Unable to locate credentials; give tidegate credentials: set AWS_PROFILE" in line


def test_one_pool_in_trouble_leaves_the_other_served_and_the_exit_code_says_so(place: Place) -> None:
    place.file.write_text(SETTINGS + SECOND_POOL)

    code, out, lines = place.tidegate("once", "--json")

    assert code == 2
    decided = [line for line in map(json.loads, out.splitlines()) if "decision" in line]
    assert [line["pool"] for line in decided] == ["orders"]
    assert any(line.startswith("tidegate: mail: ") for line in lines)
    assert not any("Traceback" in line for line in lines)
