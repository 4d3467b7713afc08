"""What each kind of setting takes, and what it says about what it does not take."""

import math
from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.config.trees import GONE, changed, faults
from tidegate.config import assemble
from tidegate.config.pool import PoolSettings
from tidegate.core.notation.durations import format_duration

ECS = "arn:aws:ecs:eu-central-1:123456789012"


def pool(changes: dict[str, Any]) -> PoolSettings:
    return assemble(changed(changes), {}).settings.pools["orders"]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(90, 90), ("90", 90), ("90s", 90), ("5m", 300), ("1h30m", 5400), ("250ms", 0.25), (0.5, 0.5), (" 2 m ", 120)],
)
def test_a_duration_reads_as_a_number_or_with_units(written: object, seconds: float) -> None:
    assert pool({"target_wait": written}).target_wait_s == seconds


@pytest.mark.parametrize("written", ["", "s", "5 minutes", "--5s", "1.5.2s", True, [], {}, time(1, 2), math.nan, "∞"])
def test_what_is_no_duration_is_told_what_is_accepted(written: object) -> None:
    (fault,) = faults(changed({"target_wait": written}))
    assert fault.setting == "pools.orders.target_wait"
    assert fault.problem == "is not a duration"
    assert '"90s"' in fault.fix
    assert '"1h30m"' in fault.fix


@pytest.mark.parametrize("written", ["0_1", "١", "1 000", "0x1", "1e", ".", "nan", "inf"])
def test_a_number_is_written_in_plain_figures(written: str) -> None:
    (fault,) = faults(changed({"noisy_share": written}))
    assert (fault.setting, fault.problem) == ("pools.orders.noisy_share", "is not a number")


@pytest.mark.parametrize(("written", "said"), [(time(1, 2), "01:02:00"), (date(2026, 1, 2), "2026-01-02")])
def test_a_date_is_shown_as_a_date(written: object, said: str) -> None:
    (fault,) = faults(changed({"hold": written}))
    assert f"hold = (the date or time {said}): is not a duration" in str(fault)


@pytest.mark.parametrize("written", [-3, -0.5, "-3", "-5s", "-1h30m", -math.inf])
def test_a_negative_duration_is_said_to_be_negative(written: object) -> None:
    (fault,) = faults(changed({"hold": written}))
    assert (fault.setting, fault.problem) == ("pools.orders.hold", "is negative")
    assert '"90s"' in fault.fix


@pytest.mark.parametrize("written", [10**400, "9" * 500, "99999d", math.inf])
def test_a_duration_without_measure_is_refused_without_being_spelled_out(written: object) -> None:
    (fault,) = faults(changed({"target_wait": written}))
    assert fault.setting == "pools.orders.target_wait"
    assert len(str(fault)) < 400


@pytest.mark.parametrize(
    ("setting", "written", "problem", "limit"),
    [
        ("target_wait", 0, "is too short", '"1ms"'),
        ("target_wait", "15d", "is too long", '"14d"'),
        ("visibility_timeout", "13h", "is too long", '"12h"'),
        ("visibility_timeout", 0, "is too short", '"1s"'),
        (".tick", "50ms", "is too short", '"100ms"'),
        (".tick", "2h", "is too long", '"1h"'),
    ],
)
def test_a_duration_out_of_range_is_told_the_range(setting: str, written: object, problem: str, limit: str) -> None:
    """Visibility timeouts end at 12 hours, message retention at 14 days.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
    """
    (fault,) = faults(changed({setting: written}))
    assert fault.problem == problem
    assert limit in fault.fix


@pytest.mark.parametrize("setting", ["hold", "stop_timeout", "start_up_hint"])
def test_zero_is_a_duration_where_it_means_something(setting: str) -> None:
    assert getattr(pool({setting: 0}), f"{setting}_s") == 0


