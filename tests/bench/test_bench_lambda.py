"""A cold start of the function beside boto3 alone, in one run: the same clients, the same calls, the same packages."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.bundled import BUNDLE, NO_BUNDLE, account, run_alone, unpacked

pytestmark = [
    pytest.mark.bench,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not BUNDLE.exists(), reason=NO_BUNDLE),
]

ROUNDS = 25
MOST_TIMES = 1.3
MOST_MB = 128

OURS = """
from tidegate.entrypoints.lambda_handler import handler
handler({}, None)
"""

BOTO3 = """
import datetime
import boto3
session = boto3.Session()
sqs, ecs, dynamodb, cloudwatch = map(session.client, ("sqs", "ecs", "dynamodb", "cloudwatch"))
ends = datetime.datetime.now(datetime.UTC)
cloudwatch.get_metric_data(MetricDataQueries=[
    {"Id": f"m{n}", "MetricStat": {"Metric": {"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent",
     "Dimensions": [{"Name": "QueueName", "Value": "orders"}]}, "Period": 60, "Stat": "Sum"}} for n in range(3)
], StartTime=ends - datetime.timedelta(minutes=15), EndTime=ends)
dynamodb.get_item(TableName="tidegate", Key={"pk": {"S": "bench"}, "sk": {"S": "state"}})
url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
dynamodb.query(TableName="tidegate", KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "w"}})
for _ in range(DESCRIBES):
    ecs.describe_services(cluster="prod", services=["orders"])
dynamodb.put_item(TableName="tidegate", Item={"pk": {"S": "bench"}, "sk": {"S": "state"}})
for _ in range(UPDATES):
    ecs.update_service(cluster="prod", service="orders", desiredCount=1)
"""

RECORDED = """
import botocore.session, json
made, make = [], botocore.session.Session.create_client
def recording(*arguments, **settings):
    client = make(*arguments, **settings)
    client.meta.events.register("before-parameter-build", lambda model, **_: made.append(model.name))
    return client
botocore.session.Session.create_client = recording
CODE
print("\\n" + json.dumps(made))
"""

TIMED = """
import time; began_s = time.perf_counter()
CODE
taken_s = time.perf_counter() - began_s
with open("/proc/self/status") as status:  # ru_maxrss would be that of the process it was forked from
    (peak_kb,) = [line.split()[1] for line in status if line.startswith("VmHWM")]
print("\\n" + str(taken_s), int(peak_kb) / 1024)
"""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """Where the bundle is unpacked, and the environment of its process."""
    with pytest.MonkeyPatch.context() as patch, account(patch) as environment:
        yield unpacked(tmp_path_factory.mktemp("bundle")), environment


def calls(code: str, sandbox: tuple[Path, dict[str, str]]) -> list[str]:
    """The operations that `code` calls."""
    made: list[str] = json.loads(run_alone(sandbox[0], RECORDED.replace("CODE", code), sandbox[1]).splitlines()[-1])
    return sorted(made)


def timed(code: str, sandbox: tuple[Path, dict[str, str]]) -> tuple[float, float]:
    """Seconds from before the first import until after the last call, and the process's peak in MB."""
    seconds, megabytes = run_alone(sandbox[0], TIMED.replace("CODE", code), sandbox[1]).splitlines()[-1].split()
    return float(seconds), float(megabytes)


def test_a_cold_start_takes_little_longer_than_boto3_alone(sandbox: tuple[Path, dict[str, str]]) -> None:
    """Byte code is in the bundle, for both. The second tick of ours finds the state of the first."""
    first = calls(OURS, sandbox)
    steady = calls(OURS, sandbox)
    boto3 = BOTO3.replace("DESCRIBES", str(steady.count("DescribeServices"))).replace(
        "UPDATES", str(steady.count("UpdateService"))
    )
    assert calls(boto3, sandbox) == steady
    assert {"GetItem", "PutItem", "GetQueueAttributes", "DescribeServices", "GetMetricData"} <= set(first)

    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(timed(OURS, sandbox))
        theirs.append(timed(boto3, sandbox))
    # The fastest of each: what else the machine does only ever adds to a run.
    ours_s, theirs_s = (min(seconds for seconds, _ in runs) for runs in (ours, theirs))
    peak = max(megabytes for _, megabytes in ours)
    sys.stdout.write(
        f"\nimport and first tick: {ours_s * 1000:.0f} ms, boto3 with the same {len(steady)} calls "
        f"{theirs_s * 1000:.0f} ms: × {ours_s / theirs_s:.2f} (at most {MOST_TIMES} asked); "
        f"peak {peak:.0f} MB (at most {MOST_MB} asked), boto3 {max(mb for _, mb in theirs):.0f} MB"
    )
    assert peak <= MOST_MB
    assert ours_s <= MOST_TIMES * theirs_s
