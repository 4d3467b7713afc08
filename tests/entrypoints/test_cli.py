"""The commands: what they print, and the exit code that a script can go by."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from typer.testing import CliRunner, Result

from tests.controller.pool_rig import Rig, always
from tidegate.config import Settings
from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.observe import queue_metrics
from tidegate.controller.shadow import ShadowStore
from tidegate.core.decide import decide as core_decide
from tidegate.core.model import OverrideKind, PoolState
from tidegate.core.notation.durations import parse_duration
from tidegate.core.overrides import describe
from tidegate.entrypoints import wiring
from tidegate.entrypoints.cli import app
from tidegate.entrypoints.wiring import Wired
from tidegate.errors import Denied, Gone
from tidegate.ports import Clock, QueueCounts
from tidegate.stores.file import FileStore
from tidegate.worker.settings.worker_settings import PREFIX, WorkerSettings

NO_SERVICE = Gone("ecs:DescribeServices", "prod/orders", "MISSING")


def tidegate(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="tidegate")


@pytest.fixture
def store(settings_file: Path) -> FileStore:
    return FileStore(settings_file.parent / "state")


@pytest.fixture
def pools(settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Rig, Rig]]:
    """Fakes in place of both pools' adapters."""
    orders = Rig(decide=always(4))
    mail = Rig("mail", clock=orders.clock)

    def wire(settings: Settings, clock: Clock, *, dry_run: bool = False, log: TextIO | None = None) -> Wired:
        asked = [rig for rig in (orders, mail) if rig.name in settings.pools]
        ticks = [rig.tick(store=ShadowStore(rig.store)) if dry_run else rig.tick() for rig in asked]
        wanted = [metric for rig in (orders, mail) for metric in queue_metrics(rig.name)]
        return Wired(tuple(ticks), MinuteMetrics(orders.metrics, wanted), clock, settings.tick_s)

    monkeypatch.setattr(wiring, "wire", wire)
    return iter([(orders, mail)])


def test_validate_says_what_each_pool_will_do(settings_file: Path) -> None:
    result = tidegate("validate", str(settings_file))

    assert result.exit_code == 0
    assert "orders: queue orders → ECS prod/orders, 1 to 10 workers" in result.stdout


