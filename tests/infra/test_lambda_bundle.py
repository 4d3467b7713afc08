"""The Lambda bundle: the same bytes from the same inputs; where one was built, its function runs by itself."""

import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.aws.moto_cloud import CREDENTIALS, REGION, make_service, use_test_account
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import create_table
from tidegate.config import load

LAMBDA = Path(__file__).parents[2] / "lambda"
BUNDLE = LAMBDA / "dist" / f"tidegate-{platform.machine()}-python{sys.version_info[0]}.{sys.version_info[1]}.zip"


@pytest.fixture
def bundling() -> ModuleType:
    """lambda/bundle.py, which can't be imported by name: `lambda` is a word of Python's."""
    spec = importlib.util.spec_from_file_location("bundle", LAMBDA / "bundle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tree(root: Path, names: list[str], mtime_s: int) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}")
        path.chmod(0o600 if mtime_s % 2 else 0o664)
        os.utime(path, (mtime_s, mtime_s))
    return root


PACKAGES = [
    "zone/__init__.py",
    "zone/core.so",
    "zone-1.dist-info/METADATA",
    "zone-1.dist-info/RECORD",
    "bin/zone",
    "zone/__pycache__/x.pyc",
]


def made(bundling: ModuleType, root: Path, names: list[str], mtime_s: int) -> Path:
    packages = tree(root / "packages", names, mtime_s)
    source = tree(root / "src", ["tidegate/__init__.py", "tidegate/__pycache__/y.pyc"], mtime_s)
    settings = tree(root, ["my.toml"], mtime_s) / "my.toml"
    bundling.pack(packages, source, settings, root / "out" / "bundle.zip")
    return root / "out" / "bundle.zip"


def test_the_same_files_make_the_same_bytes_whenever_and_in_whatever_order_they_were_written(
    bundling: ModuleType, tmp_path: Path
) -> None:
    one = made(bundling, tmp_path / "one", PACKAGES, 1_600_000_001)
    other = made(bundling, tmp_path / "other", PACKAGES[::-1], 1_700_000_000)

    assert one.read_bytes() == other.read_bytes()


def test_a_bundle_holds_code_and_settings_and_nothing_that_an_installation_writes_about_itself(
    bundling: ModuleType, tmp_path: Path
) -> None:
    """Files must be readable for everybody: the function runs as a user of its own.

    https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-deployment.html
    """
    with zipfile.ZipFile(made(bundling, tmp_path, PACKAGES, 1_700_000_000)) as bundle:
        modes = {entry.filename: oct(entry.external_attr >> 16) for entry in bundle.infolist()}

    assert modes == {
        "tidegate.toml": "0o644",
        "tidegate/__init__.py": "0o644",
        "zone-1.dist-info/METADATA": "0o644",
        "zone/__init__.py": "0o644",
        "zone/core.so": "0o755",
    }


def pins(lock: Path) -> dict[str, str]:
    found = re.findall(r"^([a-z0-9-]+)==(\S+)", lock.read_text(), re.MULTILINE)
    return dict(found)


def test_the_bundles_packages_are_those_that_the_tests_run_with_and_all_that_tidegate_needs() -> None:
    bundled, tested = pins(LAMBDA / "requirements.lock"), pins(LAMBDA.parent / "requirements.lock")
    needed = tomllib.loads((LAMBDA.parent / "pyproject.toml").read_text())["project"]["dependencies"]

    assert bundled.items() <= tested.items(), "run: make lock"
    assert {re.split(r"[^a-z0-9-]", requirement)[0] for requirement in needed} <= bundled.keys()


def test_the_example_settings_load_without_a_warning() -> None:
    assert load(LAMBDA / "example.toml", {}).warnings == ()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an account with what the example settings name."""
    use_test_account(monkeypatch)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    boto3.client("sqs").create_queue(QueueName="orders")
    make_service(AwsClients(REGION), desired=1, cluster="prod", name="orders")
    create_table(AwsClients(REGION).dynamodb(), "tidegate")
    yield url
    server.stop()


RUN = """
import sys
sys.path.insert(0, {root!r})
from tidegate.entrypoints.lambda_handler import handler
print(handler({{}}, None), handler({{}}, None), tuple(sys.modules["boto3"].__path__))
"""


@pytest.mark.integration
@pytest.mark.skipif(not BUNDLE.exists(), reason="no bundle for this machine and Python: run `make -C lambda check`")
def test_the_function_runs_from_the_unpacked_zip_alone(account: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(BUNDLE) as bundle:
        bundle.extractall(tmp_path)
    env = {**CREDENTIALS, "AWS_ENDPOINT_URL": account, "LAMBDA_TASK_ROOT": str(tmp_path), "PATH": os.defpath}
    command = [sys.executable, "-I", "-S", "-c", RUN.format(root=str(tmp_path))]  # -S: no packages but the zip's

    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
    *decisions, last = done.stdout.splitlines()
    assert [json.loads(line)["pool"] for line in decisions] == ["orders", "orders"]
    assert last.startswith("{'pools': 1} {'pools': 1} ")
    assert str(tmp_path) in last
