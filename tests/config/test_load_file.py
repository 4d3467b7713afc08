"""The file itself: missing, unreadable, not TOML; and settings that there are none of."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.config.trees import GONE, changed, faults
from tidegate.config import assemble, load
from tidegate.errors import ConfigError, Fault

POOL = '[pools.orders]\nqueue = "orders"\ntarget_wait = 60\nmax_workers = 5\nasg = "orders"\n'


def refused(path: Path) -> Fault:
    with pytest.raises(ConfigError) as caught:
        load(path, {})
    (fault,) = caught.value.faults
    return fault


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "tidegate.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_without_a_fault_loads_with_every_pool_named(tmp_path: Path) -> None:
    loaded = load(written(tmp_path, f'tick = "5s"\ntable = "tidegate"\n{POOL}'), {})
    pool = loaded.settings.pools["orders"].at(0)
    assert (pool.name, pool.tick_s, pool.max_workers) == ("orders", 5, 5)
    assert loaded.warnings == ()


def test_a_byte_order_mark_at_the_beginning_is_no_fault(tmp_path: Path) -> None:
    loaded = load(written(tmp_path, f'tick = "5s"\ntable = "tidegate"\n{POOL}'.encode("utf-8-sig")), {})
    assert loaded.settings.tick_s == 5


def test_a_missing_file_is_named_with_where_an_example_is(tmp_path: Path) -> None:
    fault = refused(tmp_path / "tidegate.toml")
    assert fault.setting == str(tmp_path / "tidegate.toml")
    assert fault.problem == "there is no such file"
    assert "examples/tidegate.toml" in fault.fix


@pytest.mark.parametrize("name", ["a\nb.toml", "\x1b[31m.toml", "\u202etoml"])
def test_a_fault_is_one_line_of_what_prints_whatever_the_name_in_it(tmp_path: Path, name: str) -> None:
    assert str(refused(tmp_path / name)).isprintable()


def test_a_job_class_with_a_line_end_in_its_name_is_told_of_in_one_line() -> None:
    (fault,) = faults(changed({"service_time_hints": {"mail\nexport": "soon"}}))
    assert r"has for mail\nexport what is not a duration" in str(fault)


def test_a_named_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe").problem == "can't be read: is a named pipe"


def test_what_a_command_writes_is_a_file(tmp_path: Path) -> None:
    """As bash has it: `tidegate validate <(command)`."""
    reads, writes = os.pipe()
    with os.fdopen(reads), os.fdopen(writes, "w") as stream:
        stream.write(f'table = "tidegate"\n{POOL}')
        stream.close()
        assert set(load(Path(f"/dev/fd/{reads}"), {}).settings.pools) == {"orders"}


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    assert refused(tmp_path).problem == "can't be read: is a directory"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'tick = "10s"\ntable = \n', "at line 2, column 9"),
        (b"tick = 1\ntick = 2\n", "at line 2"),
        (b'{"tick": 1, "pools": {"orders": {"queue": "a", "queue": "b"}}}', "'queue' stands twice in one table"),
        (b"[pools.orders\n", "at line 1, column 14"),
        (b'table = "\xff"\n', "is not UTF-8 at byte 9"),
        (b"tick = " + b"9" * 5000, "beyond all measure"),
        (b"tick = " + b"[" * 5000, "is not TOML"),
        (b"#" * 1_000_001, "larger than 1 MB"),
    ],
)
def test_what_is_not_toml_is_refused_with_the_place(tmp_path: Path, text: bytes, problem: str) -> None:
    fault = refused(written(tmp_path, text))
    assert problem in fault.problem
    assert fault.fix
    assert fault.setting.endswith("tidegate.toml")


@pytest.mark.parametrize(
    "text",
    [
        f"{POOL}x = {'[' * 60}{']' * 60}",
        f"{POOL}{'a.' * 3000}a = 1",
        f"[{'a.' * 3000}a]\nx = 1",
        '{"pools": ' + '{"a": ' * 600 + "1" + "}" * 601,
    ],
    ids=["lists", "dotted keys", "a table", "JSON"],
)
def test_what_is_nested_beyond_all_settings_is_refused_before_anything_is_made_of_it(tmp_path: Path, text: str) -> None:
    fault = refused(written(tmp_path, text))
    assert fault.problem == "has tables or lists in each other by the dozen"
    assert fault.setting.endswith("tidegate.toml")


def test_a_file_of_just_1_mb_is_read(tmp_path: Path) -> None:
    text = f'table = "tidegate"\n{POOL}#'
    assert load(written(tmp_path, text.ljust(1_000_000, "x")), {}).warnings == ()


def test_a_number_too_long_to_print_is_refused_like_any_other(tmp_path: Path) -> None:
    """TOML's hexadecimal numbers have no end, and Python refuses to print the longest."""
    fault = refused(written(tmp_path, POOL.replace("max_workers = 5", f"max_workers = 0x{'f' * 5000}")))
    assert str(fault) == (
        "pools.orders.max_workers = (a number beyond 10^18): is too large; write a whole number from 1 to 100000"
    )