def test_validate_checks_the_file_that_the_other_commands_would_read(
    settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_CONFIG", str(settings_file))
    by_variable = tidegate("validate")
    by_option = tidegate("validate", "--config", str(settings_file))
    assert (by_variable.exit_code, by_option.exit_code) == (0, 0)
    assert "orders: queue orders" in by_variable.stdout
    assert by_variable.stdout == by_option.stdout


def test_validate_names_every_fault_in_a_line_of_its_own(settings_file: Path) -> None:
    text = settings_file.read_text()
    settings_file.write_text(text.replace("max_workers = 10", "max_workers = 0").replace('"60s"', '"soon"'))

    result = tidegate("validate", str(settings_file))

    assert result.exit_code == 2
    assert result.stdout == ""
    first, second = result.stderr.splitlines()
    assert first.startswith("tidegate: pools.orders.max_workers = 0: ")
    assert second.startswith("tidegate: pools.mail.target_wait = 'soon': ")


def test_warnings_are_shown_once_on_stderr_and_do_no_harm(settings_file: Path) -> None:
    settings_file.write_text(settings_file.read_text().replace('tick = "10s"', 'tick = "40s"'))

    result = tidegate("validate", str(settings_file))

    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("tidegate: warning: pools.orders.target_wait = '30s': is shorter than tick = 40s")


def test_schema_is_json_schema() -> None:
    result = tidegate("schema")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_a_missing_settings_file_is_one_line(settings_file: Path) -> None:
    result = tidegate("once", "--config", "elsewhere.toml")

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("tidegate: elsewhere.toml")
    assert "there is no such file" in line


def test_the_settings_file_can_come_from_the_environment(
    settings_file: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = settings_file.rename(settings_file.with_name("other.toml"))
    monkeypatch.setenv("TIDEGATE_CONFIG", str(elsewhere))

    assert tidegate("freeze", "orders").exit_code == 0
    assert store.load("orders").version == 1


def test_once_prints_each_pools_sentence_and_steps(pools: Iterator[tuple[Rig, Rig]]) -> None:
    result = tidegate("once")

    assert result.exit_code == 0
    assert "orders: orders: 2 → 4\n" in result.stdout
    assert "mail: mail: 2 → 2\n" in result.stdout


def test_once_as_json_is_one_line_per_pool(pools: Iterator[tuple[Rig, Rig]]) -> None:
    result = tidegate("once", "--json")

    lines = {line["pool"]: line for line in map(json.loads, result.stdout.splitlines())}
    assert lines["orders"]["wrote"] is True
    assert lines["orders"]["decision"]["desired"] == 4
    assert lines["mail"]["wrote"] is False


def test_once_serves_all_pools_and_then_ends_with_2_when_one_failed(pools: Iterator[tuple[Rig, Rig]]) -> None:
    orders, mail = next(pools)
    mail.capacity.error = NO_SERVICE

    result = tidegate("once", "--json")

    assert result.exit_code == 2
    assert orders.capacity.writes == [4]
    assert result.stderr == f"tidegate: mail: {NO_SERVICE}\n"
    failed = [line for line in map(json.loads, result.stdout.splitlines()) if "error" in line]
    assert failed == [{"pool": "mail", "error": str(NO_SERVICE), "kind": "Gone"}]


def test_once_with_a_fault_of_our_own_shows_its_traceback(pools: Iterator[tuple[Rig, Rig]]) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by nothing")

    orders, _ = next(pools)
    orders.decide = broken  # type: ignore[assignment]  # the fault

    result = tidegate("once")

    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert "by nothing" in result.stderr


def test_once_without_cloudwatch_warns_once_and_succeeds_as_every_pool_was_decided(
    pools: Iterator[tuple[Rig, Rig]],
) -> None:
    orders, mail = next(pools)
    orders.decide = mail.decide = core_decide
    orders.metrics.error = denied = Denied("cloudwatch:GetMetricData", "AWS/SQS", "AccessDenied")

    result = tidegate("once", "--json")

    assert result.exit_code == 0
    assert result.stderr == f"tidegate: warning: {denied}; deciding from counts and reports alone\n"
    decisions = [json.loads(line)["decision"] for line in result.stdout.splitlines()]
    assert [decision["errors"] for decision in decisions] == [[], []]


def test_once_warns_of_leases_that_lapse(pools: Iterator[tuple[Rig, Rig]]) -> None:
    orders, _ = next(pools)
    orders.lease_heartbeat_s = 30.0

    result = tidegate("once")

    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("tidegate: warning: orders: pools.orders.lease_heartbeat = '30s': too long")


def test_a_dry_run_sets_and_stores_nothing(pools: Iterator[tuple[Rig, Rig]]) -> None:
    orders, _ = next(pools)

    result = tidegate("once", "--dry-run")

    assert "orders: 2 → 4" in result.stdout
    assert orders.capacity.writes == []
    assert orders.store.load("orders").version == 0


def test_run_ends_with_2_and_a_line_per_fault_when_nothing_can_be_served(pools: Iterator[tuple[Rig, Rig]]) -> None:
    for rig in next(pools):
        rig.capacity.error = NO_SERVICE

    result = tidegate("run")

    assert result.exit_code == 2
    assert result.stderr == f"tidegate: orders, mail: {NO_SERVICE}\n"


def test_freeze_is_kept_with_who_and_until(settings_file: Path, store: FileStore) -> None:
    result = tidegate("freeze", "orders", "--for", "2h")

    override = store.load("orders").state.override
    assert override is not None
    assert override.kind is OverrideKind.FREEZE
    assert override.who.startswith("ann@")
    assert override.until_s == override.since_s + 7200
    assert result.stdout == f"orders: {describe(override)}\n"
    assert override.who in result.stdout


@pytest.mark.parametrize("failure", [KeyError("getpwuid(): uid not found: 54321"), OSError("No username set")])
def test_who_has_a_number_only_is_named_by_it(
    settings_file: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def no_name(uid: int) -> None:
        raise failure

    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_name)
    monkeypatch.setattr("os.getuid", lambda: 54321)

    frozen, pinned = tidegate("freeze", "orders"), tidegate("pin", "mail", "3")

    assert (frozen.exit_code, pinned.exit_code) == (0, 0)
    for pool in ("orders", "mail"):
        override = store.load(pool).state.override
        assert override is not None
        assert override.who == f"uid54321@{socket.gethostname()}"


def test_pin_and_resume(settings_file: Path, store: FileStore) -> None:
    store.save("orders", PoolState(desired=3), 0)

    pinned = tidegate("pin", "orders", "7")
    assert "orders: pinned at 7 by ann@" in pinned.stdout
    assert "until resumed" in pinned.stdout
    held = store.load("orders").state
    assert held.override is not None
    assert (held.override.workers, held.desired) == (7, 3)

    resumed = tidegate("resume", "orders")
    assert "orders: run by the controller; it was pinned at 7 by ann@" in resumed.stdout
    assert store.load("orders").state == PoolState(desired=3)

    again = tidegate("resume", "orders")
    assert again.exit_code == 0
    assert again.stdout == "orders: run by the controller already\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("pin", "orders", "11"),
            "pin orders = 11: above max_workers = 10 (from settings); "
            "pin to 0 … 10, or raise pools.orders.max_workers first",
        ),
        (("freeze", "order"), "POOL = 'order': no such pool in tidegate.toml; write one of orders, mail"),
        (
            ("freeze", "orders", "--for", "2x"),
            "--for = '2x': not a duration; write seconds as a number (90) or a number with a unit: "
            '"250ms", "90s", "5m", "1h30m", "2d"',
        ),
        (
            ("pin", "orders", "3", "--for=-2h"),
            "--for = '-2h': negative; write seconds as a number (90) or a number with a unit: "
            '"250ms", "90s", "5m", "1h30m", "2d"',
        ),
        *(
            (
                (*command, "--for", length),
                f"--for = '{length}': {problem}; write a time such as 2h, at most 366d, or leave --for out to hold the "
                "pool until `tidegate resume`",
            )
            for command in (("freeze", "orders"), ("pin", "orders", "3"))
            for length, problem in (
                ("0", "no time at all"),
                ("366d1ms", "more than a year"),
                ("9999999h", "more than a year"),
            )
        ),
        (
            ("run", "--log-level", "loud"),
            "--log-level = 'loud': no such level; write one of debug, info, warning, error",
        ),
    ],
)
def test_a_wrong_argument_is_one_line_with_the_value_and_the_fix(
    settings_file: Path, store: FileStore, arguments: tuple[str, ...], line: str
) -> None:
    result = tidegate(*arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"tidegate: {line}\n")
    assert store.load("orders").version == 0


