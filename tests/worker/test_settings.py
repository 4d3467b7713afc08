"""A worker's settings: defaults, what the environment overrides, and every fault with its fix."""

from pathlib import Path
from typing import Any

import pytest

from tidegate.errors import ConfigError
from tidegate.worker.settings.worker_settings import WorkerSettings, command_line_settings, worker_settings


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ECS_CONTAINER_STOP_TIMEOUT", raising=False)
    for name in WorkerSettings.model_fields:
        monkeypatch.delenv(f"TIDEGATE_WORKER_{name.upper()}", raising=False)


def faults(**keywords: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        worker_settings({"queue": "orders", **keywords})
    return str(caught.value)


def test_only_the_queue_is_needed() -> None:
    settings = worker_settings({"queue": "orders"})
    assert (settings.slots, settings.grace_s, settings.poll_wait_s, settings.visibility_timeout_s) == (1, 25, 12, None)


@pytest.mark.parametrize(
    ("stop_timeout", "grace_s", "poll_wait_s"),
    [("30s", 25, 12), ("120", 115, 20), ("2m", 115, 20), ("6", 3, 1), ("2", 1, 1)],
)
def test_grace_and_poll_wait_follow_from_the_platforms_stop_timeout(
    monkeypatch: pytest.MonkeyPatch, stop_timeout: str, grace_s: float, poll_wait_s: int
) -> None:
    monkeypatch.setenv("ECS_CONTAINER_STOP_TIMEOUT", stop_timeout)
    settings = worker_settings({"queue": "orders"})
    assert (settings.grace_s, settings.poll_wait_s) == (grace_s, poll_wait_s)


def test_the_environment_wins_over_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_WORKER_SLOTS", "8")
    monkeypatch.setenv("TIDEGATE_WORKER_GRACE", "20s")
    settings = worker_settings({"queue": "orders", "slots": 2, "grace": 5, "pool": None})
    assert (settings.slots, settings.grace_s) == (8, 20.0)


def test_what_was_typed_on_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_WORKER_SLOTS", "8")
    monkeypatch.setenv("TIDEGATE_WORKER_STOP_TIMEOUT", "1m")
    monkeypatch.setenv("TIDEGATE_WORKER_POOL", "shop")
    settings = command_line_settings({"queue": "orders", "slots": 2, "stop_timeout": "40s", "pool": None})
    assert (settings.slots, settings.stop_timeout, settings.pool) == (2, 40.0, "shop")


@pytest.mark.parametrize(
    ("environment", "keywords", "stop_timeout_s"),
    [
        ({}, {}, 30),
        ({"ECS_CONTAINER_STOP_TIMEOUT": "90s"}, {}, 90),
        ({"ECS_CONTAINER_STOP_TIMEOUT": "90s"}, {"stop_timeout": 60}, 60),
        ({"ECS_CONTAINER_STOP_TIMEOUT": "90s", "TIDEGATE_WORKER_STOP_TIMEOUT": "120"}, {"stop_timeout": 60}, 120),
        ({"STOP_TIMEOUT": "7", "stop_timeout": "8", "ECS_CONTAINER_STOP_TIMEOUT": ""}, {}, 30),
    ],
)
def test_the_platforms_stop_timeout_is_a_default_and_variables_of_other_programs_are_none(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], keywords: dict[str, Any], stop_timeout_s: float
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert worker_settings({"queue": "orders", **keywords}).stop_timeout == stop_timeout_s


def test_the_queue_may_come_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_WORKER_QUEUE", "orders")
    assert worker_settings({"queue": None}).queue == "orders"


def test_every_fault_is_named_at_once_with_its_value_and_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_WORKER_HEARTBEAT", "soon")
    said = faults(queue=None, slots=0, solts=3, poll_wait=0, stop_timeout=0, visibility_timeout="13h").splitlines()
    assert any(each.startswith("heartbeat = 'soon': not a duration; write seconds") for each in said)
    assert "queue = None: not given; pass queue=… or set TIDEGATE_WORKER_QUEUE" in said
    assert any(each.startswith("slots = 0: ") and "from 1 to 1000" in each for each in said)
    assert {each.partition(" = ")[0] for each in said} == {
        *("heartbeat", "queue", "slots", "solts", "poll_wait", "stop_timeout", "visibility_timeout")
    }
    assert "solts = 3: there is no such setting; did you mean slots?" in said


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"poll_wait": 21}, "poll_wait = 21: no long poll"),
        ({"poll_wait": 0}, "each is billed); write whole seconds from 1 to 20"),
        ({"poll_wait": 1.5}, "poll_wait = 1.5: no long poll"),
        ({"poll_wait": 20, "grace": 10}, "poll_wait = 20.0: longer than the grace of 10s"),
        ({"grace": 30}, "grace = 30.0: reaches the stop timeout of 30s, at which the platform kills"),
        ({"grace": 20, "stop_timeout": 15}, "shorten it, or set stop_timeout to the platform's own"),
        ({"visibility_timeout": 0}, "visibility_timeout = 0: no lease that can be kept alive; write whole seconds"),
        ({"visibility_timeout": "13h"}, "visibility_timeout = '13h': no lease"),
        ({"heartbeat": 0}, "heartbeat = 0: not more than nothing"),
        ({"stop_timeout": "0s"}, "stop_timeout = '0s': not more than nothing"),
        ({"grace": "-1"}, "grace = '-1': negative"),
        ({"retry_base": 10, "retry_cap": 5}, "retry_base = 10.0: more than retry_cap = 5s"),
        ({"lifecycle_hook": "drain"}, "nobody would know when to keep and to complete it; set asg"),
        ({"lifecycle_hook": "drain", "asg": "workers", "notices": False}, "leave notices on"),
        ({"table": "fleet", "state_dir": "fleet.d"}, "table = 'fleet' is given too; give one of them"),
        ({"queue": ""}, "queue = '': is empty; write the queue's URL"),
        ({"queue": '["q"'}, """queue = '["q"': is no queue; write the queue's name"""),
        ({"queue": "orders=2, my mail"}, "queue = 'my mail': is no queue; write the queue's name"),
        ({"dead_letter_queue": "not a queue!"}, "dead_letter_queue = 'not a queue!': is no queue; write"),
        ({"pool": "a\nb"}, r"pool = 'a\nb': is no name; write up to 200 characters"),
        ({"id": "x" * 201}, "': is no name; write up to 200 characters, without control characters"),
        ({"health_file": "9" * 5000}, "can't be: file name too long; name a file"),
        ({"health_file": "/"}, "health_file = '/': is a directory; name a file in a directory that is there"),
        ({"fleet_slots": 0}, "fleet_slots = 0: is too small; write a whole number from 1 to 1000000"),
        ({"fleet_slots": "2.5"}, "fleet_slots = '2.5': is not a whole number; write"),
        ({"batch_size": 99}, "batch_size = 99: is too large; write a whole number from 1 to 10"),
        ({"retry_budget": "nan"}, "retry_budget = 'nan': is not a number; write retries per completed message"),
        ({"retry_budget": "inf"}, "retry_budget = 'inf': is not a number; write"),
        ({"retry_floor": 0}, "retry_floor = 0: is too small; write retries a second, above 0"),
        ({"leave_when_stuck": "maybe"}, "leave_when_stuck = 'maybe': is neither true nor false; write true or false"),
        ({"executor": "fork"}, "executor = 'fork': is none of the words that this can be; write thread or process"),
        ({"pool": 3}, "pool = 3: is not a text; write a text"),
        ({"state_dir": 3}, "state_dir = 3: is not a text; write a text"),
        ({"state_dir": "s3://bucket/d"}, "state_dir = 's3://bucket/d': is a URL; write a path on this machine"),
        ({"state_dir": Path("s3://bucket")}, "is a URL; write a path on this machine"),
        ({"health_file": "~/h"}, "health_file = '~/h': has a ~, which only a shell knows; write the path in full"),
        ({"heartbeat": "15d"}, "heartbeat = '15d': longer than SQS keeps a message; write a time up to 14d"),
        ({"class_fleet_slots": "a=1e308"}, "class_fleet_slots = 'a=1e308': a has more than 1000000 slots; write"),
        (
            {"class_fleet_slots": "a=5, *=2", "fleet_slots": 4, "state_dir": "d"},
            "a may have 5 of fleet_slots = 4; write 1 to 4, or raise fleet_slots",
        ),
        ({"class_slots": "*=1", "slots": 4}, "class_slots = '*=1': * stands for no class here; name the classes"),
    ],
)
def test_a_setting_that_cannot_hold_is_refused(keywords: dict[str, Any], says: str) -> None:
    assert says in faults(**keywords)


@pytest.mark.parametrize("value", [object(), [], {}, b"x", 1e400, -1, "", "x", True, "9" * 5000], ids=range(10))
@pytest.mark.parametrize("name", WorkerSettings.model_fields)
def test_whatever_a_setting_is_given_a_fault_of_it_is_in_plain_words(name: str, value: object) -> None:
    try:
        worker_settings({"queue": "orders", "class_slots": None, name: value})
    except ConfigError as error:
        for fault in error.faults:
            assert fault.fix
            assert not any(word in str(fault).lower() for word in ("input should", "pydantic", "instance of", "valid"))


@pytest.mark.parametrize("lease", [1, 43_200, "12h", "30s"])
def test_every_lease_that_sqs_gives_is_accepted(lease: object) -> None:
    assert worker_settings({"queue": "orders", "visibility_timeout": lease}).visibility_timeout_s


def test_the_documentation_names_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs" / "worker.md").read_text()
    rows = [
        row.split("|")[1]
        for row in page.partition("\n## Settings\n")[2].partition("\n## ")[0].splitlines()
        if row.startswith("| `")
    ]
    assert {name.strip(" `") for row in rows for name in row.split(",")} == set(WorkerSettings.model_fields)
