"""The plain template, deployed on moto: what it made is asked of each service, and the handler scales what is in it."""

import io
import json
import time
import zipfile
from collections.abc import Iterator

import pytest
from moto.cloudformation.parsing import get_model_map

from tests.aws.moto_cloud import REGION
from tests.controller.pool_rig import InlineExecutor
from tests.infra.deployed import SKIPPED_BY_MOTO, account, client, deploy
from tests.infra.plain_template import FUNCTION
from tidegate.entrypoints import invocation, service
from tidegate.entrypoints.lambda_handler import handler
from tidegate.testing import FakeClock

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("deployed"),
    pytest.mark.filterwarnings("ignore:Tried to parse AWS.* not supported by moto:UserWarning"),  # SKIPPED_BY_MOTO
]


@pytest.fixture(scope="module")
def stack() -> Iterator[dict[str, str]]:
    """The template, deployed once for all: physical ids by type, of types that it has once."""
    with account():
        _upload()
        made = deploy(FUNCTION, PackageBucket="artifacts", PackageKey="tidegate.zip")
        yield {kind: made[logical] for logical, kind in FUNCTION.kinds().items() if logical in made}


def _upload() -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as package:
        package.writestr("tidegate/__init__.py", "")
    bucket = {"LocationConstraint": REGION}
    client("s3").create_bucket(Bucket="artifacts", CreateBucketConfiguration=bucket)
    client("s3").put_object(Bucket="artifacts", Key="tidegate.zip", Body=body.getvalue())


def types() -> set[str]:
    return {*FUNCTION.kinds().values()}


def test_every_type_that_moto_has_is_read_back_here_and_no_other_is_left_out() -> None:
    assert types() - set(get_model_map()) == SKIPPED_BY_MOTO
    assert types() - SKIPPED_BY_MOTO == {
        "AWS::CloudWatch::Dashboard", "AWS::DynamoDB::Table", "AWS::EC2::SecurityGroup", "AWS::ECS::Cluster",
        "AWS::ECS::Service", "AWS::ECS::TaskDefinition", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy",
        "AWS::IAM::Role", "AWS::Lambda::Function", "AWS::Logs::LogGroup", "AWS::SQS::Queue", "AWS::SSM::Parameter",
    }  # fmt: skip


def test_table_parameter_and_logs_are_there(stack: dict[str, str]) -> None:
    table = client("dynamodb").describe_table(TableName="tidegate")["Table"]
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
    assert table["DeletionProtectionEnabled"] is True

    settings = json.loads(client("ssm").get_parameter(Name="/tidegate/settings")["Parameter"]["Value"])
    assert settings["pools"]["orders"]["max_workers"] == 20
    assert settings["pools"]["orders"]["target_wait"] == "30s"

    logs = client("logs").describe_log_groups()["logGroups"]
    assert [group["retentionInDays"] for group in logs] == [30, 30]
    assert "/aws/lambda/tidegate" in {group["logGroupName"] for group in logs}


def test_the_function_is_there_one_at_a_time(stack: dict[str, str]) -> None:
    found = client("lambda").get_function(FunctionName="tidegate")
    assert found["Concurrency"]["ReservedConcurrentExecutions"] == 1
    assert found["Configuration"]["Timeout"] == 90
    assert found["Configuration"]["Role"].endswith(":role/tidegate-controller")


def test_the_queue_gives_its_dead_letters_to_the_other(stack: dict[str, str]) -> None:
    sqs = client("sqs")
    url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    redrive = json.loads(attributes["RedrivePolicy"])
    assert redrive["deadLetterTargetArn"].endswith(":orders-dead")
    assert int(redrive["maxReceiveCount"]) == 5
    assert attributes["VisibilityTimeout"] == "60"
    dead = sqs.get_queue_url(QueueName="orders-dead")["QueueUrl"]
    kept = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["MessageRetentionPeriod"])["Attributes"]
    assert kept == {"MessageRetentionPeriod": "1209600"}