def test_explain_decides_for_one_pool_with_every_step_and_changes_nothing(pools: Iterator[tuple[Rig, Rig]]) -> None:
    orders, mail = next(pools)
    mail.decide = core_decide
    mail.counts.queues["mail"] = QueueCounts(900, 0, 0)

    result = tidegate("explain", "mail")

    assert result.exit_code == 0
    sentence, *steps = result.stdout.splitlines()
    assert sentence.startswith("mail: 2 → ")
    names = [step.split()[0] for step in steps]
    assert names[:4] == ["signals", "capacity", "estimate", "size"]
    assert (mail.capacity.writes, orders.counts.asked, mail.store.load("mail").version) == ([], [], 0)


def test_explain_names_the_pools_there_are_and_fails_with_a_pool_that_fails(pools: Iterator[tuple[Rig, Rig]]) -> None:
    _, mail = next(pools)
    unknown = tidegate("explain", "letters")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "no such pool in tidegate.toml; write one of orders, mail" in unknown.stderr
    mail.capacity.error = NO_SERVICE
    assert tidegate("explain", "mail", "--json").exit_code == 2


@pytest.mark.parametrize("command", [("freeze", "orders"), ("pin", "orders", "3")])
@pytest.mark.parametrize("length", ["1ms", "2h", "366d"])
def test_every_time_up_to_a_year_is_taken(
    settings_file: Path, store: FileStore, command: tuple[str, ...], length: str
) -> None:
    result = tidegate(*command, "--for", length)

    assert result.exit_code == 0, result.stderr
    override = store.load("orders").state.override
    assert override is not None
    assert override.until_s == pytest.approx(override.since_s + parse_duration(length))


