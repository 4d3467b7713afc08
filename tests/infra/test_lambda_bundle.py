"""The Lambda bundle: the same bytes from the same inputs; where one was built, its function runs by itself."""

import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.infra.bundled import BUNDLE, LAMBDA, NO_BUNDLE, account, run_alone, unpacked
from tidegate.config import load


def script(name: str) -> ModuleType:
    """lambda/NAME.py, which can't be imported by name: `lambda` is a word of Python's."""
    spec = importlib.util.spec_from_file_location(name, LAMBDA / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bundling() -> ModuleType:
    return script("bundle")


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
    "botocore/data/endpoints.json",
    "botocore/data/sqs/2012-11-05/service-2.json",
    "botocore/data/ec2/2016-11-15/service-2.json",
    "boto3/data/ec2/2016-11-15/resources-1.json",
    "boto3/examples/s3.rst",
]


OTHER_PYTHON = "3.99"
"""For which nobody here can make byte code."""


def made(bundling: ModuleType, root: Path, names: list[str], mtime_s: int, python: str = OTHER_PYTHON) -> Path:
    packages = tree(root / "packages", names, mtime_s)
    source = tree(root / "src", ["tidegate/__init__.py", "tidegate/__pycache__/y.pyc", "tidegate/lab/x.py"], mtime_s)
    settings = tree(root, ["my.toml"], mtime_s) / "my.toml"
    bundling.pack(packages, source, root / "out" / "bundle.zip", settings, python=python)
    return root / "out" / "bundle.zip"


def test_the_same_files_make_the_same_bytes_whenever_and_in_whatever_order_they_were_written(
    bundling: ModuleType, tmp_path: Path
) -> None:
    one = made(bundling, tmp_path / "one", PACKAGES, 1_600_000_001)
    other = made(bundling, tmp_path / "other", PACKAGES[::-1], 1_700_000_000)

    assert one.read_bytes() == other.read_bytes()


def test_made_by_the_functions_own_python_it_holds_byte_code_that_is_run_without_a_look_at_the_source(
    bundling: ModuleType, tmp_path: Path
) -> None:
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    with zipfile.ZipFile(made(bundling, tmp_path / "made", PACKAGES, 1_700_000_000, this)) as bundle:
        bundle.extractall(tmp_path / "task")
    module = tmp_path / "task" / "zone" / "__init__.py"
    module.write_text("raise SystemExit('compiled anew')")

    loaded = importlib.util.spec_from_file_location("zone", module)

    assert loaded is not None
    assert loaded.loader is not None
    loaded.loader.exec_module(importlib.util.module_from_spec(loaded))


SETTLED = """
import runpy, sys
byte_code = runpy.run_path(sys.argv[1])["byte_code"]
source = b"def tide(level, low=1.5):\\n    return level in {'ebb', 'flow', 'slack', 'spring', 'neap', low}\\n"
sys.stdout.write(byte_code("tide.py", source).hex())
"""


def test_byte_code_is_the_same_in_every_process() -> None:
    """Texts are hashed by a seed of the process's own, and a set's order follows from that."""
    command = [sys.executable, "-c", SETTLED, str(LAMBDA / "bundle.py")]
    one, other = (
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    )
    assert one == other != ""


def test_a_bundle_holds_code_and_settings_and_nothing_that_the_function_has_no_use_for(
    bundling: ModuleType, tmp_path: Path
) -> None:
    """Files must be readable for everybody: the function runs as a user of its own.

    https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-deployment.html
    """
    with zipfile.ZipFile(made(bundling, tmp_path, PACKAGES, 1_700_000_000)) as bundle:
        modes = {entry.filename: oct(entry.external_attr >> 16) for entry in bundle.infolist()}

    assert modes == {
        "botocore/data/endpoints.json": "0o644",
        "botocore/data/sqs/2012-11-05/service-2.json": "0o644",
        "tidegate.toml": "0o644",
        "tidegate/__init__.py": "0o644",
        "zone-1.dist-info/METADATA": "0o644",
        "zone/__init__.py": "0o644",
        "zone/core.so": "0o755",
    }


