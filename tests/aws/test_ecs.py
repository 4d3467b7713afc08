"""An ECS service's desired count. What moto can't show is answered by a stub with ECS's own shapes."""

from typing import Any

import pytest
from botocore.stub import Stubber

from tests.aws.moto_cloud import make_service
from tidegate.aws.clients import AwsClients
from tidegate.aws.ecs import EcsService
from tidegate.core.observation import Capacity
from tidegate.errors import CapacityChanged, Denied, Gone, Invalid

ARN = "arn:aws:ecs:eu-west-1:111122223333:service/jobs/workers"


def deployment(status: str, running: int, pending: int = 0, rollout: str = "COMPLETED") -> dict[str, Any]:
    return {"status": status, "runningCount": running, "pendingCount": pending, "rolloutState": rollout}


def service(**more: Any) -> dict[str, Any]:
    return {
        "serviceName": "workers",
        "status": "ACTIVE",
        "desiredCount": 4,
        "runningCount": 3,
        "pendingCount": 1,
        "deployments": [deployment("PRIMARY", 3, 1)],
        **more,
    }


def read(clients: AwsClients, answer: dict[str, Any]) -> Capacity:
    """What the adapter makes of this answer to DescribeServices."""
    client = clients.ecs()
    with Stubber(client) as stub:
        stub.add_response("describe_services", answer, {"cluster": "jobs", "services": ["workers"]})
        return EcsService(client, "jobs", "workers", lambda: 99.0).read()


def test_counts_are_read_with_the_time_of_the_answer(clients: AwsClients) -> None:
    expected = Capacity("ecs:jobs/workers", 99.0, desired=4, running=3, pending=1, deploying=False)
    assert read(clients, {"services": [service()], "failures": []}) == expected


@pytest.mark.parametrize(
    ("deployments", "deploying", "outdated"),
    [
        ([], False, 0),
        ([deployment("PRIMARY", 3, 1)], False, 0),
        ([deployment("PRIMARY", 0, 4, "IN_PROGRESS")], False, 0),
        ([deployment("PRIMARY", 0, 4, "IN_PROGRESS"), deployment("ACTIVE", 4)], True, 4),
        ([deployment("PRIMARY", 2), deployment("ACTIVE", 1), deployment("ACTIVE", 1)], True, 2),
        ([deployment("PRIMARY", 4, 0, "IN_PROGRESS"), deployment("ACTIVE", 0, 1)], True, 0),
        ([deployment("PRIMARY", 4), deployment("ACTIVE", 0)], False, 0),
        ([deployment("PRIMARY", 4), deployment("INACTIVE", 1)], False, 0),
    ],
)
def test_a_deployment_is_under_way_while_an_older_one_still_has_tasks_and_those_are_outdated(
    clients: AwsClients, deployments: list[dict[str, Any]], deploying: bool, outdated: int
) -> None:
    """docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Deployment.html"""
    answer = {"services": [service(deployments=deployments)], "failures": []}
    found = read(clients, answer)
    assert (found.deploying, found.outdated) == (deploying, outdated)


@pytest.mark.parametrize(("running", "deploying"), [(2, True), (0, False)])
def test_a_blue_green_deployment_is_under_way_while_the_other_task_set_runs(
    clients: AwsClients, running: int, deploying: bool
) -> None:
    """docs.aws.amazon.com/AmazonECS/latest/APIReference/API_TaskSet.html"""
    task_sets = [{"status": "PRIMARY", "runningCount": 4}, {"status": "ACTIVE", "runningCount": running}]
    answer = {"services": [service(deployments=[], taskSets=task_sets)], "failures": []}
    assert read(clients, answer).deploying is deploying


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"services": [], "failures": [{"arn": ARN, "reason": "MISSING"}]}, "MISSING"),
        ({"services": [service(status="INACTIVE")], "failures": []}, "the service is INACTIVE"),
        ({"services": [service(status="DRAINING")], "failures": []}, "the service is DRAINING"),
    ],
)
def test_a_service_that_is_not_there_or_on_its_way_out_is_gone(
    clients: AwsClients, answer: dict[str, Any], words: str
) -> None:
    """docs.aws.amazon.com/AmazonECS/latest/APIReference/API_DescribeServices.html"""
    with pytest.raises(Gone, match=f"ecs:DescribeServices on ecs:jobs/workers found nothing: {words}"):
        read(clients, answer)


def test_a_missing_cluster_is_gone(clients: AwsClients) -> None:
    with pytest.raises(Gone, match="ClusterNotFoundException"):
        EcsService(clients.ecs(), "nowhere", "workers", lambda: 0.0).read()


def test_a_daemon_service_is_invalid_and_the_fix_is_named(clients: AwsClients) -> None:
    """docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Service.html: DAEMON runs one task per instance"""
    with pytest.raises(Invalid, match="give the pool a service with scheduling strategy REPLICA"):
        read(clients, {"services": [service(schedulingStrategy="DAEMON")], "failures": []})


def test_only_the_desired_count_is_written(clients: AwsClients) -> None:
    client = clients.ecs()
    with Stubber(client) as stub:
        for _ in range(2):
            stub.add_response("describe_services", {"services": [service()], "failures": []})
        stub.add_response(
            "update_service", {"service": service()}, {"cluster": "jobs", "service": "workers", "desiredCount": 9}
        )
        target = EcsService(client, "jobs", "workers", lambda: 0.0)
        assert target.set_desired(9, target.read()) is True
        stub.assert_no_pending_responses()


def test_a_denied_write_names_the_action(clients: AwsClients) -> None:
    client = clients.ecs()
    target = EcsService(client, "jobs", "workers", lambda: 0.0)
    with Stubber(client) as stub:
        for _ in range(2):
            stub.add_response("describe_services", {"services": [service()], "failures": []})
        stub.add_client_error("update_service", "AccessDeniedException", "no", 400)
        with pytest.raises(Denied, match="allow ecs:UpdateService on ecs:jobs/workers"):
            target.set_desired(9, target.read())


def test_arns_are_accepted_and_shown_short(clients: AwsClients) -> None:
    make_service(clients, desired=2)
    cluster = clients.ecs().describe_clusters(clusters=["jobs"])["clusters"][0]["clusterArn"]
    target = EcsService(clients.ecs(), cluster, ARN, lambda: 0.0)
    assert target.name == "ecs:jobs/workers"
    assert target.read().desired == 2


def test_a_change_between_reading_and_writing_is_not_overwritten(clients: AwsClients) -> None:
    target = make_service(clients, desired=2)
    seen = target.read()
    clients.ecs().update_service(cluster="jobs", service="workers", desiredCount=7)
    with pytest.raises(CapacityChanged, match="desired count of ecs:jobs/workers went from 2 to 7"):
        target.set_desired(3, seen)
    assert target.read().desired == 7