@given(st.integers(min_value=100, max_value=14 * 86_400_000))
def test_a_duration_written_out_reads_back_the_same_to_the_millisecond(milliseconds: int) -> None:
    read = pool({"drain_target": format_duration(milliseconds / 1000)}).drain_target_s
    assert read == pytest.approx(milliseconds / 1000, abs=1e-9)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (True, "is not a whole number"),
        (2.5, "is not a whole number"),
        (2.0, "is not a whole number"),
        ("two", "is not a whole number"),
        ("", "is not a whole number"),
        ([], "is not a whole number"),
        (0, "is too small"),
        (-3, "is too small"),
        (100_001, "is too large"),
        (10**4000, "is too large"),
    ],
)
def test_what_is_no_count_is_told_the_range(written: object, problem: str) -> None:
    (fault,) = faults(changed({"max_workers": written}))
    assert (fault.setting, fault.problem) == ("pools.orders.max_workers", problem)
    assert fault.fix == "write a whole number from 1 to 100000"
    assert len(str(fault)) < 200


@pytest.mark.parametrize(("written", "kept"), [("auto", None), ("AUTO", None), (0.7, 0.7), (1, 1.0), ("0.5", 0.5)])
def test_utilization_is_auto_or_a_share(written: object, kept: float | None) -> None:
    assert pool({"utilization": written}).at(0).utilization == kept


@pytest.mark.parametrize("written", [0, -0.1, 1.01, 70, "most", True, math.nan, math.inf, "nan", [0.7]])
def test_any_other_utilization_is_refused(written: object) -> None:
    (fault,) = faults(changed({"utilization": written}))
    assert fault.setting == "pools.orders.utilization"
    assert '"auto"' in fault.fix
    assert "0.7" in fault.fix


@pytest.mark.parametrize(
    "queue",
    [
        "orders.fifo",
        "arn:aws:sqs:eu-central-1:123456789012:orders",
        "http://127.0.0.1:4566/000000000000/orders",
    ],
)
def test_a_queue_is_a_name_an_arn_or_a_url(queue: str) -> None:
    assert pool({"queue": queue}).all_queues == (queue,)


@pytest.mark.parametrize(
    "queue",
    [
        "my orders",
        "arn:aws:sns:eu-central-1:123456789012:orders",
        "https://sqs.eu-central-1.amazonaws.com/",
    ],
)
def test_a_text_that_can_be_no_queue_is_refused(queue: str) -> None:
    """The grammar has its own tests, in tests/core/notation/test_queues.py."""
    (fault,) = faults(changed({"queue": queue}))
    assert (fault.setting, fault.value) == ("pools.orders.queue", queue)
    assert "is no queue's URL, ARN or name" in fault.problem
    assert "arn:aws:sqs:" in fault.fix


