"""Metrics of ours in CloudWatch: written in statistic sets, or as lines of the embedded metric format."""

import json
from datetime import UTC, datetime

import pytest
from botocore.stub import Stubber

from tidegate.aws.clients import AwsClients
from tidegate.aws.emf import EmfLines
from tidegate.aws.metric_data import DATA_PER_CALL, CloudWatchWriter
from tidegate.core.decision import Action, Decision, Reason, Step
from tidegate.core.explain.published import UNITS
from tidegate.errors import Denied, Throttled
from tidegate.ports import Datum

NOON_S = 1_767_268_800.0


def datum(index: int = 0) -> Datum:
    return Datum("orders", "Waiting", "Count", NOON_S, count=6, total=60.0 + index, least=4.0, most=20.0)


def test_a_statistic_set_is_read_back_as_it_was_summed(clients: AwsClients) -> None:
    CloudWatchWriter(clients.cloudwatch, "tidegate").put([datum()])

    (point,) = clients.cloudwatch().get_metric_statistics(
        Namespace="tidegate",
        MetricName="Waiting",
        Dimensions=[{"Name": "Pool", "Value": "orders"}],
        StartTime=datetime.fromtimestamp(NOON_S, UTC),
        EndTime=datetime.fromtimestamp(NOON_S + 60, UTC),
        Period=60,
        Statistics=["Sum", "SampleCount", "Minimum", "Maximum", "Average"],
    )["Datapoints"]

    said = {name: point[name] for name in ("Sum", "SampleCount", "Minimum", "Maximum", "Average")}
    assert said == {"Sum": 60, "SampleCount": 6, "Minimum": 4, "Maximum": 20, "Average": 10}


def test_all_units_are_units_of_cloudwatch(clients: AwsClients) -> None:
    """botocore's own model of the service lists them."""
    shape = clients.cloudwatch().meta.service_model.shape_for("StandardUnit")
    assert set(UNITS.values()) <= set(shape.metadata["enum"])


def test_calls_hold_as_many_data_as_cloudwatch_takes_and_are_counted(clients: AwsClients) -> None:
    writer = CloudWatchWriter(clients.cloudwatch, "tidegate")
    writer.put([datum(index) for index in range(DATA_PER_CALL + 1)])
    assert writer.calls == 2


@pytest.mark.parametrize(("code", "kind"), [("AccessDenied", Denied), ("Throttling", Throttled)])
def test_a_refused_batch_is_told_after_the_others_were_written(
    clients: AwsClients, code: str, kind: type[Exception]
) -> None:
    client = clients.cloudwatch()
    writer = CloudWatchWriter(lambda: client, "tidegate")
    with Stubber(client) as stub:
        stub.add_client_error("put_metric_data", code)
        stub.add_response("put_metric_data", {})
        with pytest.raises(kind, match="cloudwatch:PutMetricData"):
            writer.put([datum(index) for index in range(DATA_PER_CALL + 1)])
        stub.assert_no_pending_responses()
    assert writer.calls == 2


def test_a_tick_is_one_line_whose_directive_names_the_values_that_are_there() -> None:
    lines: list[str] = []
    steps = (Step("signals", {"counts": "fresh", "waiting": 12.0}), Step("capacity", {"slots": 8}))
    EmfLines(lines.append, "tidegate").add(
        Decision("orders", NOON_S + 0.5, 2, 3, Action.OUT, Reason.NEED, "because", steps), wrote=True
    )

    (line,) = lines
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    told = json.loads(line)
    (directive,) = told["_aws"]["CloudWatchMetrics"]
    assert told["_aws"]["Timestamp"] == int(NOON_S * 1000 + 500)
    assert (directive["Namespace"], directive["Dimensions"]) == ("tidegate", [["Pool"]])
    assert (told["Pool"], told["Waiting"], told["ScaleEvents"], told["ProvisionedSlots"]) == ("orders", 12, 1, 8)
    assert {one["Name"]: one["Unit"] for one in directive["Metrics"]} == {
        name: UNITS[name] for name in told if name in UNITS
    }


def test_lines_are_written_at_once_and_nothing_is_held_back() -> None:
    lines: list[str] = []
    sink = EmfLines(lines.append, "tidegate")
    sink.flush(float("inf"))
    assert not sink.due(NOON_S)
    assert lines == []
