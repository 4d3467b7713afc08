"""One line per decision: JSON for machines, the sentence first for people, and never more than is safe to show."""

import io
import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from tests.controller.pool_rig import decision
from tidegate.core.condition import Condition
from tidegate.core.decision import Action, Decision, Health, Reason, Step
from tidegate.entrypoints.logs import LogSink, make_logger
from tidegate.errors import ConfigError, Denied, Gone

DECIDED = replace(
    decision("orders", 100.0, 2, 5),
    steps=(
        Step("signals", {"waiting": 20, "in_flight": 3, "busy_slots": None}, "no worker reports"),
        Step("estimate", {"arrivals_per_s": 1.5}),
    ),
    health=Health(0.5, 2, 0.0, 2, 0.9, 600.0, ("split it",)),
)
GONE = Gone("sqs:GetQueueAttributes", "orders", "QueueDoesNotExist")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def json_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_decision_is_one_json_line_with_its_reason_sentence_values_and_steps() -> None:
    stream = io.StringIO()

    LogSink(make_logger("info", stream)).decided(DECIDED, wrote=True)

    (line,) = json_lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "decision",
        "level": "info",
        "pool": "orders",
        "desired": 5,
        "current": 2,
        "action": "out",
        "reason": "need",
        "wrote": True,
        "sentence": "orders: 2 → 5",
        "waiting": 20,
        "in_flight": 3,
        "arrivals_per_s": 1.5,
        "health": {
            "changes_per_min": 0.5,
            "reversals_per_h": 2,
            "pinned_share": 0.0,
            "usual_count": 2,
            "usual_share": 0.9,
            "watched_s": 600.0,
            "advice": ["split it"],
        },
        "steps": [
            {"step": "signals", "waiting": 20, "in_flight": 3, "busy_slots": None, "note": "no worker reports"},
            {"step": "estimate", "arrivals_per_s": 1.5, "note": ""},
        ],
    }


def test_a_decision_around_something_broken_is_an_error_that_says_what() -> None:
    stream = io.StringIO()

    LogSink(make_logger("error", stream)).decided(replace(DECIDED, errors=(str(GONE),)), wrote=False)

    (line,) = json_lines(stream)
    assert (line["level"], line["errors"]) == ("error", [str(GONE)])


def test_on_a_terminal_the_sentence_comes_first_and_the_steps_stay_out() -> None:
    stream = Terminal()

    LogSink(make_logger("info", stream)).decided(DECIDED, wrote=True)

    (line,) = stream.getvalue().splitlines()
    assert "orders: orders: 2 → 5" in line
    assert line.index("2 → 5") < line.index("waiting")
    assert "no worker reports" not in line


def test_an_expected_failure_is_its_one_line_without_a_traceback_and_failures_in_a_row_are_counted() -> None:
    stream = io.StringIO()
    sink = LogSink(make_logger("info", stream))
    with pytest.raises(Gone) as raised:
        raise GONE

    for step in ("fail", "fail", "decide", "fail"):
        if step == "fail":
            sink.failed("orders", raised.value)
        else:
            sink.decided(DECIDED, wrote=False)

    failed = [line for line in json_lines(stream) if line["event"] == "tick_failed"]
    assert [line["in_a_row"] for line in failed] == [1, 2, 1]
    assert {(line["pool"], line["kind"], line["error"]) for line in failed} == {("orders", "Gone", str(GONE))}
    assert "Traceback" not in stream.getvalue()


def test_failures_of_one_pool_are_not_counted_for_another() -> None:
    stream = io.StringIO()
    sink = LogSink(make_logger("info", stream))

    sink.failed("orders", GONE)
    sink.failed("mail", GONE)

    assert [line["in_a_row"] for line in json_lines(stream)] == [1, 1]


def test_what_was_noted_on_an_error_is_said_with_it() -> None:
    stream = io.StringIO()
    error = Gone("ecs:UpdateService", "prod/orders", "MISSING")
    error.add_note("the state still holds what was to be asked for")

    LogSink(make_logger("info", stream)).failed("orders", error)

    assert json_lines(stream)[0]["error"].endswith("; the state still holds what was to be asked for")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_an_unexpected_failure_has_its_traceback_but_never_the_local_variables(stream: io.StringIO) -> None:
    def handle(body: str) -> None:
        raise ZeroDivisionError(len(body))

    try:
        handle("card number " + "4111")
    except ZeroDivisionError as error:
        LogSink(make_logger("info", stream)).failed("orders", error)

    assert "Traceback" in stream.getvalue()
    assert "in handle" in stream.getvalue()
    assert "card number 4111" not in stream.getvalue()


