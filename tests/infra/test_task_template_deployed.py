"""The plain template of a controller that is a task, deployed on moto: what it has that the function's has not."""

import json
from collections.abc import Iterator

import pytest

from tests.aws.moto_cloud import REGION
from tests.infra.deployed import SKIPPED_BY_MOTO, account, client, deploy
from tests.infra.plain_template import FUNCTION, TASK

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("deployed"),
    pytest.mark.filterwarnings("ignore:Tried to parse AWS.* not supported by moto:UserWarning"),  # SKIPPED_BY_MOTO
]


@pytest.fixture(scope="module")
def stack() -> Iterator[dict[str, str]]:
    """Physical ids by logical ones, of a template that is deployed once for all."""
    with account():
        yield deploy(TASK, ControllerRepository="tidegate", ControllerTag="1")


def test_it_has_no_type_of_resource_that_the_functions_has_not() -> None:
    assert {*TASK.kinds().values()} <= {*FUNCTION.kinds().values()}


def test_every_resource_of_a_type_that_moto_has_was_made(stack: dict[str, str]) -> None:
    assert {logical for logical, kind in TASK.kinds().items() if kind not in SKIPPED_BY_MOTO} <= set(stack)


def test_one_controller_runs_in_the_workers_cluster(stack: dict[str, str]) -> None:
    ecs = client("ecs")
    (cluster,) = ecs.list_clusters()["clusterArns"]
    (found,) = ecs.describe_services(cluster=cluster, services=["tidegate"])["services"]
    task = ecs.describe_task_definition(taskDefinition=found["taskDefinition"])["taskDefinition"]
    (container,) = task["containerDefinitions"]

    assert found["desiredCount"] == 1
    assert container["command"] == ["tidegate", "run"]
    assert container["image"] == f"123456789012.dkr.ecr.{REGION}.amazonaws.com/tidegate:1"
    assert {one["name"] for one in container["environment"]} == {
        "TIDEGATE_CONFIG", "TIDEGATE_CONFIG_REVISION", "TIDEGATE_HEALTH_FILE",
    }  # fmt: skip


def test_its_settings_are_those_of_a_task(stack: dict[str, str]) -> None:
    settings = json.loads(client("ssm").get_parameter(Name="/tidegate/settings")["Parameter"]["Value"])
    assert (settings["publish"], settings["ticks_per_invocation"]) == ("cloudwatch", 1)
    assert settings["pools"]["orders"]["target_wait"] == "30s"


def test_what_starts_it_may_write_its_log(stack: dict[str, str]) -> None:
    inline = client("iam").get_role_policy(RoleName="tidegate-execution", PolicyName="execution")
    wanted = TASK.the("IAM::Policy", PolicyName="execution")["PolicyDocument"]["Statement"]
    assert [one["Sid"] for one in inline["PolicyDocument"]["Statement"]] == [one["Sid"] for one in wanted]
    assert "/ecs/tidegate" in {one["logGroupName"] for one in client("logs").describe_log_groups()["logGroups"]}
