"""The image's stages, made of the Dockerfile's own instructions, and its commands started as its user (see `image`)."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import boto3
import pytest

from tests.infra.bundled import LAMBDA, account
from tests.infra.image import DOCKERFILE, Builder, reason_against

# A minute, most of it pip's: with `make infra-test`, not with `make test`.
pytestmark = [pytest.mark.soak, pytest.mark.xdist_group("image"), pytest.mark.timeout(600)]

HEALTH = "/run/tidegate/health.json"
_TRIES = 40
"""Of a health check, half a second each."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    if reason := reason_against():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("image")
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)  # what is started is not root
    builder = Builder(folder)
    builder.build(DOCKERFILE)
    yield builder
    shutil.rmtree(folder)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, str]]:
    with account(monkeypatch) as environment:
        yield {**environment, "AWS_EC2_METADATA_DISABLED": "true"}


def line_with(process: "subprocess.Popen[str]", words: str) -> str:
    """The first line of its output that has these words; fails with all that it said when it ends before."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if words in line:
            return line
    raise AssertionError("".join(said))


def healthy(image: Builder, name: str) -> str:
    """What the stage's health check says at last; as Docker, it is asked again and again."""
    said = ""
    for _ in range(_TRIES):
        code, said = image.run(name, image.stages[name].health, {})
        if code == 0:
            return said.strip()
    raise AssertionError(said)


def test_the_image_holds_the_locks_packages_and_nothing_but_tidegate_besides(image: Builder) -> None:
    code, said = image.run("controller", ["pip", "list", "--format", "json"], {})
    assert code == 0, said
    (listed,) = [line for line in said.splitlines() if line.startswith("[{")]
    installed = {one["name"].lower().replace("_", "-") for one in json.loads(listed)}
    lock = (DOCKERFILE.parent / "requirements.lock").read_text()
    locked = {line.split("==")[0] for line in lock.splitlines() if line[:1].isalnum()}
    assert installed - {"pip", "setuptools"} <= locked | {"tidegate"}
    assert {"tidegate", "boto3", "aiobotocore"} <= installed


@pytest.mark.parametrize("name", ["controller", "worker"])
def test_it_runs_as_nobody_on_a_disk_that_only_its_volume_can_be_written_on(image: Builder, name: str) -> None:
    script = "id -u; touch /app/x; touch /run/tidegate/x && rm /run/tidegate/x && echo written"
    _, said = image.run(name, ["sh", "-c", script], {})
    user, refused, written = said.splitlines()
    assert (user, written) == ("65532", "written")
    assert "Read-only file system" in refused


def test_the_controller_ticks_says_that_it_is_well_and_stops_when_told(
    image: Builder, cloud: Mapping[str, str]
) -> None:
    settings = image.volume("controller") / "tidegate.toml"
    settings.write_text((LAMBDA / "example.toml").read_text())
    given = {**cloud, "TIDEGATE_CONFIG": "/run/tidegate/tidegate.toml", "TIDEGATE_TICK": "5s"}

    with image.running("controller", image.stages["controller"].command, given) as process:
        assert json.loads(line_with(process, '"decision"'))["pool"] == "orders"
        assert healthy(image, "controller") == "healthy: it ticks"
        process.send_signal(signal.SIGTERM)
        assert line_with(process, '"stopped"')
        assert process.wait(30) == 0


def test_the_worker_works_is_healthy_and_stops_when_told(image: Builder, cloud: Mapping[str, str]) -> None:
    given = {**cloud, "TIDEGATE_WORKER_QUEUE": "orders"}
    sqs = boto3.client("sqs")
    sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName="orders")["QueueUrl"], MessageBody='{"shoes": 2}')

    with image.running("worker", image.stages["worker"].command, given) as process:
        assert line_with(process, "has 1 fields")
        assert healthy(image, "worker").startswith("healthy:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_health_check_without_its_process_fails(image: Builder) -> None:
    Path(image.volume("controller") / "health.json").unlink(missing_ok=True)
    code, said = image.run("controller", image.stages["controller"].health, {})
    assert code == 1
    assert f"no health file {HEALTH}" in said