def test_version() -> None:
    result = tidegate("--version")

    assert result.exit_code == 0
    assert result.stdout.startswith("tidegate ")


def test_a_usage_error_is_exit_code_2() -> None:
    assert tidegate("once", "--no-such-option").exit_code == 2


def test_work_hands_its_options_to_the_worker_and_leaves_out_what_was_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[str, str | None, dict[str, object]]] = []

    def run_worker(target: str, queue: str | None = None, **options: object) -> None:
        calls.append((target, queue, {name: value for name, value in options.items() if value is not None}))

    monkeypatch.setattr("tidegate.entrypoints.worker.run_worker", run_worker)

    result = tidegate(
        *("work", "shop.jobs:send", "--queue", "orders", "--pool", "shop", "--slots", "4", "--poll-wait", "5s"),
        *("--grace", "20s", "--heartbeat", "2s", "--state-dir", "state", "--visibility-timeout", "10s"),
    )

    assert result.exit_code == 0
    assert calls == [
        (
            "shop.jobs:send",
            "orders",
            {
                "pool": "shop",
                "slots": "4",
                "poll_wait": "5s",
                "grace": "20s",
                "heartbeat": "2s",
                "state_dir": Path("state"),
                "visibility_timeout": "10s",
            },
        )
    ]


WORK = ("work", "tests.worker.handlers:quick", "--queue", "orders")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[WorkerSettings]:
    """The settings of each worker that was run, none of which does anything."""
    ran: list[WorkerSettings] = []
    monkeypatch.setattr("tidegate.entrypoints.worker.Worker.work", lambda worker: ran.append(worker.settings))
    for name in [name for name in os.environ if name.startswith((PREFIX, "ECS_"))]:
        monkeypatch.delenv(name)
    return ran


