"""The shape of the fleet table's items, written down once: plain functions, for boto3 and aiobotocore alike.

=========================  ===============  ========================================================================
pk                         sk               other attributes
=========================  ===============  ========================================================================
``pool#<name>``            ``state``        ``state`` (JSON text of PoolState), ``version`` (number, 1 at first save),
                                            ``saved_as`` (the token of that save)
``pool#<name>#directive``  ``directive``    ``directive`` (JSON text of Directive)
``pool#<name>#messages``   ``message#<id>`` ``receive``, ``spared`` (numbers), ``alone`` (a worker's id; absent when no
                                            run alone is open), ``expires_at`` (TTL, epoch seconds)
``pool#<name>#permits``    ``permits``      ``permits`` (JSON text of Permits), ``version`` (number, 1 at first write),
                                            ``expires_at`` (TTL, epoch seconds)
``pool#<name>#workers``    ``worker#<id>``  ``report`` (JSON text of WorkerReport), ``expires_at`` (TTL, epoch seconds)
=========================  ===============  ========================================================================

Partitions of their own, because IAM tells items apart by their partition key only (dynamodb:LeadingKeys): a worker's
role may write reports, notes of messages and permits and read the directive, and must not touch the pool's state,
which holds the operator's overrides
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html).

Upgrades: a field that a newer version added to the report is ignored by an older reader, so such fields don't raise the
schema. A report of another *schema* is refused (StateUnreadable), not skipped: a skipped worker counts as idle, and
the controller would scale in under its job. Until the fleet speaks one schema again the pool has no fleet to see,
hence does not scale in.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from tidegate.core.directive import Directive
from tidegate.core.model import PoolState
from tidegate.core.reports import WorkerReport
from tidegate.core.stored.codec import from_json, to_json
from tidegate.core.workers.permits import Permits
from tidegate.core.workers.poison import MessageNote
from tidegate.errors import StateUnreadable
from tidegate.ports import StoredPermits, StoredState

__all__ = [
    "PARTITION_KEY",
    "SORT_KEY",
    "TTL_ATTRIBUTE",
    "VERSION_ATTRIBUTE",
    "WORKER_PREFIX",
    "Item",
    "at_version",
    "directive_key",
    "directive_to_item",
    "item_to_directive",
    "item_to_note",
    "item_to_permits",
    "item_to_report",
    "item_to_state",
    "note_begins_alone",
    "note_ended",
    "note_key",
    "permits_key",
    "permits_to_item",
    "report_expiry_s",
    "report_to_item",
    "same_save",
    "state_key",
    "state_to_item",
    "workers_key",
]

Item = dict[str, dict[str, str]]
"""An item as DynamoDB's low-level API takes it, {name: {type: text}}: only "S" and "N" occur."""

PARTITION_KEY: Final = "pk"
SORT_KEY: Final = "sk"
TTL_ATTRIBUTE: Final = "expires_at"
VERSION_ATTRIBUTE: Final = "version"
WORKER_PREFIX: Final = "worker#"

_POOL: Final = "pool#"
_WORKERS: Final = "#workers"
_MESSAGES: Final = "#messages"
_REPORT: Final = "report"
_DIRECTIVE: Final = "directive"
_PERMITS: Final = "permits"
_STATE: Final = "state"
_SAVED_AS: Final = "saved_as"


def state_key(pool: str) -> Item:
    """The key of the pool's state item."""
    return {PARTITION_KEY: {"S": f"{_POOL}{pool}"}, SORT_KEY: {"S": "state"}}


def workers_key(pool: str) -> str:
    """The partition that holds the reports of a pool's workers and nothing else."""
    return f"{_POOL}{pool}{_WORKERS}"


def directive_key(pool: str) -> Item:
    """The key of what the pool's workers are told."""
    return {PARTITION_KEY: {"S": f"{_POOL}{pool}#{_DIRECTIVE}"}, SORT_KEY: {"S": _DIRECTIVE}}