@pytest.mark.parametrize(
    ("setting", "fix"),
    [
        ("pools.orders.max_worker", "did you mean max_workers?"),
        ("pools.orders.target_wait_s", "did you mean target_wait?"),
        ("pools.orders.Queue", "did you mean queue?"),
        ("pools.orders.tick", "move it to the top of the file, before the first [table]"),
        ("pools.orders.ramp.count", "did you mean"),
        (".max_workers", "move it into a pool's table, below [pools.NAME]"),
        (".tabel", "did you mean table?"),
        ("pools.orders.zzz", "remove it; known here: queue, queues, target_wait"),
        ("._cli_parse_args", "remove it; known here: tick, table"),
    ],
)
def test_an_unknown_setting_gets_the_likely_one_and_never_shows_its_value(setting: str, fix: str) -> None:
    (fault,) = faults(changed({setting: "AKIA-secret"}))
    assert fault.setting == setting.removeprefix(".")
    assert fault.problem == "is not a known setting"
    if fix != "did you mean":
        assert fault.fix.startswith(fix)
    assert "AKIA" not in str(fault)


@pytest.mark.parametrize(
    ("setting", "example"),
    [
        ("max_workers", "max_workers = 50"),
        ("ecs.service", 'service = "orders"'),
    ],
)
def test_a_missing_setting_is_said_with_an_example(setting: str, example: str) -> None:
    (fault,) = faults(changed({f"pools.orders.{setting}": GONE}))
    assert fault.setting == f"pools.orders.{setting}"
    assert str(fault) == f"pools.orders.{setting} = (not set): is missing; set it, such as {example}"


def test_a_file_without_pools_is_told_how_to_begin_one() -> None:
    (fault,) = faults({"table": "tidegate"})
    assert (fault.setting, fault.problem) == ("pools", "is missing")


def test_every_fault_is_said_at_once_across_pools_kinds_and_checks() -> None:
    tree = changed({".tick": "soon", ".tabel": 1, "min_workers": 60, "hold": "long", "pools.b.queue": "b c"})
    said = {fault.setting for fault in faults(tree, {"TIDEGATE_POOLS__B__MAX_WORKERS": "many"})}
    assert said == {
        "tick",
        "tabel",
        "pools.orders.min_workers",  # a check of two settings, though a third one of the pool is wrong
        "pools.orders.hold",
        "pools.b.queue",
        "pools.b.target_wait",
        "TIDEGATE_POOLS__B__MAX_WORKERS",
        "pools.b.ecs",
    }


def test_credentials_in_a_queue_url_are_not_shown() -> None:
    (fault,) = faults(changed({"queue": "https://user:hunter2@host/a b"}))
    assert "hunter2" not in str(fault)
    assert "https://…@host/a b" in str(fault)


TABLE_ARN = "arn:aws:dynamodb:eu-central-1:333333333333:table/tidegate"
SERVICE_ARN = "arn:aws:ecs:eu-central-1:111111111111:service/prod/orders"
CLUSTER_ARN = "arn:aws:ecs:eu-central-1:222222222222:cluster/prod"


@pytest.mark.parametrize(
    ("changes", "account"),
    [
        ({}, None),
        ({"ecs": {"cluster": "prod", "service": SERVICE_ARN}, ".table": TABLE_ARN}, "111111111111"),
        ({"ecs": {"cluster": CLUSTER_ARN, "service": "orders"}}, "222222222222"),
        ({".table": TABLE_ARN}, "333333333333"),
        ({"ecs": GONE, "asg": "workers", ".table": TABLE_ARN}, "333333333333"),
    ],
)
def test_the_controllers_own_account_is_what_arns_of_capacity_and_table_say(
    changes: dict[str, Any], account: str | None
) -> None:
    assert assemble(changed(changes), {}).settings.account == account
