"""What every store of pool state and heartbeats holds to: in memory, in files, in DynamoDB."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.aws.moto_cloud import moto_clients
from tests.contract.fleet import report
from tidegate.aws import fleet_items
from tidegate.aws.dynamodb import DynamoFleetTable, create_table
from tidegate.core.directive import Directive
from tidegate.core.model import Override, OverrideKind, PoolState, Sample, ServiceTime
from tidegate.core.reports import WorkerReport
from tidegate.errors import StateConflict, StateUnreadable
from tidegate.ports import DirectiveWriter, FleetReader, HeartbeatSink, StateStore, StoredState
from tidegate.stores.file import FileStore
from tidegate.stores.memory import MemoryStore


class Store(StateStore, FleetReader, DirectiveWriter, HeartbeatSink, Protocol):
    """All four ports on one store."""


class TableWithSink(DynamoFleetTable):
    """DynamoDB's table with the heartbeats written as the worker writes them (there through aiobotocore)."""

    def __init__(self, client: Any) -> None:
        super().__init__(client, "fleet")
        self._sink = client

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None:
        self._sink.put_item(TableName="fleet", Item=fleet_items.report_to_item(pool, report, expires_at_s))

    async def directive(self, pool: str) -> Directive:
        answer = self._sink.get_item(TableName="fleet", Key=fleet_items.directive_key(pool))
        return fleet_items.item_to_directive(pool, answer.get("Item"))

    async def close(self) -> None:
        """Nothing to close."""


