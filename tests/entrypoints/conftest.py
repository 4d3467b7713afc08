"""A settings file in a directory of its own, and an environment that names no real AWS account."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

SETTINGS = """\
state_dir = "{state}"
region = "eu-central-1"
tick = "10s"

[pools.orders]
queue = "orders"
target_wait = "30s"
ecs = {{ cluster = "prod", service = "orders" }}
min_workers = 1
max_workers = 10
service_time_hint = "1s"

[pools.mail]
queues = ["mail", "letters"]
target_wait = "60s"
asg = "mail-workers"
max_workers = 4
service_time_hint = "2s"
"""


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """./tidegate.toml with two pools, whose states are files."""
    file = tmp_path / "tidegate.toml"
    file.write_text(SETTINGS.format(state=tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEGATE_CONFIG", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    monkeypatch.setenv("USER", "ann")
    monkeypatch.setenv("LOGNAME", "ann")
    return file


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """The commands set up the logging of a whole process; a test's ends with it."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
