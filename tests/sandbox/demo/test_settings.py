"""The demo refuses what it can't run with, all of it at once."""

from dataclasses import replace
from pathlib import Path

import pytest

from tidegate.errors import ConfigError
from tidegate.sandbox.demo.settings import DemoSettings, check


def test_the_defaults_are_fine() -> None:
    check(DemoSettings())


def test_every_fault_is_said_at_once_with_value_and_fix() -> None:
    wrong = replace(DemoSettings(), length_s=0, target_wait_s=-1, service_time_s=float("inf"), speed=2, capacity="k8s")
    with pytest.raises(ConfigError) as refused:
        check(wrong)
    assert [fault.setting for fault in refused.value.faults] == [
        "--for", "--target-wait", "--service-time", "--speed", "--capacity",
    ]  # fmt: skip
    assert "--capacity = 'k8s': no such platform; write ecs or asg" in str(refused.value)


def test_a_recording_needs_a_directory_that_is_there(tmp_path: Path) -> None:
    check(DemoSettings(record=tmp_path / "demo.jsonl"))
    with pytest.raises(ConfigError, match=r"--record = .*: its directory does not exist; create that directory"):
        check(DemoSettings(record=tmp_path / "away" / "demo.jsonl"))
