"""`--record` and `tidegate replay`: from a tick to a file, and from the file to the same decision."""

import doctest
import json
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import pytest
from typer.testing import CliRunner, Result

from tests.controller.pool_rig import Rig
from tests.core.observations import POOL
from tests.core.test_replay import rising
from tidegate.config import Settings
from tidegate.controller.metrics import MinuteMetrics
from tidegate.core.decide import decide
from tidegate.core.stored.codec import to_json
from tidegate.core.stored.recording import Record
from tidegate.entrypoints import replay_table, wiring
from tidegate.entrypoints.cli import app
from tidegate.entrypoints.wiring import Wired
from tidegate.ports import Clock, QueueCounts
from tidegate.stores.recording import read_recording


def tidegate(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="tidegate")


def written(path: Path, *records: Record) -> str:
    path.write_text("".join(to_json(record) + "\n" for record in records))
    return str(path)


@pytest.fixture
def orders(settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """The production `decide` over fakes."""
    rig = Rig(decide=decide)

    def wire(settings: Settings, clock: Clock, *, dry_run: bool = False, log: TextIO | None = None) -> Wired:
        return Wired((rig.tick(),), MinuteMetrics(rig.metrics, []), clock, settings.tick_s)

    monkeypatch.setattr(wiring, "wire", wire)
    return rig


def test_each_tick_is_recorded_and_replayed_as_identical(orders: Rig, tmp_path: Path) -> None:
    file = tmp_path / "decisions.jsonl"
    for waiting in (0, 100, 300):
        orders.counts.queues["orders"] = QueueCounts(waiting, 3, 0)
        assert tidegate("once", "--record", str(file)).exit_code == 0
        orders.clock.advance(10)
    records = list(read_recording(file))
    assert [record.observation.queues[0].visible.value for record in records] == [0, 100, 300]
    assert records[1].before.ticked_at_s == records[0].decision.at_s
    result = tidegate("replay", str(file))
    assert (result.exit_code, result.stdout) == (0, "identical (3 decisions)\n")


def test_the_setting_records_too_and_the_option_wins(orders: Rig, settings_file: Path, tmp_path: Path) -> None:
    by_setting, by_option = tmp_path / "setting.jsonl", tmp_path / "option.jsonl"
    settings_file.write_text(f'record = "{by_setting}"\n' + settings_file.read_text())
    tidegate("once")
    tidegate("once", "--record", str(by_option))
    assert [len(list(read_recording(path))) for path in (by_setting, by_option)] == [1, 1]


def test_a_directory_that_is_not_there_is_told_before_the_first_tick(orders: Rig, tmp_path: Path) -> None:
    result = tidegate("once", "--record", str(tmp_path / "away" / "decisions.jsonl"))
    assert result.exit_code == 2
    assert "its directory does not exist; name a file in a directory that is there" in result.stderr
    assert orders.asked_settings_at == []


def test_a_disk_that_fills_up_costs_the_record_and_not_the_tick(orders: Rig) -> None:
    result = tidegate("once", "--record", "/dev/full")
    assert result.exit_code == 0
    assert "warning: decisions can't be recorded in /dev/full: No space left on device" in result.stderr


def test_the_first_difference_is_shown_with_both_sides_and_ends_with_1(tmp_path: Path) -> None:
    first, second = rising(0, 400)
    other = replace(second, decision=replace(second.decision, desired=3, sentence="as an older version said"))
    file = written(tmp_path / "old.jsonl", first, other)
    result = tidegate("replay", file)
    assert result.exit_code == 1
    told, recorded, now = result.stdout.splitlines()
    assert told == (
        "decision 2 differs: pool orders at 1970-01-12 13:46:50Z, step decision, desired: recorded 3, now 12"
    )
    assert recorded == "  recorded: as an older version said"
    assert now.endswith(second.decision.sentence)
    as_json = json.loads(tidegate("replay", file, "--json").stdout)
    assert as_json["first_difference"]["recomputed"] == 12


def test_other_settings_show_what_would_have_been_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", *rising(0, 400, 400))
    result = tidegate("replay", file, "--set", "max_workers=5", "--set", "ramp.workers=2", "--set", "ramp.percent=0")
    assert result.exit_code == 0
    assert "orders: 3 decisions from 1970-01-12 13:46:40Z on, with max_workers=5, ramp.workers=2" in result.stdout
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "most workers 12 5" in rows
    assert "worker-hours asked for 0.07 0.03 (-64.0%)" in rows
    assert any(row.startswith("1970-01-12 13:46:50Z 12 3 1 → 3 workers") for row in rows)
    assert any(row.startswith("1970-01-12 13:47:00Z 12 5 3 → 5 workers") for row in rows)
    assert "not what would have come of it" in rows[-1]
    lines = [
        json.loads(line) for line in tidegate("replay", file, "--set", "max_workers=5", "--json").stdout.splitlines()
    ]
    assert [(line["recorded"], line["instead"]) for line in lines] == [(1, 1), (12, 5), (12, 5)]


def test_settings_that_change_nothing_say_so(tmp_path: Path) -> None:
    result = tidegate("replay", written(tmp_path / "r.jsonl", *rising(0, 0)), "--set", "max_workers=40")
    assert "the same count at every tick" in result.stdout


def test_a_policy_is_a_setting_like_others(tmp_path: Path) -> None:
    file = written(tmp_path / "r.jsonl", *rising(0, 400))
    assert tidegate("replay", file, "--policy", "wait", "--set", "utilization=auto").exit_code == 0
    result = tidegate("replay", file, "--policy", "best")
    assert result.exit_code == 2
    assert "--set policy = 'best'" in result.stderr


def test_one_pool_of_several(tmp_path: Path) -> None:
    mail = [replace(r, pool=replace(r.pool, name="mail")) for r in rising(0)]
    mail = [replace(r, decision=replace(r.decision, pool="mail")) for r in mail]
    file = written(tmp_path / "r.jsonl", *rising(0, 1), *mail)
    assert tidegate("replay", file, "--pool", "mail").stdout == "identical (1 decision)\n"
    result = tidegate("replay", file, "--pool", "returns")
    assert result.exit_code == 2
    assert "--pool = 'returns': is not in the recording; name one of mail, orders" in result.stderr


@pytest.mark.parametrize("content", ["", "t_s,count\n", '{"pool":{}}\n'])
def test_what_is_no_recording_ends_with_2_and_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    result = tidegate("replay", str(file))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"tidegate: recording {file} ")
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_a_long_list_of_changes_is_cut_and_says_how_many_more(tmp_path: Path) -> None:
    pool = replace(POOL, ramp_workers=1, ramp_share=0.0)
    file = written(tmp_path / "r.jsonl", *rising(*range(1000, 50_000, 1000), pool=pool))
    result = tidegate("replay", file, "--set", "ramp.workers=50")
    assert "and 18 more (--json has every tick)" in result.stdout
    assert len(result.stdout.splitlines()) < 45


def test_the_examples_in_the_docstrings_hold() -> None:
    found = doctest.testmod(replay_table)
    assert (found.attempted, found.failed) == (2, 0)