def pins(lock: Path) -> dict[str, str]:
    found = re.findall(r"^([a-z0-9-]+)==(\S+)", lock.read_text(), re.MULTILINE)
    return dict(found)


def test_the_bundles_packages_are_those_that_the_tests_run_with() -> None:
    """That they are all that the function needs is shown by running it from the zip."""
    bundled, tested = pins(LAMBDA / "requirements.lock"), pins(LAMBDA.parent / "requirements.lock")

    assert bundled.items() <= tested.items(), "run: make lock"


def test_without_settings_none_are_in_the_bundle(bundling: ModuleType, tmp_path: Path) -> None:
    source = tree(tmp_path / "src", ["tidegate/__init__.py"], 1_700_000_000)
    bundling.pack(tmp_path / "none", source, tmp_path / "bundle.zip", python=OTHER_PYTHON)
    with zipfile.ZipFile(tmp_path / "bundle.zip") as bundle:
        assert bundle.namelist() == ["tidegate/__init__.py"]


def library(machine: int) -> bytes:
    """The beginning of an ELF file for that machine."""
    return b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a/core.cpython-313-x86_64.so", library(62), []),
        ("a/core.so", library(62), []),
        ("a/core.so", library(183), ["a/core.so is for machine 183, not x86_64 (62)"]),
        ("a/core.so", b"MZ", ["a/core.so is for machine None, not x86_64 (62)"]),
        ("core.cpython-311-x86_64.so", library(62), ["core.cpython-311-x86_64.so is for CPython 311, not 3.13"]),
        ("__pycache__/a.cpython-313.pyc", b"", []),
        ("__pycache__/a.cpython-311.pyc", b"", ["__pycache__/a.cpython-311.pyc is for CPython 311, not 3.13"]),
    ],
)
def test_code_for_another_machine_or_python_is_told(tmp_path: Path, name: str, data: bytes, said: list[str]) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as bundle:
        bundle.writestr("tidegate/entrypoints/lambda_handler.py", "")
        bundle.writestr(name, data)
    assert [*script("check_bundle").faults(tmp_path / "b.zip", "x86_64", "3.13")] == said


def test_a_bundle_that_is_too_large_or_has_no_handler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checking = script("check_bundle")
    monkeypatch.setattr(checking, "LARGEST", 100)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as bundle:
        bundle.writestr("random", os.urandom(200))
    size, handler = checking.faults(tmp_path / "b.zip", "x86_64", "3.13")
    assert "more than 100" in size
    assert handler.endswith("does not hold tidegate/entrypoints/lambda_handler.py")


def test_the_example_settings_load_without_a_warning() -> None:
    assert load(LAMBDA / "example.toml", {}).warnings == ()


RUN = """
from tidegate.entrypoints.lambda_handler import handler
print(handler({}, None), handler({}, None), tuple(sys.modules["botocore"].__path__))
"""


@pytest.mark.integration
@pytest.mark.skipif(not BUNDLE.exists(), reason=NO_BUNDLE)
def test_the_function_runs_from_the_unpacked_zip_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with account(monkeypatch) as environment:
        *decisions, last = run_alone(unpacked(tmp_path), RUN, environment).splitlines()

    assert [json.loads(line)["pool"] for line in decisions] == ["orders", "orders"]
    assert json.loads(decisions[0])["desired"] == json.loads(decisions[1])["current"]
    assert last.startswith("{'pools': 1} {'pools': 1} ")
    assert str(tmp_path) in last


@pytest.mark.integration
@pytest.mark.skipif(not BUNDLE.exists(), reason=NO_BUNDLE)
def test_the_built_bundle_is_free_of_faults() -> None:
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert [*script("check_bundle").faults(BUNDLE, platform.machine(), python)] == []