def directive_to_item(pool: str, directive: Directive) -> Item:
    """The whole item for PutItem."""
    return {**directive_key(pool), _DIRECTIVE: {"S": to_json(directive)}}


def item_to_directive(pool: str, item: Mapping[str, Any] | None) -> Directive:
    """An empty one where there is no item. Raises StateUnreadable when it is damaged or of another schema."""
    what = f"directive of pool {pool}"
    if item is None:
        return Directive()
    try:
        return from_json(Directive, _text(what, item, _DIRECTIVE, "S"))
    except StateUnreadable as error:
        raise StateUnreadable(what, error.detail) from error


def state_to_item(pool: str, state: PoolState, version: int, token: str) -> Item:
    """The whole item for PutItem; `token` tells this save from every other (`same_save`)."""
    return {
        **state_key(pool),
        _STATE: {"S": to_json(state)},
        VERSION_ATTRIBUTE: {"N": str(version)},
        _SAVED_AS: {"S": token},
    }


def same_save(stored: Mapping[str, Any] | None, written: Item) -> bool:
    """Whether what stands in the table is what this very save wrote."""
    return stored is not None and stored.get(_SAVED_AS) == written[_SAVED_AS]


def item_to_state(pool: str, item: Mapping[str, Any]) -> StoredState:
    """Raises StateUnreadable, naming the pool, when the item is damaged or of another schema."""
    what = f"state of pool {pool}"
    text, version = _text(what, item, _STATE, "S"), _version(what, item)
    try:
        return StoredState(from_json(PoolState, text), version)
    except StateUnreadable as error:
        raise StateUnreadable(what, error.detail) from error


def _version(what: str, item: Mapping[str, Any]) -> int:
    version = _text(what, item, VERSION_ATTRIBUTE, "N")
    if not version.isdigit() or version == "0":
        raise StateUnreadable(what, f"`{VERSION_ATTRIBUTE}` is {version}, not a whole number from 1")
    return int(version)


def report_to_item(pool: str, report: WorkerReport, expires_at_s: float) -> Item:
    """The whole item for PutItem: a worker's newest heartbeat replaces the one before.

    DynamoDB's TTL takes whole seconds, so the expiry is rounded up
    (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html).
    """
    return {
        PARTITION_KEY: {"S": workers_key(pool)},
        SORT_KEY: {"S": WORKER_PREFIX + report.worker_id},
        _REPORT: {"S": to_json(report)},
        TTL_ATTRIBUTE: {"N": str(math.ceil(expires_at_s))},
    }


def report_expiry_s(item: Mapping[str, Any]) -> float:
    """When the report stops counting. TTL deletes items days late, so every reader must look at this itself.

    Raises StateUnreadable when the attribute is missing or no number.
    """
    what = _worker(item)
    text = _text(what, item, TTL_ATTRIBUTE, "N")
    try:
        return float(text)
    except ValueError as error:
        raise StateUnreadable(what, f"`{TTL_ATTRIBUTE}` is {text!r}, not a number") from error


def item_to_report(item: Mapping[str, Any]) -> WorkerReport:
    """Raises StateUnreadable, naming the worker, when the item is damaged or of another schema."""
    what = _worker(item)
    try:
        return from_json(WorkerReport, _text(what, item, _REPORT, "S"))
    except StateUnreadable as error:
        raise StateUnreadable(what, error.detail) from error


def _worker(item: Mapping[str, Any]) -> str:
    pool = str(item.get(PARTITION_KEY, {}).get("S", "?")).removeprefix(_POOL).removesuffix(_WORKERS)
    worker = str(item.get(SORT_KEY, {}).get("S", "?")).removeprefix(WORKER_PREFIX)
    return f"report of worker {worker} in pool {pool}"


def _text(what: str, item: Mapping[str, Any], name: str, kind: str) -> str:
    value = item.get(name, {}).get(kind)
    if not isinstance(value, str):
        raise StateUnreadable(what, f"it has no `{name}` of type {kind}")
    return value


