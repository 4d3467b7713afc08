"""What is written about the settings holds: the example, the reference page, the schema, the one-line description."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.config.trees import PLAIN, changed
from tidegate.config import assemble, describe, json_schema, load
from tidegate.config.reference import renewed
from tidegate.config.values import DURATION_PATTERN
from tidegate.core.notation.durations import parse_duration

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tidegate.toml"
PAGE = ROOT / "docs" / "configuration.md"


def names(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every setting, with what the schema says of it."""
    yield from schema["properties"].items()
    for table in schema["$defs"].values():
        yield from table["properties"].items()


def test_the_example_loads_without_a_fault_or_a_warning() -> None:
    assert load(EXAMPLE, {}).warnings == ()


def test_the_example_names_every_setting_and_the_schema_beside_it() -> None:
    text = EXAMPLE.read_text()
    missing = [name for name, _ in names(json_schema()) if not re.search(rf"\b{name}\b", text)]
    assert missing == []
    assert text.startswith("#:schema ./tidegate.schema.json\n")
    assert json.loads((EXAMPLE.parent / "tidegate.schema.json").read_text()) == json_schema()


def test_the_reference_page_holds_what_the_models_say() -> None:
    page = PAGE.read_text()
    assert renewed(page) == page, "run: python -m tidegate.config.reference docs/configuration.md"
    assert all(f"`{name}`" in page or f".{name}`" in page for name, _ in names(json_schema()))


def test_the_pages_short_example_loads_without_a_warning() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert assemble(tomllib.loads(text), {}).warnings == ()


def test_every_setting_is_described_and_defaults_are_as_people_write_them() -> None:
    schema = json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert [name for name, setting in names(schema) if not setting["description"].endswith(".")] == []
    defaults = {name: setting["default"] for name, setting in names(schema) if "default" in setting}
    assert (defaults["tick"], defaults["stop_timeout"], defaults["utilization"]) == ("10s", "30s", "auto")
    assert "null" not in json.dumps(schema)


def test_every_example_in_the_schema_is_one_that_loads() -> None:
    for name, setting in json_schema()["$defs"]["PoolSettings"]["properties"].items():
        for example in setting.get("examples", ()):
            changes = {name: example}
            tree = changed(changes)
            instead = {"queues": "queue", "asg": "ecs", "finish_by": "target_wait"}
            if name in instead:
                del tree["pools"]["orders"][instead[name]]
            assemble(tree, {})


@pytest.mark.parametrize(
    ("text", "accepted"),
    [("90", True), ("1h30m", True), ("250ms", True), ("1.5h", True), ("5 min", False), ("", False)],
)
def test_the_schemas_pattern_for_durations_takes_what_the_parser_takes(text: str, accepted: bool) -> None:
    assert bool(re.search(DURATION_PATTERN, text)) is accepted
    if accepted:
        parse_duration(text)
    else:
        with pytest.raises(ValueError, match="duration"):
            parse_duration(text)


def test_each_pool_is_described_in_one_line() -> None:
    assert describe(assemble(PLAIN, {})) == [
        "orders: queue orders → ECS prod/orders, 1 to 50 workers of 4 slots, wait under 1m"
    ]
    tree = changed({"queues": ["a", "b"], "asg": "g", "slots_per_worker": 1, "max_slots": 9})
    del tree["pools"]["orders"]["queue"], tree["pools"]["orders"]["ecs"]
    assert describe(assemble(tree, {})) == [
        "orders: queues a, b → Auto Scaling group g, 1 to 50 workers of 1 slot, never more than 9 slots, wait under 1m"
    ]


@pytest.mark.parametrize(
    ("publish", "said"),
    [
        ("cloudwatch", "publishes 13 metrics into tidegate, 43,800 calls a month: about $4.34 a month at list price"),
        (
            "log",
            "publishes 13 metrics into tidegate, no calls: CloudWatch Logs reads them from the log: "
            "about $3.90 a month at list price",
        ),
    ],
)
def test_what_publishing_costs_is_said(publish: str, said: str) -> None:
    assert describe(assemble(changed({".publish": publish}), {}))[1:] == [said]
