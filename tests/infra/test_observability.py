"""The one source of alarms and dashboard is complete and consistent in itself."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tidegate.core.explain.published import UNITS

SOURCE = Path(__file__).parents[2] / "infra" / "observability" / "pool.json"

WATCHED: dict[str, Any] = json.loads(SOURCE.read_text())
ALARMS: list[dict[str, Any]] = WATCHED["alarms"]
WIDGETS: list[dict[str, Any]] = WATCHED["dashboard"]

COMPARISONS = {"GreaterThanThreshold", "GreaterThanOrEqualToThreshold", "LessThanThreshold"}
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"""
FUNCTIONS = {"IF", "AND", "DIFF", "PERIOD"}
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html"""


def placeholders(value: object) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", json.dumps(value)))


def of(items: list[dict[str, Any]], key: str) -> list[str]:
    return [str(item[key]) for item in items]


def used(item: dict[str, Any]) -> list[str]:
    """The series that an alarm or a widget is made of."""
    return [*item.get("series", []), *item.get("show", []), *item.get("hide", [])]


def test_every_placeholder_is_a_variable_and_every_variable_is_used() -> None:
    body = {part: WATCHED[part] for part in ("series", "alarms", "dashboard")}
    assert placeholders(body) == set(WATCHED["variables"])


def test_every_published_metric_is_watched_and_every_watched_one_of_ours_is_published() -> None:
    own = {one["metric"] for one in WATCHED["series"].values() if one["namespace"] == "{namespace}"}
    assert own == set(WATCHED["published"])


def test_the_controller_publishes_those_metrics_in_those_units() -> None:
    assert {name: one["unit"] for name, one in WATCHED["published"].items()} == dict(UNITS)


def test_every_series_is_used_and_every_used_one_exists() -> None:
    assert {one for item in (*ALARMS, *WIDGETS) for one in used(item)} == set(WATCHED["series"])


def test_our_own_series_have_the_pool_as_their_only_dimension() -> None:
    for one in WATCHED["series"].values():
        assert (one["dimensions"] == {"Pool": "{pool}"}) == (one["namespace"] == "{namespace}")


@pytest.mark.parametrize("alarm", ALARMS, ids=of(ALARMS, "id"))
def test_an_alarm_is_one_that_cloudwatch_takes(alarm: dict[str, Any]) -> None:
    """Periods of at least a minute, and all periods together at most a day."""
    assert alarm["period_s"] % 60 == 0
    assert alarm["period_s"] * alarm["of"] <= 86_400
    assert 1 <= alarm["datapoints"] <= alarm["of"]
    assert alarm["comparison"] in COMPARISONS
    assert alarm["missing"] in {"breaching", "notBreaching"}
    assert len(alarm["description"]) <= 1024


@pytest.mark.parametrize("alarm", ALARMS, ids=of(ALARMS, "id"))
def test_an_alarm_tells_what_to_do(alarm: dict[str, Any]) -> None:
    verbs = ("Look", "Compare", "Raise", "Read", "See", "If it")
    assert any(f"{verb} " in alarm["description"] for verb in verbs)
    assert alarm["description"].endswith(".")


@pytest.mark.parametrize("item", [*ALARMS, *WIDGETS], ids=[*of(ALARMS, "id"), *of(WIDGETS, "title")])
def test_an_expression_uses_its_series_and_nothing_else(item: dict[str, Any]) -> None:
    inputs = item.get("series", item.get("hide", []))
    if "expression" not in item:
        assert len(item.get("series", ["one"])) == 1
        return
    assert set(re.findall(r"[A-Za-z_]\w*", item["expression"])) - FUNCTIONS == set(inputs)


@pytest.mark.parametrize("item", [*ALARMS, *WIDGETS], ids=[*of(ALARMS, "id"), *of(WIDGETS, "title")])
def test_what_looks_at_the_dead_letter_queue_needs_one(item: dict[str, Any]) -> None:
    looks = "dead_letter_queue" in placeholders([WATCHED["series"][one] for one in used(item)])
    assert (item.get("needs") == "dead_letter_queue") == looks


def test_only_silence_of_the_controller_is_an_alarm_by_itself() -> None:
    """Every other alarm looks at traffic, and a pool without traffic is well."""
    assert [alarm["id"] for alarm in ALARMS if alarm["missing"] == "breaching"] == ["controller_not_ticking"]


def test_no_alarm_looks_at_cpu() -> None:
    assert "CPUUtilization" not in json.dumps(WATCHED)


def test_widgets_do_not_overlap_and_fit_the_grid() -> None:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html"""
    taken = [
        (x, y)
        for widget in WIDGETS
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]
    assert len(taken) == len(set(taken))
    assert all(x < 24 for x, _ in taken)
