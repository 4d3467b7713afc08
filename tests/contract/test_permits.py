"""What every store of a pool's permits holds to: in memory, in files, in DynamoDB."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import create_table
from tidegate.aws.fleet_items import permits_key, permits_to_item
from tidegate.aws.permits import DynamoPermits
from tidegate.core.workers.permits import FLEET, Claim, Holder, Permits
from tidegate.errors import Gone, StateUnreadable
from tidegate.ports import PermitStore, StoredPermits
from tidegate.stores.permits import FilePermits, MemoryPermits

pytestmark = pytest.mark.integration

EXPIRES_S = 2_000.0


def held(**by_worker: int) -> Permits:
    return Permits({name: Holder(1_030.5, {FLEET: Claim(count, 8, 1_000.1)}) for name, count in by_worker.items()})


@pytest.fixture
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PermitStore]:
    made: PermitStore
    if request.param == "memory":
        made = MemoryPermits()
    elif request.param == "file":
        made = FilePermits(tmp_path / "made" / "by the store")
    else:
        clients = request.getfixturevalue("moto_endpoint")
        table = f"fleet-{uuid.uuid4().hex}"  # the server's tables outlive it, as its process does
        create_table(clients.dynamodb(), table)
        made = await DynamoPermits.connect(table)
    yield made
    await made.close()


every_store = pytest.mark.parametrize("store", ["memory", "file", "dynamodb"], indirect=True)


@every_store
async def test_a_pool_whose_permits_were_never_written_has_none_at_version_0(store: PermitStore) -> None:
    assert await store.permits("mail") == StoredPermits(Permits(), 0)


@every_store
async def test_permits_come_back_as_they_were_written_each_write_one_version_higher(store: PermitStore) -> None:
    for version in range(3):
        assert await store.replace("mail", held(w1=version, **{"arn:aws:ecs:eu-west-1:1:task/a/b": 2}), version, 9.0)
    assert await store.permits("mail") == StoredPermits(held(w1=2, **{"arn:aws:ecs:eu-west-1:1:task/a/b": 2}), 3)


@every_store
@pytest.mark.parametrize("expected", [0, 1, 3])
async def test_a_write_at_another_version_changes_nothing(store: PermitStore, expected: int) -> None:
    for version in range(2):
        await store.replace("mail", held(w1=version), version, EXPIRES_S)
    assert not await store.replace("mail", held(w2=9), expected, EXPIRES_S)
    assert await store.permits("mail") == StoredPermits(held(w1=1), 2)


@every_store
async def test_a_first_write_must_expect_version_0(store: PermitStore) -> None:
    assert not await store.replace("mail", held(w1=1), 1, EXPIRES_S)
    assert (await store.permits("mail")).version == 0


@every_store
async def test_of_writers_at_one_version_exactly_one_wins(store: PermitStore) -> None:
    for version in range(20):
        tried = (store.replace("mail", held(w1=5 * version + n), version, EXPIRES_S) for n in range(5))
        won = await asyncio.gather(*tried)
        assert sum(won) == 1
        assert await store.permits("mail") == StoredPermits(held(w1=5 * version + won.index(True)), version + 1)


@every_store
async def test_pools_are_kept_apart(store: PermitStore) -> None:
    await store.replace("mail", held(w1=1), 0, EXPIRES_S)
    assert await store.permits("post") == StoredPermits()


def _damage(directory: Path) -> None:
    next(directory.rglob("permits.json")).write_text(json.dumps({"version": 1, "permits": {"schema": 99}}))


async def test_a_damaged_file_is_refused_and_its_pool_named(tmp_path: Path) -> None:
    store = FilePermits(tmp_path)
    await store.replace("mail", held(w1=1), 0, EXPIRES_S)
    _damage(tmp_path)
    with pytest.raises(StateUnreadable, match="permits of pool mail can't be read: schema 99"):
        await store.permits("mail")


@pytest.mark.parametrize(
    "damage", [{"permits": {"S": "{"}}, {"permits": {"S": '{"schema":99}'}}, {"version": {"N": "0"}}]
)
async def test_a_damaged_item_is_refused_and_its_pool_named(
    moto_endpoint: AwsClients, damage: dict[str, dict[str, str]]
) -> None:
    create_table(moto_endpoint.dynamodb(), "fleet")
    item = {**permits_to_item("mail", held(w1=1), 1, EXPIRES_S), **permits_key("mail"), **damage}
    moto_endpoint.dynamodb().put_item(TableName="fleet", Item=item)
    store = await DynamoPermits.connect("fleet")
    with pytest.raises(StateUnreadable, match="permits of pool mail can't be read"):
        await store.permits("mail")
    await store.close()


async def test_a_table_that_does_not_exist_is_gone(moto_endpoint: AwsClients) -> None:
    store = await DynamoPermits.connect("nowhere")
    with pytest.raises(Gone, match="dynamodb:PutItem on table nowhere"):
        await store.replace("mail", held(w1=1), 0, EXPIRES_S)
    await store.close()
