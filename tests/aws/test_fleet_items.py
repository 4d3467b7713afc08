"""The fleet table's items: there and back, and what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.fleet import report
from tidegate.aws import fleet_items
from tidegate.core.model import PoolState, Sample
from tidegate.core.reports import WorkerReport, WorkFigures
from tidegate.core.stored.schema import SCHEMA
from tidegate.errors import StateUnreadable
from tidegate.ports import StoredState


def item() -> dict[str, Any]:
    return dict(fleet_items.report_to_item("mail", report("i-1"), 1000.0))


def changed(**fields: Any) -> dict[str, Any]:
    """The item of a report whose JSON has these fields added or changed."""
    made = item()
    made["report"] = {"S": json.dumps({**json.loads(made["report"]["S"]), **fields})}
    return made


FIGURES = st.builds(WorkFigures, span_s=st.floats(0, 1e6), service_time_sum_s=st.floats(0, 1e9))
REPORTS = st.builds(
    WorkerReport,
    worker_id=st.text(min_size=1),
    reported_at_s=st.floats(0, 2e9),
    started_at_s=st.floats(0, 2e9),
    first_receive_at_s=st.none() | st.floats(0, 2e9),
    recent=FIGURES,
    total=FIGURES,
    schema=st.just(SCHEMA),
)


@given(REPORTS)
def test_a_report_comes_back_as_it_went_in(given_report: WorkerReport) -> None:
    assert fleet_items.item_to_report(fleet_items.report_to_item("mail", given_report, 5.0)) == given_report


@given(st.floats(0, 1e6), st.integers(1, 10**9))
def test_a_state_comes_back_with_its_version(at_s: float, version: int) -> None:
    state = PoolState(samples=(Sample(at_s, 1.0, 2.0, 3.0),), desired=4)
    stored = fleet_items.item_to_state("mail", fleet_items.state_to_item("mail", state, version, "t"))
    assert stored == StoredState(state, version)


def test_the_keys_are_as_written_down() -> None:
    made = item()
    assert (made["pk"], made["sk"]) == ({"S": "pool#mail#workers"}, {"S": "worker#i-1"})
    assert fleet_items.state_key("mail") == {"pk": {"S": "pool#mail"}, "sk": {"S": "state"}}


@pytest.mark.parametrize(("expires_at_s", "stored"), [(1000.0, "1000"), (1000.2, "1001")])
def test_the_expiry_is_in_whole_seconds_never_earlier_than_asked(expires_at_s: float, stored: str) -> None:
    """docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html"""
    assert fleet_items.report_to_item("mail", report("i-1"), expires_at_s)["expires_at"] == {"N": stored}


def test_a_field_that_a_newer_worker_added_is_ignored() -> None:
    assert fleet_items.item_to_report(changed(cpu_share=0.5)) == report("i-1")


@pytest.mark.parametrize("schema", [SCHEMA + 1, SCHEMA - 1])
def test_a_report_of_another_schema_is_refused_and_named(schema: int) -> None:
    """Refused, not skipped: a worker that is left out counts as idle, and could be scaled in under its job."""
    with pytest.raises(StateUnreadable, match=f"report of worker i-1 in pool mail can't be read: schema {schema}"):
        fleet_items.item_to_report(changed(schema=schema))


@pytest.mark.parametrize(
    "damaged",
    [
        {**item(), "report": {"S": "{"}},
        {**item(), "report": {"S": "[]"}},
        {**item(), "report": {"N": "1"}},
        {name: value for name, value in item().items() if name != "report"},
        changed(slots="many"),
        changed(state="dancing"),
    ],
)
def test_a_damaged_report_is_refused_and_named(damaged: dict[str, Any]) -> None:
    with pytest.raises(StateUnreadable, match="report of worker i-1 in pool mail"):
        fleet_items.item_to_report(damaged)


@pytest.mark.parametrize("expiry", [None, {"S": "1000"}, {"N": "soon"}])
def test_a_report_without_an_expiry_is_refused_and_named(expiry: dict[str, str] | None) -> None:
    damaged = {name: value for name, value in item().items() if name != "expires_at"}
    with pytest.raises(StateUnreadable, match="report of worker i-1 in pool mail"):
        fleet_items.report_expiry_s({**damaged, **({"expires_at": expiry} if expiry else {})})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", {"S": "not JSON"}),
        ("state", {"S": '{"schema": 99}'}),
        ("state", {"S": '{"desired": "many"}'}),
        ("version", {"N": "0"}),
        ("version", {"N": "1.5"}),
        ("version", {"S": "1"}),
    ],
)
def test_a_damaged_state_is_refused_and_its_pool_named(name: str, value: dict[str, str]) -> None:
    stored: dict[str, Any] = {**fleet_items.state_to_item("mail", PoolState(), 1, "t"), name: value}
    with pytest.raises(StateUnreadable, match="state of pool mail can't be read"):
        fleet_items.item_to_state("mail", stored)
