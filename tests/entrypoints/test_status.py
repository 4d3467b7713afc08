"""`tidegate status`: what is stored of each pool, in words, and the exit code that a script can go by."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.core.observations import worker
from tidegate.core.condition import Condition, Pressure
from tidegate.core.memory import HealthMemory, Skew
from tidegate.core.model import Override, OverrideKind, PoolState
from tidegate.core.overrides import describe
from tidegate.entrypoints.cli import app
from tidegate.stores.file import FileStore


def tidegate(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="tidegate")


@pytest.fixture
def store(settings_file: Path) -> FileStore:
    return FileStore(settings_file.parent / "state")


def report(store: FileStore, worker_id: str, *, held: int, lately: int, behind_s: float = 0.0) -> None:
    """A heartbeat of now: `held` retries put off since the worker's start, `lately` of them since its last one.

    By a clock that is so far behind.
    """
    now_s = time.time()
    beat = worker(worker_id, at_s=now_s - behind_s)
    told = replace(beat, recent=replace(beat.recent, retries_held=lately), total=replace(beat.total, retries_held=held))
    asyncio.run(store.put("orders", told, now_s + 30))


def test_status_says_who_holds_each_pool_and_what_was_asked_for(settings_file: Path, store: FileStore) -> None:
    store.save("mail", PoolState(desired=3), 0)
    tidegate("freeze", "orders")

    result = tidegate("status")

    orders, mail = result.stdout.splitlines()
    assert orders.startswith("orders: frozen by ann@")
    assert orders.endswith("until resumed; nothing asked for yet")
    assert mail == "mail: run by the controller; last asked for 3"


def test_status_says_that_a_pool_is_at_its_ceiling_and_late(settings_file: Path, store: FileStore) -> None:
    store.save("orders", PoolState(desired=10, pressure=Pressure(0.0, 90.0, Condition.AT_CEILING)), 0)

    orders, *_ = tidegate("status").stdout.splitlines()

    assert orders == (
        "orders: run by the controller; last asked for 10; "
        "at its ceiling and late for more than a minute: producers are told to send less"
    )


def test_status_shows_how_a_pool_that_was_watched_fares(settings_file: Path, store: FileStore) -> None:
    counted = HealthMemory(pinned=0.9, time_at_s={"10": 90.0, "3": 10.0}, watched_s=3600.0)
    store.save("orders", PoolState(desired=10, health=counted), 0)

    orders, figures, advice, _ = tidegate("status").stdout.splitlines()

    assert orders == "orders: run by the controller; last asked for 10"
    assert figures == (
        "  health    0.0 changes a minute, 0 turns in an hour, at the ceiling 90% of it; 10 workers for 90% of 1h"
    )
    assert advice.startswith("  advice    at the ceiling for 90% of the last hour: raise what binds")


def test_status_shows_every_pool_that_can_be_read_and_ends_with_2_for_those_that_can_not(
    settings_file: Path, store: FileStore
) -> None:
    damaged = settings_file.parent / "state" / "orders.pool"
    damaged.mkdir(parents=True)
    (damaged / "state.json").write_text("[" * 100_000)

    result = tidegate("status")

    assert result.exit_code == 2
    assert result.stdout == "mail: run by the controller; nothing asked for yet\n"
    (line,) = result.stderr.splitlines()
    assert line.startswith("tidegate: orders: state of pool orders can't be read: ")


def test_status_makes_no_file_and_no_directory(settings_file: Path) -> None:
    result = tidegate("status")

    assert result.exit_code == 0
    assert list(settings_file.parent.iterdir()) == [settings_file]


def test_an_override_that_has_run_out_holds_nothing_any_more(settings_file: Path, store: FileStore) -> None:
    store.save("orders", PoolState(override=Override(OverrideKind.FREEZE, "ann@desk", since_s=0.0, until_s=60.0)), 0)

    assert tidegate("status").stdout.startswith("orders: run by the controller;")
    assert tidegate("resume", "orders").stdout == "orders: run by the controller already\n"


@pytest.mark.parametrize("until_s", [1e11, 3e11, 1e18, 1e300])
def test_an_override_until_beyond_every_calendar_can_be_shown_and_lifted(
    settings_file: Path, store: FileStore, until_s: float
) -> None:
    override = Override(OverrideKind.PIN, "ann@desk", since_s=0.0, until_s=until_s, workers=7)
    store.save("orders", PoolState(override=override), 0)

    shown, lifted = tidegate("status"), tidegate("resume", "orders")

    assert (shown.exit_code, lifted.exit_code) == (0, 0)
    assert shown.stdout.startswith(f"orders: {describe(override)}; ")
    assert lifted.stdout == f"orders: run by the controller; it was {describe(override)}\n"
    assert store.load("orders").state.override is None


def test_status_says_how_many_retries_the_budget_holds_back_and_what_that_means(
    settings_file: Path, store: FileStore
) -> None:
    report(store, "w1", held=12, lately=3)
    report(store, "w2", held=5, lately=0)

    _, retries, mail = tidegate("status").stdout.splitlines()

    assert retries == (
        "  retries   17 put off by the retry budget since these workers started, 3 of them in the last reports: "
        "handlers fail or ask for a retry, and these messages stay hidden in the queue until their turn"
    )
    assert mail.startswith("mail: ")


def test_status_goes_by_the_same_clock_as_decisions(settings_file: Path, store: FileStore) -> None:
    store.save("orders", PoolState(skew=Skew(behind_s=90.0)), 0)
    report(store, "w1", held=12, lately=3, behind_s=90.0)

    assert "12 put off by the retry budget" in tidegate("status").stdout


def test_status_says_nothing_of_retries_where_none_was_held_back(settings_file: Path, store: FileStore) -> None:
    report(store, "w1", held=0, lately=0)

    assert [line.split()[0] for line in tidegate("status").stdout.splitlines()] == ["orders:", "mail:"]


def test_status_shows_a_pool_whose_reports_can_not_be_read_and_ends_with_2(
    settings_file: Path, store: FileStore
) -> None:
    report(store, "w1", held=1, lately=1)
    beats = settings_file.parent / "state" / "orders.pool" / "workers" / "w1.json"
    beats.write_text(json.dumps({"expires_at_s": time.time() + 30, "report": {}}))

    result = tidegate("status")

    assert result.exit_code == 2
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["orders:", "mail:"]
    assert result.stderr.startswith("tidegate: orders: report w1.json in pool orders can't be read: ")
