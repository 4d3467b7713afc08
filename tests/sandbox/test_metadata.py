"""The endpoints that a worker finds in its environment, over HTTP."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tidegate.errors import TidegateError
from tidegate.sandbox.metadata import MetadataServer
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Identity
from tidegate.testing import FakeClock

pytestmark = pytest.mark.integration

ARN = "arn:aws:ecs:eu-west-1:123456789012:task/cluster/task1"
TASK = Identity("task1", "i-1", ARN)
SISTER = Identity("task2", "i-2", ARN.replace("task1", "task2"))
INSTANCE = Identity("i-3", "i-3")
TTL, TOKEN = "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token"


@dataclass
class Answer:
    status: int
    text: str

    @property
    def json(self) -> object:
        return json.loads(self.text)


def ask(method: str, url: str, body: object = None, **headers: str) -> Answer:
    data = None if body is None else json.dumps(body).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urlopen(Request(url, data, names, method=method), timeout=10) as answer:  # noqa: S310 - our own server
            return Answer(answer.status, answer.read().decode())
    except HTTPError as error:
        with error:
            return Answer(error.code, error.read().decode())


class Endpoints:
    """A server with two tasks and an instance; two workers are desired."""

    def __init__(self) -> None:
        self.clock, self.desired = FakeClock(1_000_000.0), 2
        self.notices = Notices(lambda: self.desired)
        self.server = MetadataServer(self.notices, self.clock.now)
        for identity in (TASK, SISTER, INSTANCE):
            self.notices.register(identity)

    def protection(self, identity: Identity = TASK) -> str:
        return self.server.environment(identity)["ECS_AGENT_URI"] + "/task-protection/v1/state"

    def imds(self, identity: Identity = TASK) -> str:
        return self.server.environment(identity)["AWS_EC2_METADATA_SERVICE_ENDPOINT"] + "latest/"

    def token(self, identity: Identity = TASK, ttl_s: int = 60) -> str:
        return ask("PUT", self.imds(identity) + "api/token", **{TTL: str(ttl_s)}).text

    def item(self, path: str, identity: Identity = TASK) -> Answer:
        token = self.token(identity)
        return ask("GET", f"{self.imds(identity)}meta-data/{path}", **{TOKEN: token})


@pytest.fixture
def ends() -> Iterator[Endpoints]:
    endpoints = Endpoints()
    with endpoints.server:
        yield endpoints


def test_protection_is_put_read_back_and_taken_away(ends: Endpoints) -> None:
    """The answers' form: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html"""
    on = {"protection": {"ExpirationDate": "1970-01-12T14:46:40Z", "ProtectionEnabled": True, "TaskArn": ARN}}
    off = {"protection": {"ExpirationDate": None, "ProtectionEnabled": False, "TaskArn": ARN}}
    assert ask("GET", ends.protection()).json == off
    assert ask("PUT", ends.protection(), {"ProtectionEnabled": True, "ExpiresInMinutes": 60}) == Answer(
        200, json.dumps(on)
    )
    assert ask("GET", ends.protection()).json == on
    assert ends.notices.protected(ends.clock.now()) == {"task1"}
    assert ask("PUT", ends.protection(), {"ProtectionEnabled": False}).json == off
    assert ends.notices.protected(ends.clock.now()) == set()


def test_protection_expires_after_its_minutes_two_hours_when_none_are_given_and_each_put_counts_anew(
    ends: Endpoints,
) -> None:
    ask("PUT", ends.protection(), {"ProtectionEnabled": True})
    ends.clock.advance(7199)
    assert ends.notices.protected(ends.clock.now()) == {"task1"}
    ask("PUT", ends.protection(), {"ProtectionEnabled": True, "ExpiresInMinutes": 1})
    ends.clock.advance(59)
    assert ends.notices.protected(ends.clock.now()) == {"task1"}
    ends.clock.advance(1)
    assert ends.notices.protected(ends.clock.now()) == set()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "does not contain 'ProtectionEnabled'"),
        ({"ProtectionEnabled": "yes"}, "does not contain 'ProtectionEnabled'"),
        ({"ProtectionEnabled": True, "ExpiresInMinutes": 0}, "between 1 and 2880"),
        ({"ProtectionEnabled": True, "ExpiresInMinutes": 2881}, "between 1 and 2880"),
        ({"ProtectionEnabled": True, "ExpiresInMinutes": "60"}, "between 1 and 2880"),
        ({"ProtectionEnabled": True, "Minutes": 60}, "failed to decode"),
        ("not a mapping", "failed to decode"),
    ],
)
def test_a_bad_request_for_protection_is_refused_and_protects_nothing(
    ends: Endpoints, body: object, message: str
) -> None:
    """Status and code as the container agent's handler gives them; the wording is unverified."""
    answer = ask("PUT", ends.protection(), body)
    assert answer.status == 400
    assert '"Code": "InvalidParameterException"' in answer.text
    assert message in answer.text
    assert ends.notices.protected(ends.clock.now()) == set()