def note_key(pool: str, message_id: str) -> Item:
    """The key of the note about a message."""
    return {PARTITION_KEY: {"S": f"{_POOL}{pool}{_MESSAGES}"}, SORT_KEY: {"S": f"message#{message_id}"}}


def item_to_note(pool: str, message_id: str, item: Mapping[str, Any] | None) -> MessageNote:
    """Raises StateUnreadable, naming the message, when the item is damaged."""
    if item is None:
        return MessageNote()
    what = f"note of message {message_id} in pool {pool}"
    spared = item.get("spared", {"N": "0"})
    receive, spared = _text(what, item, "receive", "N"), _text(what, {"spared": spared}, "spared", "N")
    if not (receive.isdigit() and spared.isdigit()):
        raise StateUnreadable(what, f"`receive` is {receive} and `spared` {spared}: not both whole numbers")
    return MessageNote(int(receive), _text(what, item, "alone", "S") if "alone" in item else "", int(spared))


_NOT_OLDER: Final = "attribute_not_exists(receive) OR receive <= :receive"


def note_begins_alone(receive: int, worker_id: str, expires_at_s: float) -> dict[str, Any]:
    """UpdateItem's parameters beyond table and key: this receive begins to run alone. Refused when a newer is noted."""
    return {
        "UpdateExpression": f"SET receive = :receive, alone = :worker, {TTL_ATTRIBUTE} = :expires",
        "ConditionExpression": _NOT_OLDER,
        "ExpressionAttributeValues": {
            ":receive": {"N": str(receive)},
            ":worker": {"S": worker_id},
            ":expires": {"N": str(math.ceil(expires_at_s))},
        },
    }


def note_ended(receive: int, expires_at_s: float, *, spared: bool) -> dict[str, Any]:
    """As `note_begins_alone`: this receive has ended."""
    return {
        "UpdateExpression": f"SET receive = :receive, {TTL_ATTRIBUTE} = :expires ADD spared :spared REMOVE alone",
        "ConditionExpression": _NOT_OLDER,
        "ExpressionAttributeValues": {
            ":receive": {"N": str(receive)},
            ":spared": {"N": str(int(spared))},
            ":expires": {"N": str(math.ceil(expires_at_s))},
        },
    }


def permits_key(pool: str) -> Item:
    """The key of the pool's permits."""
    return {PARTITION_KEY: {"S": f"{_POOL}{pool}#{_PERMITS}"}, SORT_KEY: {"S": _PERMITS}}


def permits_to_item(pool: str, permits: Permits, version: int, expires_at_s: float) -> Item:
    """The whole item for PutItem."""
    return {
        **permits_key(pool),
        _PERMITS: {"S": to_json(permits)},
        VERSION_ATTRIBUTE: {"N": str(version)},
        TTL_ATTRIBUTE: {"N": str(math.ceil(expires_at_s))},
    }


def item_to_permits(pool: str, item: Mapping[str, Any] | None) -> StoredPermits:
    """Raises StateUnreadable, naming the pool, when the item is damaged or of another schema."""
    if item is None:
        return StoredPermits()
    what = f"permits of pool {pool}"
    text, version = _text(what, item, _PERMITS, "S"), _version(what, item)
    try:
        return StoredPermits(from_json(Permits, text), version)
    except StateUnreadable as error:
        raise StateUnreadable(what, error.detail) from error


def at_version(expected: int) -> dict[str, Any]:
    """PutItem's parameters for a write under the condition that the stored version is this; 0: that there is none."""
    if expected == 0:
        return {
            "ConditionExpression": "attribute_not_exists(#pk)",
            "ExpressionAttributeNames": {"#pk": PARTITION_KEY},
        }
    return {
        "ConditionExpression": "#version = :expected",
        "ExpressionAttributeNames": {"#version": VERSION_ATTRIBUTE},
        "ExpressionAttributeValues": {":expected": {"N": str(expected)}},
    }
