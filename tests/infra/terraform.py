"""Terraform, run on this repository's modules: with the provider that it finds, or skipped with the reason why not."""

import contextlib
import fcntl
import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TERRAFORM = ROOT / "infra" / "terraform"
MODULES = [TERRAFORM, TERRAFORM / "modules" / "alarms", TERRAFORM / "modules" / "pool"]
EXAMPLES = sorted(path.parent for path in (TERRAFORM / "examples").glob("*/main.tf"))
_STAND_IN = ROOT.parent / "shared" / "terraform-standin" / "run"
"""A workshop's stand-in for the AWS provider, where that can't be downloaded."""

_LIMIT_S = 300

_DID_NOT_START = "Failed to read any lines from plugin's stdout"
"""What terraform says of a provider whose process ended before it said a word: nothing about the module."""

_STARTS = 3

_OUT_OF_REACH = ("could not connect to", "could not query provider registry", "Error while installing")
"""What terraform says where a provider can't be downloaded. All else that fails `init` is the module's own fault."""


def run(folder: Path, *arguments: str) -> str:
    """What `terraform ARGUMENTS` in this folder said; fails the test with that when it failed."""
    done = _run(folder, *arguments)
    assert done.returncode == 0, f"terraform {' '.join(arguments)} in {folder.relative_to(ROOT)}:\n{done.stdout}"
    return done.stdout


def need_terraform() -> None:
    """Skips the test when there is no terraform, or no AWS provider within reach."""
    reason = _missing()
    if reason:
        pytest.skip(reason)


def initialised(folder: Path) -> Path:
    """The folder, with its providers and modules in place."""
    _initialise(folder)
    return folder


def planned(folder: Path, variables: dict[str, Any], into: Path) -> dict[str, Any]:
    """Terraform's plan for these variables as JSON (https://developer.hashicorp.com/terraform/internals/json-format)."""
    values, plan = into / "planned.tfvars.json", into / "planned.plan"
    values.write_text(json.dumps(variables))
    run(initialised(folder), "plan", "-input=false", "-refresh=false", f"-var-file={values}", f"-out={plan}")
    found: dict[str, Any] = json.loads(run(folder, "show", "-json", str(plan)))
    return found


def evaluated(folder: Path, expression: str, variables: dict[str, Any], into: Path) -> Any:
    """What the expression is in the plan for these variables: also of values that a resource makes texts of only when
    what it refers to exists, such as policies.
    """
    values = into / "evaluated.tfvars.json"
    values.write_text(json.dumps(variables))
    done = _run(initialised(folder), "console", "-plan", f"-var-file={values}", said=f"jsonencode({expression})\n")
    assert done.returncode == 0, done.stdout
    return json.loads(json.loads(done.stdout.strip().splitlines()[-1]))


@functools.cache
def _initialise(folder: Path) -> None:
    run(folder, "init", "-backend=false", "-input=false")


@functools.cache
def _missing() -> str | None:
    if shutil.which("terraform") is None:
        return "terraform is not installed"
    done = _run(MODULES[1], "init", "-backend=false", "-input=false")
    said = " ".join(done.stdout.split())
    if done.returncode == 0 or not any(each in said for each in _OUT_OF_REACH):
        return None
    return "the AWS provider is out of terraform's reach, and no stand-in for it is beside this checkout"


def _run(folder: Path, *arguments: str, said: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Again, where the provider did not start: seen once in some hundred starts of the stand-in's process."""
    done = _run_once(folder, *arguments, said=said)
    for _ in range(_STARTS - 1):
        if _DID_NOT_START in done.stdout:
            done = _run_once(folder, *arguments, said=said)
    return done


def _run_once(folder: Path, *arguments: str, said: str | None = None) -> "subprocess.CompletedProcess[str]":
    wrapped = [str(_STAND_IN)] if _STAND_IN.exists() else []
    env = {
        **os.environ,
        "TF_STANDIN_ROOT": str(TERRAFORM),
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
        "XDG_CACHE_HOME": str(ROOT / ".venv-infra" / "cache"),  # of this clone: the stand-in writes into it at each run
    }
    plain = [] if arguments[0] in {"fmt", "console"} else ["-no-color"]
    with _alone():
        return subprocess.run(
            [*wrapped, "terraform", *arguments, *plain], input=said, cwd=folder, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_LIMIT_S, check=False,
        )  # fmt: skip


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One terraform at a time in this clone, whichever process runs the test: they share folders and provider."""
    lock = ROOT / ".venv-infra" / "terraform.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