@pytest.fixture(params=["memory", "file", "dynamodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
    elif request.param == "file":
        yield FileStore(tmp_path / "made" / "by the store")
    else:
        with moto_clients(monkeypatch) as clients:
            create_table(clients.dynamodb(), "fleet")
            yield TableWithSink(clients.dynamodb())


STATE = PoolState(
    samples=(Sample(1.5, 10.25, 3.0, 4.0), Sample(2.5, 11.0, 0.0, 1.0)),
    needs=((1.5, 3), (2.5, 4)),
    service_time=ServiceTime(10.0, 3.5, 1.75),
    start_ups_s=(20.0, 31.5),
    raises=((2.5, 2),),
    override=Override(OverrideKind.PIN, "ops@desk", 1.0, 7201.0, 5),
    desired=5,
)


def test_a_pool_that_was_never_saved_is_empty_at_version_0(store: Store) -> None:
    assert store.load("mail") == StoredState(PoolState(), 0)


def test_a_state_comes_back_as_it_was_saved(store: Store) -> None:
    assert store.save("mail", STATE, 0) == 1
    assert store.load("mail") == StoredState(STATE, 1)


def test_each_save_raises_the_version_by_one(store: Store) -> None:
    assert [store.save("mail", PoolState(desired=n), n) for n in range(4)] == [1, 2, 3, 4]
    assert store.load("mail") == StoredState(PoolState(desired=3), 4)


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_save_at_another_version_is_a_conflict_and_changes_nothing(store: Store, expected: int) -> None:
    store.save("mail", PoolState(desired=1), 0)
    store.save("mail", PoolState(desired=2), 1)
    with pytest.raises(StateConflict, match=f"state of pool mail is no longer at version {expected}"):
        store.save("mail", PoolState(desired=9), expected)
    assert store.load("mail") == StoredState(PoolState(desired=2), 2)


def test_a_save_over_nothing_must_expect_version_0(store: Store) -> None:
    with pytest.raises(StateConflict):
        store.save("mail", PoolState(), 1)
    assert store.load("mail").version == 0


def test_of_writers_at_one_version_exactly_one_wins_and_its_state_stands(store: Store) -> None:
    for version in range(5):
        start = threading.Barrier(6)

        def write(n: int, version: int = version, start: threading.Barrier = start) -> int | None:
            start.wait()
            try:
                store.save("mail", PoolState(desired=100 * version + n), version)
            except StateConflict:
                return None
            return 100 * version + n

        with ThreadPoolExecutor(6) as writers:
            won = [n for n in writers.map(write, range(6)) if n is not None]
        assert len(won) == 1
        assert store.load("mail") == StoredState(PoolState(desired=won[0]), version + 1)


@pytest.mark.parametrize("other", ["post", "mail2", "mail/state", "..", "pool#mail", "mail#workers", "ma il", "Mail"])
async def test_two_pools_never_see_each_other(store: Store, other: str) -> None:
    store.save("mail", PoolState(desired=1), 0)
    await store.put("mail", report("i-1"), 1000.0)
    assert store.load(other).version == 0
    assert store.workers(other, 0.0) == ()
    store.save(other, PoolState(desired=2), 0)
    await store.put(other, report("i-1", busy=4), 1000.0)
    assert store.load("mail") == StoredState(PoolState(desired=1), 1)
    assert store.workers("mail", 0.0) == (report("i-1"),)


async def test_the_newest_report_of_each_worker_is_read_in_the_order_of_their_ids(store: Store) -> None:
    for worker, busy in [("i-2", 1), ("i-10", 1), ("i-2", 3), ("i-1", 0)]:
        await store.put("mail", report(worker, busy), 1000.0)
    assert store.workers("mail", 0.0) == (report("i-1", 0), report("i-10", 1), report("i-2", 3))


@pytest.mark.parametrize(("now_s", "seen"), [(999.0, 1), (1000.0, 0), (1001.0, 0)])
async def test_a_report_counts_until_it_expires(store: Store, now_s: float, seen: int) -> None:
    """Also where nothing has deleted it yet: DynamoDB's TTL does so within days
    (docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html).
    """
    await store.put("mail", report("i-1"), 1000.0)
    assert len(store.workers("mail", now_s)) == seen


async def test_a_worker_that_reports_again_after_expiry_is_seen_again(store: Store) -> None:
    await store.put("mail", report("i-1"), 1000.0)
    assert store.workers("mail", 1000.0) == ()
    await store.put("mail", report("i-1"), 1030.0)
    assert store.workers("mail", 1000.0) == (report("i-1"),)


@pytest.mark.parametrize(
    "worker", ["arn:aws:ecs:eu-west-1:111122223333:task/jobs/0a1b", "../../escape", "ä ö", "a.json", ".", "%2e"]
)
async def test_a_worker_may_have_any_id(store: Store, worker: str) -> None:
    await store.put("mail", report(worker), 1000.0)
    assert store.workers("mail", 0.0) == (report(worker),)


async def test_reports_and_state_do_not_disturb_each_other(store: Store) -> None:
    await store.put("mail", report("state"), 1000.0)
    store.save("mail", STATE, 0)
    await store.put("mail", report("state", busy=1), 1000.0)
    assert store.load("mail") == StoredState(STATE, 1)
    assert store.workers("mail", 0.0) == (report("state", busy=1),)


async def test_a_pool_that_was_told_nothing_is_told_nothing(store: Store) -> None:
    assert await store.directive("mail") == Directive()


async def test_the_newest_directive_is_read_back_and_is_its_own_pools_only(store: Store) -> None:
    told = Directive(retire=("i-1", "arn:aws:ecs:eu-west-1:1:task/a/b"), shed=True, limits={"db": 20.0}, changed_at_s=9)
    store.direct("mail", Directive(retire=("i-9",)))
    store.direct("mail", told)
    store.direct("post", Directive())
    assert await store.directive("mail") == told
    assert await store.directive("post") == Directive()


async def test_a_directive_disturbs_neither_state_nor_reports(store: Store) -> None:
    store.save("mail", STATE, 0)
    await store.put("mail", report("directive"), 1000.0)
    store.direct("mail", Directive(shed=True))
    assert store.load("mail") == StoredState(STATE, 1)
    assert store.workers("mail", 0.0) == (report("directive"),)


@pytest.mark.parametrize("text", ['{"schema": 99}', '{"retire": 5}'])
async def test_a_foreign_or_damaged_directive_is_refused_and_its_pool_named(store: Store, text: str) -> None:
    store.direct("mail", Directive())
    if isinstance(store, MemoryStore):
        store._directives["mail"] = text
    elif isinstance(store, FileStore):
        next(store._directory.rglob("directive.json")).write_text(text)
    elif isinstance(store, TableWithSink):
        item = fleet_items.directive_to_item("mail", Directive())
        store._sink.put_item(TableName="fleet", Item={**item, "directive": {"S": text}})
    with pytest.raises(StateUnreadable, match="directive of pool mail can't be read"):
        await store.directive("mail")


FINITE = st.floats(0, 2e9)
STATES = st.builds(
    PoolState,
    samples=st.lists(st.builds(Sample, *[FINITE] * 5), max_size=3).map(tuple),
    needs=st.lists(st.tuples(FINITE, st.integers(0, 9999)), max_size=3).map(tuple),
    service_time=st.none() | st.builds(ServiceTime, FINITE, FINITE, FINITE),
    start_ups_s=st.lists(FINITE, max_size=3).map(tuple),
    raises=st.lists(st.tuples(FINITE, st.integers(1, 99)), max_size=3).map(tuple),
    override=st.none() | st.builds(Override, st.sampled_from(OverrideKind), st.text(), FINITE, st.none() | FINITE),
    desired=st.none() | st.integers(0, 9999),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(states=st.lists(STATES, min_size=1, max_size=3))
def test_any_state_that_core_can_hold_survives(store: Store, states: list[PoolState]) -> None:
    for state in states:
        version = store.load("law").version
        assert store.load("law").version == version
        store.save("law", state, version)
        assert store.load("law") == StoredState(state, version + 1)


def _damage(store: Store, text: str) -> None:
    if isinstance(store, MemoryStore):
        store._states["mail"] = (text, 1)
    elif isinstance(store, FileStore):
        next(store._directory.rglob("state.json")).write_text(f'{{"version": 1, "state": {text}}}')
    elif isinstance(store, TableWithSink):
        item = fleet_items.state_to_item("mail", PoolState(), 1, "t")
        store._sink.put_item(TableName="fleet", Item={**item, "state": {"S": text}})


@pytest.mark.parametrize("text", ["{", '{"schema": 99}', '{"schema": 0}', '{"desired": "many"}', "[]"])
def test_a_damaged_or_foreign_state_is_refused_and_its_pool_named(store: Store, text: str) -> None:
    store.save("mail", STATE, 0)
    _damage(store, text)
    with pytest.raises(StateUnreadable, match="state of pool mail can't be read"):
        store.load("mail")
