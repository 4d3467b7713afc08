"""Starting and stopping the cloud. Apart from test_cloud.py, whose module has a cloud running."""

import socket
import threading

import pytest
from moto.dynamodb.models import dynamodb_backends

from tidegate.errors import TidegateError
from tidegate.sandbox.cloud import Cloud

pytestmark = pytest.mark.integration


def test_a_stopped_cloud_leaves_no_thread_no_listener_and_no_state() -> None:
    threads = threading.active_count()
    with Cloud() as first:
        port = int(first.url.rpartition(":")[2])
        assert first.url.startswith("http://127.0.0.1:")
        first.create_service("cluster", "service", desired=1)
    assert threading.active_count() == threads
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", port))
    first.stop()
    with Cloud() as second, pytest.raises(KeyError):
        second.service("cluster", "service").wanted()


def test_what_moto_was_set_up_with_before_is_there_again_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(dynamodb_backends.backend):  # type: ignore[misc, name-defined]  # moto's attribute is no static class
        pass

    monkeypatch.setattr(dynamodb_backends, "backend", Own)
    with Cloud():
        assert dynamodb_backends.backend is not Own
    assert dynamodb_backends.backend is Own


def test_a_cloud_that_is_not_started_says_so() -> None:
    cloud = Cloud()
    for call in (lambda: cloud.url, lambda: cloud.create_service("c", "s", 1), lambda: cloud.group("g")):
        with pytest.raises(TidegateError, match=r"not started; call start\(\) first"):
            call()


def test_its_environment_leads_to_the_sandbox_and_to_nothing_else() -> None:
    with Cloud(region="ap-south-1") as cloud:
        env = cloud.environment("http://127.0.0.1:9324")
        assert (env["AWS_ENDPOINT_URL"], env["AWS_ENDPOINT_URL_SQS"]) == (cloud.url, "http://127.0.0.1:9324")
        assert env["AWS_REGION"] == env["AWS_DEFAULT_REGION"] == "ap-south-1"
        assert env["AWS_CONFIG_FILE"] == env["AWS_SHARED_CREDENTIALS_FILE"] == "/dev/null"
