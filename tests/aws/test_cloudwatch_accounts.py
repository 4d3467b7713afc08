"""Queues of other accounts: whose metrics are asked for, and what is said when they are not seen."""

from collections.abc import Sequence
from typing import Any

import pytest
from botocore.stub import Stubber

from tests.aws.moto_cloud import REGION
from tests.aws.test_cloudwatch import AGE, NOON_S, SENT, result
from tidegate.aws.clients import AwsClients
from tidegate.aws.cloudwatch import CloudWatchMetrics
from tidegate.aws.history import CloudWatchHistory
from tidegate.core.absence import Absence
from tidegate.core.observation import Reading
from tidegate.errors import Throttled
from tidegate.ports import Metric

HOME, OTHER, THIRD = "111122223333", "210987654321", "300000000003"


def age_of(account: str) -> Metric:
    return Metric(f"arn:aws:sqs:{REGION}:{account}:mail", AGE.name, AGE.statistic)


def sent_of(account: str) -> Metric:
    return Metric(age_of(account).queue, SENT.name, SENT.statistic)


def asked(clients: AwsClients, answers: Sequence[dict[str, Any] | str], metrics: Sequence[Metric]) -> Any:
    """(each call's accounts, the readings); an answer that is a text is the code of an error."""
    client, calls = clients.cloudwatch(REGION), list[list[str | None]]()

    def note(params: dict[str, Any], **_: object) -> None:
        calls.append([each.get("AccountId") for each in params["MetricDataQueries"]])

    client.meta.events.register("before-parameter-build.cloudwatch.GetMetricData", note, unique_id="accounts")
    with Stubber(client) as stub:
        for answer in answers:
            if isinstance(answer, str):
                stub.add_client_error("get_metric_data", answer, "no link", 400)
            else:
                stub.add_response("get_metric_data", answer)
        readings = CloudWatchMetrics(lambda _: client, HOME).latest(metrics, NOON_S)
        stub.assert_no_pending_responses()
    return calls, dict(readings)


def value(number: float) -> dict[str, Any]:
    return {"MetricDataResults": [result(0, points=[(NOON_S - 60, number)])]}


def test_each_other_account_is_asked_by_its_id_in_a_call_of_its_own(clients: AwsClients) -> None:
    metrics = [age_of(HOME), sent_of(HOME), age_of(OTHER), age_of(THIRD)]
    own = {"MetricDataResults": [result(n, points=[(NOON_S - 60, 1.0)]) for n in range(2)]}

    calls, readings = asked(clients, [own, value(2.0), value(3.0)], metrics)

    assert calls == [[None, None], [OTHER], [THIRD]]
    assert [readings[metric].value for metric in metrics] == [1.0, 1.0, 2.0, 3.0]


def test_where_ones_own_account_is_not_known_none_is_named(clients: AwsClients) -> None:
    client, named = clients.cloudwatch(REGION), list[bool]()
    client.meta.events.register(
        "before-parameter-build.cloudwatch.GetMetricData",
        lambda params, **_: named.extend("AccountId" in each for each in params["MetricDataQueries"]),
    )
    with Stubber(client) as stub:
        stub.add_response("get_metric_data", value(1.0))
        CloudWatchMetrics(lambda _: client).latest([age_of(OTHER)], NOON_S)
    assert named == [False]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("AccessDenied", "no link"),
        ("InvalidParameterValue", "no link"),
        ({"MetricDataResults": [result(0, "Forbidden")]}, "Forbidden"),
        ({"MetricDataResults": []}, "no data in the last 15 minutes"),
    ],
)
def test_an_account_that_shares_nothing_is_unseen_and_takes_nothing_from_the_others(
    clients: AwsClients, answer: dict[str, Any] | str, why: str
) -> None:
    _, readings = asked(clients, [value(1.0), answer], [AGE, age_of(OTHER)])

    assert readings[AGE].value == 1.0
    unseen: Reading = readings[age_of(OTHER)]
    assert (unseen.value, unseen.absence) == (None, Absence.UNSEEN)
    assert unseen.detail.startswith(f"metrics of account {OTHER} in {REGION} are not seen (")
    assert why in unseen.detail
    assert unseen.detail.endswith("that account has to share them: docs/deploy.md")


def test_one_that_shares_nothing_is_no_failure_though_it_is_the_only_one(clients: AwsClients) -> None:
    _, readings = asked(clients, ["AccessDenied"], [age_of(OTHER)])
    assert readings[age_of(OTHER)].absence is Absence.UNSEEN


def test_another_account_that_is_throttled_is_a_failure_like_any(clients: AwsClients) -> None:
    with pytest.raises(Throttled, match=f"account {OTHER} in {REGION}"):
        asked(clients, ["Throttling"], [age_of(OTHER)])


def test_the_past_of_another_accounts_queue_is_asked_of_that_account(clients: AwsClients) -> None:
    client, named = clients.cloudwatch(REGION), list[str]()
    client.meta.events.register(
        "before-parameter-build.cloudwatch.GetMetricData",
        lambda params, **_: named.extend(each["AccountId"] for each in params["MetricDataQueries"]),
    )
    sent = sent_of(OTHER)
    with Stubber(client) as stub:
        stub.add_response("get_metric_data", value(1.0))
        found = CloudWatchHistory(lambda _: client, HOME).history([sent], NOON_S - 600, NOON_S, 60)
    assert named == [OTHER]
    assert found == {sent: {NOON_S - 60: 1.0}}
