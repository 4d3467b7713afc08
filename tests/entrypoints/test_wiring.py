"""Settings become adapters; nothing is asked of AWS while that happens."""

import io
from pathlib import Path
from typing import Any

import pytest

from tests.aws.moto_cloud import make_service, moto_clients
from tidegate.aws.clients import CONFIG, AwsClients
from tidegate.aws.dynamodb import create_table
from tidegate.aws.emf import EmfLines
from tidegate.config import Settings, load
from tidegate.controller.controller import MOST_THREADS
from tidegate.controller.observe import queue_metrics
from tidegate.controller.publisher import MinutePublisher
from tidegate.controller.shadow import ShadowStore
from tidegate.core.model import PoolState
from tidegate.entrypoints.wiring import shared_store, wire
from tidegate.errors import ConfigError, Invalid
from tidegate.stores.file import FileStore
from tidegate.stores.memory import MemoryStore
from tidegate.testing import FakeClock

IN_MEMORY = """
{extra}
[pools.orders]
queue = "orders"
target_wait = "30s"
asg = "orders-workers"
max_workers = 10
"""


@pytest.fixture
def settings(settings_file: Path) -> Settings:
    return load(settings_file, {}).settings


def in_memory(settings_file: Path, extra: str = 'region = "eu-central-1"') -> Settings:
    settings_file.write_text(IN_MEMORY.format(extra=extra))
    return load(settings_file, {}).settings


def test_each_pool_gets_its_queues_and_its_capacity(settings: Settings) -> None:
    wired = wire(settings, FakeClock())

    assert [(pool.name, pool.sources.queues, pool.sources.capacity.name) for pool in wired.pools] == [
        ("orders", ("orders",), "ecs:prod/orders"),
        ("mail", ("mail", "letters"), "asg:mail-workers"),
    ]
    assert wired.tick_s == 10


def test_every_thread_of_the_controller_finds_a_connection() -> None:
    connections: Any = CONFIG  # botocore sets its attributes dynamically

    assert connections.max_pool_connections >= MOST_THREADS


def test_how_often_leases_are_extended_is_handed_on_to_be_checked(settings_file: Path) -> None:
    text = settings_file.read_text()
    settings_file.write_text(text.replace('"30s"', '"30s"\nlease_heartbeat = "20s"'))

    orders, mail = wire(load(settings_file, {}).settings, FakeClock()).pools

    assert (orders.sources.lease_heartbeat_s, mail.sources.lease_heartbeat_s) == (20.0, None)


def test_a_pools_settings_are_asked_for_at_the_time_of_each_decision(settings: Settings) -> None:
    orders, _ = wire(settings, FakeClock()).pools

    assert orders.sources.settings_at(0) == settings.pools["orders"].at(0)


def test_one_pass_over_cloudwatch_covers_every_queue_of_every_pool(settings: Settings) -> None:
    wired = wire(settings, FakeClock())

    assert wired.metrics.wanted == tuple(
        metric for queue in ("orders", "mail", "letters") for metric in queue_metrics(queue)
    )


def test_states_and_heartbeats_are_in_the_directory_that_is_set(settings: Settings) -> None:
    pools = wire(settings, FakeClock()).pools

    assert all(isinstance(pool.store, FileStore) and pool.sources.fleet is pool.store for pool in pools)


def test_without_table_or_directory_states_are_in_memory_and_no_worker_can_report(settings_file: Path) -> None:
    (pool,) = wire(in_memory(settings_file), FakeClock()).pools

    assert isinstance(pool.store, MemoryStore)
    assert pool.sources.fleet is None


def test_a_dry_run_gets_a_store_that_keeps_everything_to_itself(settings: Settings) -> None:
    pools = wire(settings, FakeClock(), dry_run=True).pools

    for pool in pools:
        assert isinstance(pool.store, ShadowStore)
        pool.store.save(pool.name, PoolState(desired=9), 0)
        assert shared_store(settings).load(pool.name).version == 0


def test_an_operator_can_not_change_what_only_the_controllers_memory_holds(settings_file: Path) -> None:
    with pytest.raises(ConfigError, match=r"table = None: pool states are kept in the controller's memory.*state_dir"):
        shared_store(in_memory(settings_file))


ELSEWHERE = """
region = "eu-central-1"
table = "arn:aws:dynamodb:us-east-2:123456789012:table/tidegate"

[pools.mail]
queue = "mail"
target_wait = "30s"
ecs = { cluster = "CLUSTER", service = "SERVICE" }
max_workers = 10
"""


@pytest.mark.parametrize(
    ("cluster", "service"),
    [
        ("arn:aws:ecs:us-east-2:123456789012:cluster/jobs", "workers"),
        ("jobs", "arn:aws:ecs:us-east-2:123456789012:service/jobs/workers"),
    ],
)
def test_service_and_table_given_by_arn_are_asked_in_their_own_region(
    settings_file: Path, monkeypatch: pytest.MonkeyPatch, cluster: str, service: str
) -> None:
    settings_file.write_text(ELSEWHERE.replace("CLUSTER", cluster).replace("SERVICE", service))
    with moto_clients(monkeypatch):
        there = AwsClients("us-east-2")
        make_service(there, desired=3)
        create_table(there.dynamodb(), "tidegate")
        settings = load(settings_file, {}).settings
        (pool,) = wire(settings, FakeClock()).pools

        assert pool.sources.capacity.read().desired == 3
        assert pool.store.save("mail", PoolState(desired=3), 0) == 1
        assert shared_store(settings).load("mail").version == 1


def test_without_a_region_the_line_says_where_to_set_one(settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")

    with pytest.raises(Invalid, match=r"set `region` in the settings, or AWS_REGION"):
        wire(in_memory(settings_file, extra=""), FakeClock())


@pytest.mark.parametrize(("publish", "kind"), [("off", type(None)), ("log", EmfLines), ("cloudwatch", MinutePublisher)])
def test_metrics_go_where_the_settings_say(settings_file: Path, publish: str, kind: type) -> None:
    settings = in_memory(settings_file, f'region = "eu-central-1"\npublish = "{publish}"')
    assert isinstance(wire(settings, FakeClock(), log=io.StringIO()).publisher, kind)


@pytest.mark.parametrize("publish", ["log", "cloudwatch"])
def test_a_dry_run_publishes_nothing(settings_file: Path, publish: str) -> None:
    settings = in_memory(settings_file, f'region = "eu-central-1"\npublish = "{publish}"')
    assert wire(settings, FakeClock(), dry_run=True, log=io.StringIO()).publisher is None


def test_where_no_log_is_read_by_cloudwatch_none_is_written_for_it(settings_file: Path) -> None:
    settings = in_memory(settings_file, 'region = "eu-central-1"\npublish = "log"')
    assert wire(settings, FakeClock()).publisher is None