def test_roles_have_their_policies(stack: dict[str, str]) -> None:
    iam = client("iam")
    for role, policy in (("tidegate-controller", "controller"), ("tidegate-schedule", "schedule")):
        inline = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]["Statement"]
        wanted = FUNCTION.the("IAM::Policy", PolicyName=policy)["PolicyDocument"]["Statement"]
        assert [one["Sid"] for one in inline] == [one["Sid"] for one in wanted]
    (worker,) = iam.list_entities_for_policy(PolicyArn=stack["AWS::IAM::ManagedPolicy"])["PolicyRoles"]
    trust = iam.get_role(RoleName=worker["RoleName"])["Role"]["AssumeRolePolicyDocument"]["Statement"]
    assert [one["Principal"] for one in trust] == [{"Service": "ecs-tasks.amazonaws.com"}]
    logical = FUNCTION.the("ECS::TaskDefinition")["TaskRoleArn"]["Fn::GetAtt"][0]  # which moto doesn't keep
    assert worker["RoleName"].startswith(f"orders-{logical}")
    assert len(iam.list_roles()["Roles"]) == len(FUNCTION.of_type("IAM::Role"))


def test_workers_run_with_the_pools_variables_in_the_cluster_and_its_network(stack: dict[str, str]) -> None:
    ecs = client("ecs")
    (cluster,) = ecs.list_clusters()["clusterArns"]
    (found,) = ecs.describe_services(cluster=cluster, services=[stack["AWS::ECS::Service"]])["services"]
    (container,) = ecs.describe_task_definition(taskDefinition=found["taskDefinition"])["taskDefinition"][
        "containerDefinitions"
    ]
    environment = {one["name"]: one["value"] for one in container["environment"]}
    assert environment["TIDEGATE_WORKER_QUEUE"] == f"arn:aws:sqs:{REGION}:123456789012:orders"
    assert environment["TIDEGATE_WORKER_TABLE"] == f"arn:aws:dynamodb:{REGION}:123456789012:table/tidegate"
    groups = client("ec2").describe_security_groups(GroupIds=[stack["AWS::EC2::SecurityGroup"]])["SecurityGroups"]
    assert [group["IpPermissions"] for group in groups] == [[]]


def test_the_dashboard_is_there(stack: dict[str, str]) -> None:
    body = json.loads(client("cloudwatch").get_dashboard(DashboardName="tidegate-orders")["DashboardBody"])
    assert len(body["widgets"]) == 8


def test_what_moto_skips_stands_in_the_template() -> None:
    """Every queue has a policy; the schedule and the function never try again."""
    assert len(FUNCTION.of_type("SQS::QueuePolicy")) == len(FUNCTION.of_type("SQS::Queue")) == 2
    for one in FUNCTION.of_type("SQS::QueuePolicy"):
        (statement,) = one["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert FUNCTION.the("Scheduler::Schedule")["ScheduleExpression"] == "rate(1 minute)"
    assert FUNCTION.the("Lambda::EventInvokeConfig")["MaximumRetryAttempts"] == 0
    assert len(FUNCTION.of_type("CloudWatch::Alarm")) == 9


@pytest.fixture
def in_lambda(stack: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClock]:
    """An execution environment of the deployed function: its variables, and virtual time."""
    deployed = client("lambda").get_function(FunctionName="tidegate")["Configuration"]["Environment"]["Variables"]
    for name, value in deployed.items():
        monkeypatch.setenv(name, value)
    clock = FakeClock(time.time())
    monkeypatch.setattr(invocation, "SystemClock", lambda: clock)
    monkeypatch.setattr(service, "ThreadPoolExecutor", lambda *_, **__: InlineExecutor())
    invocation._start.cache_clear()
    yield clock
    invocation._start.cache_clear()


def test_the_handler_scales_the_service_in_the_deployment(
    stack: dict[str, str], in_lambda: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    url = client("sqs").get_queue_url(QueueName="orders")["QueueUrl"]
    for _ in range(20):
        entries = [{"Id": str(number), "MessageBody": "x"} for number in range(10)]
        client("sqs").send_message_batch(QueueUrl=url, Entries=entries)
    (cluster,) = client("ecs").list_clusters()["clusterArns"]

    def desired() -> int:
        found = client("ecs").describe_services(cluster=cluster, services=[stack["AWS::ECS::Service"]])
        count: int = found["services"][0]["desiredCount"]
        return count

    before = desired()
    assert handler({}, None) == {"pools": 1}

    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    decisions = [line for line in said if line.get("event") == "decision"]
    assert len(decisions) == 6
    assert desired() == decisions[-1]["desired"] > before