def test_an_option_of_work_wins_over_its_variable_and_a_variable_over_the_default(
    started: list[WorkerSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"QUEUE": "mail", "SLOTS": "8", "POLL_WAIT": "3", "STOP_TIMEOUT": "60", "POOL": "shop"}.items():
        monkeypatch.setenv(PREFIX + name, value)

    result = tidegate(*WORK, "--slots", "4", "--poll-wait", "5s", "--stop-timeout", "2m")

    assert result.exit_code == 0, result.stderr
    (settings,) = started
    assert (settings.queue, settings.slots, settings.poll_wait_s, settings.stop_timeout) == ("orders", 4, 5, 120)
    assert (settings.pool, settings.heartbeat) == ("shop", 10.0)


TYPED: dict[str, tuple[str, object]] = {
    "pool": ("shop", "shop"),
    "id": ("w1", "w1"),
    "slots": ("4", 4),
    "poll_wait": ("5s", 5.0),
    "visibility_timeout": ("40s", 40.0),
    "grace": ("20s", 20.0),
    "stop_timeout": ("31s", 31.0),
    "heartbeat": ("2s", 2.0),
    "region": ("eu-west-1", "eu-west-1"),
    "retry_base": ("2s", 2.0),
    "retry_cap": ("3m", 180.0),
    "max_receives": ("5", 5),
    "retry_budget": ("0.1", 0.1),
    "retry_floor": ("2", 2.0),
    "start_delay": ("3s", 3.0),
    "health_port": ("8080", 8080),
    "health_file": ("health.json", Path("health.json")),
    "stuck_after": ("10m", 600.0),
    "dead_letter_queue": ("orders-dead", "orders-dead"),
    "class_slots": ("bulk=2", "bulk=2"),
    "fleet_slots": ("40", 40),
    "class_fleet_slots": ("bulk=2, *=5", "bulk=2, *=5"),
    "batch_size": ("5", 5),
    "prefetch": ("0", 0),
    "executor": ("process", "process"),
    "max_extensions": ("9", 9),
    "progress_timeout": ("1m", 60.0),
    "asg": ("orders-workers", "orders-workers"),
    "log_level": ("warning", "warning"),
}
"""What is typed for an option, and the setting that it makes."""


def test_every_setting_of_a_worker_is_an_option_of_work_and_gets_there(
    started: list[WorkerSettings], tmp_path: Path
) -> None:
    options = [part for name, (text, _) in TYPED.items() for part in (f"--{name.replace('_', '-')}", text)]

    results = [
        tidegate(
            *WORK, *options, "--table", "fleet", "--lifecycle-hook", "drain", "--no-protect", "--leave-when-stuck"
        ),
        tidegate(*WORK, *options, "--state-dir", str(tmp_path), "--no-notices", "--no-leave-when-stuck"),
    ]

    assert [result.exit_code for result in results] == [0, 0], results[0].stderr
    to_table, to_directory = (settings.model_dump() for settings in started)
    typed = {name: value for name, (_, value) in TYPED.items()}
    common = {"queue": "orders", **typed}
    at_aws = {"table": "fleet", "state_dir": None, "lifecycle_hook": "drain", "protect": False, "notices": True}
    on_one_machine = {"table": None, "state_dir": tmp_path, "lifecycle_hook": None, "protect": True, "notices": False}
    assert to_table == {**common, **at_aws, "leave_when_stuck": True}
    assert to_directory == {**common, **on_one_machine, "leave_when_stuck": False}


def test_a_poll_wait_that_is_none_is_refused_in_the_words_of_the_help(started: list[WorkerSettings]) -> None:
    said = tidegate(*WORK, "--poll-wait", "0").stderr
    promised = " ".join(tidegate("work", "--help").stdout.split())

    assert started == []
    assert said.startswith("tidegate: poll_wait = '0': no long poll")
    assert said.endswith("; write whole seconds from 1 to 20\n")
    assert "Long poll, whole seconds from 1 to 20" in promised


def test_work_on_a_handler_that_is_not_there_is_one_line() -> None:
    result = tidegate("work", "no_such_module:handle", "--queue", "orders")

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("tidegate: handler = 'no_such_module:handle': ")


def test_work_on_a_handler_whose_module_fails_shows_nothing_of_what_its_error_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "needs_a_database.py").write_text("raise OSError('postgres://shop:hunter2@db/shop')")

    result = tidegate("work", "needs_a_database:handle", "--queue", "orders")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "raised OSError at needs_a_database:1" in result.stderr
    assert "hunter2" not in result.stderr


def test_demo_says_which_extra_to_install_when_the_sandbox_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("tidegate.sandbox", "moto."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "moto", None)

    result = tidegate("demo")

    assert result.exit_code == 2
    assert result.stderr == "tidegate: demo needs moto, which is not installed; run: pip install 'tidegate[sandbox]'\n"


@pytest.mark.integration
def test_starting_the_command_line_loads_neither_aws_nor_the_settings_nor_the_controller() -> None:
    heavy = ("boto3", "aiobotocore", "pydantic", "structlog", "tidegate.controller", "tidegate.worker", "moto")
    code = f"import sys, tidegate.entrypoints.cli; print([name for name in {heavy} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)

    assert done.stdout == "[]\n"
