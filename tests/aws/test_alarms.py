"""The state of CloudWatch alarms: found, of no such name, refused, in other Regions, and many."""

from collections.abc import Iterator

import pytest
from botocore.stub import Stubber

from tests.aws.moto_cloud import REGION, moto_clients
from tidegate.aws.alarms import ALARMS_PER_CALL, CloudWatchAlarms
from tidegate.aws.clients import AwsClients
from tidegate.core.absence import Absence
from tidegate.core.observation import Alarm

OTHER = "us-east-2"


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    with moto_clients(monkeypatch) as made:
        yield made


def make(clients: AwsClients, name: str, state: str, region: str = REGION) -> None:
    cloudwatch = clients.cloudwatch(region)
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace="Payments",
        MetricName="Errors",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1.0,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue=state, StateReason="test")  # type: ignore[arg-type]  # a text


def test_each_alarm_has_its_state_and_one_that_is_not_there_says_so(clients: AwsClients) -> None:
    make(clients, "payments 5xx", "ALARM")
    make(clients, "search", "OK")
    found = CloudWatchAlarms(clients.cloudwatch).states(["payments 5xx", "search", "serach"], 60.0)
    assert found["payments 5xx"] == Alarm("payments 5xx", "ALARM", 60.0)
    assert found["search"] == Alarm("search", "OK", 60.0)
    assert (found["serach"].state, found["serach"].absence) == (None, Absence.GONE)
    assert "there is no alarm serach" in found["serach"].detail
    assert "hold_on_alarms" in found["serach"].detail


def test_composite_alarms_are_told_too(clients: AwsClients) -> None:
    client = clients.cloudwatch(REGION)
    with Stubber(client) as stub:  # moto makes none
        answer = {"MetricAlarms": [], "CompositeAlarms": [{"AlarmName": "all", "StateValue": "ALARM"}]}
        stub.add_response("describe_alarms", answer)
        assert CloudWatchAlarms(lambda _: client).states(["all"], 0.0)["all"].state == "ALARM"


def test_an_alarm_of_another_account_is_not_ones_own_of_that_name(clients: AwsClients) -> None:
    make(clients, "search", "OK")
    mine, theirs = (f"arn:aws:cloudwatch:{REGION}:{account}:alarm:search" for account in ("123456789012", "2" * 12))

    found = CloudWatchAlarms(clients.cloudwatch).states([mine, theirs], 0.0)

    assert found[mine].state == "OK"
    assert (found[theirs].state, found[theirs].absence) == (None, Absence.GONE)
    assert "another account's alarm, which 123456789012 can't read" in found[theirs].detail


def test_an_arn_is_asked_for_in_its_own_region(clients: AwsClients) -> None:
    make(clients, "search", "ALARM", OTHER)
    arn = f"arn:aws:cloudwatch:{OTHER}:123456789012:alarm:search"
    found = CloudWatchAlarms(clients.cloudwatch).states([arn, "search"], 0.0)
    assert found[arn] == Alarm(arn, "ALARM", 0.0)
    assert found["search"].absence is Absence.GONE


@pytest.mark.parametrize(
    ("code", "absence"),
    [("AccessDenied", Absence.DENIED), ("Throttling", Absence.THROTTLED), ("InternalFailure", Absence.UNREACHABLE)],
)
def test_a_refused_call_is_told_apart_and_the_other_regions_still_answer(
    clients: AwsClients, code: str, absence: Absence
) -> None:
    make(clients, "search", "ALARM", OTHER)
    home, other = clients.cloudwatch(REGION), clients.cloudwatch(OTHER)
    arn = f"arn:aws:cloudwatch:{OTHER}:123456789012:alarm:search"
    with Stubber(home) as stub:
        for _ in range(3):
            stub.add_client_error("describe_alarms", code, "no")
        found = CloudWatchAlarms(lambda region: other if region == OTHER else home).states(["a", arn], 7.0)
    assert (found["a"].state, found["a"].absence, found["a"].taken_at_s) == (None, absence, 7.0)
    assert "cloudwatch:DescribeAlarms" in found["a"].detail
    assert found[arn].state == "ALARM"


def test_a_hundred_alarms_go_into_a_call(clients: AwsClients) -> None:
    client = clients.cloudwatch(REGION)
    names = [f"a{n}" for n in range(ALARMS_PER_CALL + 1)]
    with Stubber(client) as stub:
        for batch in (names[:ALARMS_PER_CALL], names[ALARMS_PER_CALL:]):
            asked = {"AlarmNames": batch, "AlarmTypes": ["MetricAlarm", "CompositeAlarm"]}
            answer = {"MetricAlarms": [{"AlarmName": batch[0], "StateValue": "OK"}], "CompositeAlarms": []}
            stub.add_response("describe_alarms", answer, asked)
        found = CloudWatchAlarms(lambda _: client).states(names, 0.0)
        stub.assert_no_pending_responses()
    assert [found[name].state for name in ("a0", "a1", f"a{ALARMS_PER_CALL}")] == ["OK", None, "OK"]