def test_no_more_tasks_than_desired_can_be_protected(ends: Endpoints) -> None:
    """DEPLOYMENT_BLOCKED: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection.html

    That it is HTTP 200 is the container agent's way.
    """
    ends.desired = 1
    assert ask("PUT", ends.protection(TASK), {"ProtectionEnabled": True}).status == 200
    refused = ask("PUT", ends.protection(SISTER), {"ProtectionEnabled": True})
    assert refused.status == 200
    failure = {"Arn": SISTER.task_arn, "Detail": "2 protected tasks, 1 desired", "Reason": "DEPLOYMENT_BLOCKED"}
    assert refused.json == {"failure": failure}
    assert ends.notices.protected(ends.clock.now()) == {"task1"}
    assert "protection" in ask("PUT", ends.protection(TASK), {"ProtectionEnabled": True}).text
    ends.desired = 2
    assert "protection" in ask("PUT", ends.protection(SISTER), {"ProtectionEnabled": True}).text


def test_a_worker_that_is_gone_is_not_found(ends: Endpoints) -> None:
    url, imds = ends.protection(), ends.imds()
    ends.notices.forget("task1")
    for method, body in (("GET", None), ("PUT", {"ProtectionEnabled": True})):
        answer = ask(method, url, body)
        assert (answer.status, "ResourceNotFoundException" in answer.text) == (404, True)
    assert ask("PUT", f"{imds}api/token", **{TTL: "60"}).status == 404


def test_a_task_learns_its_arn_from_the_metadata_endpoint(ends: Endpoints) -> None:
    """https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-response.html"""
    base = ends.server.environment(TASK)["ECS_CONTAINER_METADATA_URI_V4"]
    answer = ask("GET", f"{base}/task").json
    assert answer == {"Cluster": "cluster", "TaskARN": ARN, "LaunchType": "FARGATE"}


def test_an_instance_of_a_group_has_no_ecs_endpoints(ends: Endpoints) -> None:
    assert [*ends.server.environment(INSTANCE)] == ["AWS_EC2_METADATA_SERVICE_ENDPOINT"]


def test_metadata_needs_a_token_that_has_not_expired(ends: Endpoints) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html"""
    url = f"{ends.imds()}meta-data/instance-id"
    assert ask("GET", url).status == 401
    assert ask("GET", url, **{TOKEN: "made up"}).status == 401
    token = ends.token(ttl_s=60)
    assert ask("GET", url, **{TOKEN: token}) == Answer(200, "i-1")
    assert ask("GET", url.replace("task1", "task2"), **{TOKEN: token}).status == 401
    ends.clock.advance(60)
    assert ask("GET", url, **{TOKEN: token}).status == 401


@pytest.mark.parametrize("headers", [{}, {TTL: "0"}, {TTL: "21601"}, {TTL: "an hour"}])
def test_a_token_needs_a_time_to_live_within_six_hours(ends: Endpoints, headers: dict[str, str]) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html; 400 unverified"""
    assert ask("PUT", f"{ends.imds()}api/token", **headers).status == 400


def test_a_spot_notice_is_not_found_until_there_is_one(ends: Endpoints) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"""
    assert ends.item("spot/instance-action").status == 404
    ends.notices.spot("task1", ends.clock.now() + 120)
    assert ends.item("spot/instance-action").json == {"action": "terminate", "time": "1970-01-12T13:48:40Z"}
    assert ends.item("spot/instance-action", SISTER).status == 404


def test_a_rebalance_recommendation_is_not_found_until_there_is_one(ends: Endpoints) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html"""
    assert ends.item("events/recommendations/rebalance").status == 404
    ends.notices.rebalance("task1", ends.clock.now())
    assert ends.item("events/recommendations/rebalance").json == {"noticeTime": "1970-01-12T13:46:40Z"}


def test_only_an_instance_of_a_group_has_a_target_lifecycle_state(ends: Endpoints) -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html"""
    assert ends.item("autoscaling/target-lifecycle-state", TASK).status == 404
    assert ends.item("autoscaling/target-lifecycle-state", INSTANCE) == Answer(200, "InService")
    ends.notices.target_lifecycle_state("i-3", "Terminated")
    assert ends.item("autoscaling/target-lifecycle-state", INSTANCE) == Answer(200, "Terminated")


def test_the_environment_of_a_server_that_is_not_started_is_refused() -> None:
    with pytest.raises(TidegateError, match=r"not started; call start\(\) first"):
        MetadataServer(Notices(lambda: 1), lambda: 0.0).environment(TASK)


def test_after_stop_nobody_listens(ends: Endpoints) -> None:
    url = ends.protection()
    ends.server.stop()
    with pytest.raises(OSError, match="refused"):
        ask("GET", url)