@pytest.mark.parametrize(
    ("setting", "written", "problem"),
    [
        (".region", "Frankfurt", "is no AWS Region"),
        (".table", "my table", "is no DynamoDB table's name or ARN"),
        (".table", "ab", "is no DynamoDB table's name or ARN"),
        (".table", "arn:aws:sqs:eu-central-1:123456789012:tidegate", "is no DynamoDB table's name or ARN"),
        (".table", "arn:aws:dynamodb:eu-central-1:123456789012:tidegate", "is no DynamoDB table's name or ARN"),
        (".table", "arn:aws:dynamodb:eu-central-1:123456789012:table/a/index/b", "is no DynamoDB table's name or ARN"),
        (".namespace", "AWS/SQS", "is no CloudWatch namespace"),
        (".namespace", "my metrics", "is no CloudWatch namespace"),
        (".publish", "everywhere", "is none of the words that this can be"),
        (".state_dir", "", "is empty"),
        (".state_dir", 7, "is not a text"),
        (".state_dir", "s3://bucket/states", "is a URL"),
        (".state_dir", "~/states", "has a ~, which only a shell knows"),
        (".record", "s3://bucket/decisions.jsonl", "is a URL"),
        (".health_file", "~/health.json", "has a ~, which only a shell knows"),
        ("asg", "arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:x", "is no Auto Scaling group's name"),
        ("ecs", "prod/orders", "is not a table"),
        ("ecs", {"cluster": "prod", "service": "a\nb"}, "has control characters"),
        ("ecs", {"cluster": "prod", "service": "prod/orders"}, "is no ECS service's name or ARN"),
        ("ecs", {"cluster": "prod", "service": f"{ECS}:cluster/prod"}, "is no ECS service's name or ARN"),
        ("ecs", {"cluster": "prod", "service": f"{ECS}:service/a/b/c"}, "is no ECS service's name or ARN"),
        ("ecs", {"cluster": "my prod", "service": "orders"}, "is no ECS cluster's name or ARN"),
        ("ecs", {"cluster": "a" * 256, "service": "orders"}, "is no ECS cluster's name or ARN"),
        ("ecs", {"cluster": f"{ECS}:service/prod/orders", "service": "orders"}, "is no ECS cluster's name or ARN"),
        ("ecs", {"cluster": f"{ECS}:cluster/", "service": "orders"}, "is no ECS cluster's name or ARN"),
        ("ramp", 4, "is not a table"),
        ("ramp", {"percent": "4%"}, "is not a number"),
        ("ramp", {"percent": -1}, "is too small"),
        ("ramp", {"percent": 1e9}, "is too large"),
        ("schedule", {"name": "office"}, "is not a list"),
        ("schedule", ["office"], "is not a table"),
        (".pools", {}, "is empty"),
        (".pools", [], "is not a table"),
        (".pools", {"orders": 3}, "is not a table"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_in_plain_words(setting: str, written: object, problem: str) -> None:
    said = [fault.problem for fault in faults(changed({setting: written}))]
    assert problem in said


@pytest.mark.parametrize(
    ("setting", "written"),
    [
        ("max_workers", 1),
        ("max_workers", 100_000),
        ("min_workers", 0),
        ("ramp", {"percent": 0}),
        ("ramp", {"percent": 10_000}),
        (".state_dir", "/" + "a" * 1023),
        (".table", "a" * 255),
        (".table", "arn:aws:dynamodb:eu-central-1:123456789012:table/" + "a" * 255),
        ("ecs", {"cluster": "a" * 255, "service": "b" * 255}),
        ("drain_target", "14d"),
        ("visibility_timeout", "12h"),
        ("utilization", 1),
    ],
)
def test_the_first_and_the_last_value_of_a_range_belong_to_it(setting: str, written: object) -> None:
    tree = changed({setting: written})
    if setting == ".state_dir":
        del tree["table"]
    assemble(tree, {})


@pytest.mark.parametrize(("length", "accepted"), [(255, True), (256, False)])
def test_a_groups_name_has_at_most_255_characters(length: int, accepted: bool) -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html"""
    tree = changed({"ecs": GONE, "asg": "a" * length})
    if accepted:
        assemble(tree, {})
    else:
        assert faults(tree)[0].problem == "is no Auto Scaling group's name"


def test_one_wrong_queue_of_several_is_named_by_its_place() -> None:
    (fault,) = faults(changed({"queue": "", "queues": ["orders", "my returns"]} | {"queue": "orders"}))[:1]
    assert fault.setting == "pools.orders.queues[1]"
    assert fault.value == "my returns"


@pytest.mark.parametrize(
    ("setting", "written", "fix"),
    [
        ("ecs", "prod/orders", 'ecs = { cluster = "prod", service = "orders" }'),
        ("ramp", "fast", "ramp = { percent = 400.0, workers = 20 }"),
        ("database", 100, "database = { connections = 100 }"),
        ("schedule", ["office"], '{ name = "office hours", start = "0 8 * * MON-FRI", end = "0 20 * * MON-FRI" }'),
    ],
)
def test_a_table_that_is_none_is_told_with_one_that_is(setting: str, written: object, fix: str) -> None:
    (fault,) = faults(changed({setting: written}))
    assert fault.fix == f"write a table, such as {fix}"


def test_a_word_that_is_not_accepted_is_told_with_those_that_are() -> None:
    (fault,) = faults(changed({".publish": "everywhere"}))
    assert str(fault).endswith('write "off", "log" or "cloudwatch"')