def test_a_pool_that_is_late_at_its_ceiling_is_a_warning_and_its_end_is_none() -> None:
    stream = io.StringIO()
    sink = LogSink(make_logger("info", stream))
    decided = Decision("orders", 0.0, 2, 2, Action.HOLD, Reason.CEILING, "held", state=Condition.AT_CEILING)

    sink.changed_state(decided, Condition.NORMAL)
    sink.changed_state(replace(decided, state=Condition.NORMAL), Condition.AT_CEILING)

    assert [(line["level"], line["event"], line["state"], line["was"]) for line in json_lines(stream)] == [
        ("warning", "state", "at_ceiling", "normal"),
        ("info", "state", "normal", "at_ceiling"),
    ]


def test_a_missed_tick_is_a_warning_that_counts() -> None:
    stream = io.StringIO()
    sink = LogSink(make_logger("info", stream))

    sink.overran("orders", 3)
    sink.overran(None, 1)

    assert [(line["level"], line["pool"], line["missed"]) for line in json_lines(stream)] == [
        ("warning", "orders", 3),
        ("warning", "(all)", 1),
    ]


def test_a_failing_cloudwatch_is_one_warning_for_all_pools() -> None:
    stream = io.StringIO()

    LogSink(make_logger("info", stream)).metrics_failed(["denied in us-east-2", "no answer in eu-west-1"])

    (line,) = json_lines(stream)
    assert (line["event"], line["level"]) == ("metrics_failed", "warning")
    assert line["troubles"] == ["denied in us-east-2", "no answer in eu-west-1"]


def test_metrics_that_could_not_be_published_are_a_warning_with_the_reason() -> None:
    stream = io.StringIO()
    LogSink(make_logger("info", stream)).not_published(Denied("cloudwatch:PutMetricData", "tidegate", "no"))
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"]) == ("metrics_not_published", "warning")
    assert "cloudwatch:PutMetricData" in line["error"]


def test_what_is_missing_before_the_first_tick_is_an_error_and_what_does_not_fit_a_warning() -> None:
    stream = io.StringIO()
    sink = LogSink(make_logger("info", stream))

    sink.not_ready("orders: no such queue")
    sink.doubtful("orders: leases lapse")

    assert [(line["event"], line["level"], line["fault"]) for line in json_lines(stream)] == [
        ("not_ready", "error", "orders: no such queue"),
        ("doubtful", "warning", "orders: leases lapse"),
    ]


def test_a_level_keeps_everything_below_it_out() -> None:
    stream = io.StringIO()
    sink = LogSink(make_logger("error", stream))

    sink.decided(DECIDED, wrote=True)
    sink.overran("orders", 1)

    assert stream.getvalue() == ""


def test_an_unknown_level_is_a_fault_that_names_the_levels() -> None:
    with pytest.raises(ConfigError, match=r"--log-level = 'loud': no such level; write one of debug, info, warning"):
        make_logger("loud", io.StringIO())


def test_what_a_worker_says_through_logging_is_a_line_of_the_same_kind() -> None:
    stream = io.StringIO()
    make_logger("info", stream)

    logging.getLogger("tidegate.worker.jobs.in_hand").warning("released message %s", "m-1")

    (line,) = json_lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "released message m-1", "level": "warning", "logger": "tidegate.worker.jobs.in_hand"}


def test_an_exception_through_logging_has_its_traceback_but_no_local_variables() -> None:
    stream = io.StringIO()
    make_logger("info", stream)
    body = "card number " + "4111"

    try:
        body.index("nothing of the kind")
    except ValueError:
        logging.getLogger("shop").exception("failed")

    (line,) = json_lines(stream)
    assert "Traceback" in line["exception"]
    assert "card number 4111" not in stream.getvalue()


def test_requests_of_the_aws_libraries_are_never_logged_whatever_the_level() -> None:
    stream = io.StringIO()
    make_logger("debug", stream)

    logging.getLogger("botocore.endpoint").debug("Making request with body: secret")
    logging.getLogger("shop").debug("seen")

    assert [line["event"] for line in json_lines(stream)] == ["seen"]


def test_setting_up_twice_says_everything_once() -> None:
    first, second = io.StringIO(), io.StringIO()
    make_logger("info", first)
    make_logger("info", second)

    logging.getLogger("shop").info("seen")

    assert first.getvalue() == ""
    assert len(json_lines(second)) == 1
