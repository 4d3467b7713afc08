"""What every store of notes about messages holds to: in memory, in files, in DynamoDB."""

import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import create_table
from tidegate.aws.fleet_items import note_key
from tidegate.aws.message_notes import DynamoMessageNotes
from tidegate.core.workers.poison import NOTE_KEPT_S, MessageNote
from tidegate.errors import Gone, StateUnreadable
from tidegate.ports import MessageNotes
from tidegate.stores.notes import FileNotes, MemoryNotes

pytestmark = pytest.mark.integration

EXPIRES_S = 1_000.0


@pytest.fixture
async def notes(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MessageNotes]:
    made: MessageNotes
    if request.param == "memory":
        made = MemoryNotes()
    elif request.param == "file":
        made = FileNotes(tmp_path / "made" / "by the store")
    else:
        clients = request.getfixturevalue("moto_endpoint")
        table = f"fleet-{uuid.uuid4().hex}"  # the server's tables outlive it, as its process does
        create_table(clients.dynamodb(), table)
        made = await DynamoMessageNotes.connect(table)
    yield made
    await made.close()


every_store = pytest.mark.parametrize("notes", ["memory", "file", "dynamodb"], indirect=True)


@every_store
async def test_what_was_never_noted_is_nothing(notes: MessageNotes) -> None:
    assert await notes.note("mail", "m1") == MessageNote()


@every_store
async def test_a_run_alone_is_known_until_it_has_ended(notes: MessageNotes) -> None:
    await notes.begins_alone("mail", "m1", 2, "arn:aws:ecs:eu-west-1:1:task/a/b", EXPIRES_S)
    assert await notes.note("mail", "m1") == MessageNote(2, alone="arn:aws:ecs:eu-west-1:1:task/a/b")
    await notes.ended("mail", "m1", 2, EXPIRES_S, spared=False)
    assert await notes.note("mail", "m1") == MessageNote(2)


@every_store
async def test_receives_that_are_spared_are_counted(notes: MessageNotes) -> None:
    for receive, spared in enumerate([True, False, True], 1):
        await notes.ended("mail", "m1", receive, EXPIRES_S, spared=spared)
    assert await notes.note("mail", "m1") == MessageNote(3, spared=2)


@every_store
async def test_the_word_of_an_older_receive_changes_nothing(notes: MessageNotes) -> None:
    await notes.begins_alone("mail", "m1", 3, "w2", EXPIRES_S)
    await notes.ended("mail", "m1", 2, EXPIRES_S, spared=True)
    await notes.begins_alone("mail", "m1", 2, "w1", EXPIRES_S)
    assert await notes.note("mail", "m1") == MessageNote(3, alone="w2")


@every_store
async def test_messages_and_pools_are_kept_apart(notes: MessageNotes) -> None:
    await notes.ended("mail", "m1", 1, EXPIRES_S, spared=True)
    assert await notes.note("mail", "m2") == await notes.note("post", "m1") == MessageNote()


def _damage(directory: Path) -> None:
    next(directory.rglob("m1.json")).write_text(json.dumps({"note": {"receive": "many"}}))


def _files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("messages/*.json"))


async def test_a_damaged_file_is_refused_and_its_message_named(tmp_path: Path) -> None:
    notes = FileNotes(tmp_path)
    await notes.ended("mail", "m1", 1, EXPIRES_S, spared=True)
    _damage(tmp_path)
    with pytest.raises(StateUnreadable, match="note of message m1 in pool mail can't be read"):
        await notes.note("mail", "m1")


async def test_files_of_messages_that_are_long_gone_are_removed_when_a_run_alone_begins(tmp_path: Path) -> None:
    notes = FileNotes(tmp_path)
    await notes.ended("mail", "old", 1, EXPIRES_S, spared=True)
    await notes.ended("mail", "recent", 1, EXPIRES_S + NOTE_KEPT_S, spared=True)
    await notes.begins_alone("mail", "new", 2, "w1", EXPIRES_S + NOTE_KEPT_S)
    assert _files(tmp_path) == ["new.json", "recent.json"]


@pytest.mark.parametrize("damage", [{"receive": {"S": "2"}}, {"receive": {"N": "2.5"}}, {"alone": {"N": "1"}}])
async def test_a_damaged_item_is_refused_and_its_message_named(
    moto_endpoint: AwsClients, damage: dict[str, dict[str, str]]
) -> None:
    create_table(moto_endpoint.dynamodb(), "fleet")
    item = {**note_key("mail", "m1"), "receive": {"N": "2"}, **damage}
    moto_endpoint.dynamodb().put_item(TableName="fleet", Item=item)
    notes = await DynamoMessageNotes.connect("fleet")
    with pytest.raises(StateUnreadable, match="note of message m1 in pool mail can't be read"):
        await notes.note("mail", "m1")
    await notes.close()


async def test_a_table_that_does_not_exist_is_gone(moto_endpoint: AwsClients) -> None:
    notes = await DynamoMessageNotes.connect("nowhere")
    with pytest.raises(Gone, match="dynamodb:UpdateItem on table nowhere"):
        await notes.ended("mail", "m1", 1, EXPIRES_S, spared=True)
    await notes.close()
