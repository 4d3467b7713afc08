"""The Lambda bundle that was built for this machine and Python, run by itself against the sandbox."""

import os
import platform
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest

from tests.aws.moto_cloud import use_test_account
from tidegate.aws.clients import AwsClients
from tidegate.aws.dynamodb import create_table
from tidegate.sandbox.cloud import Cloud
from tidegate.sandbox.sqs import SqsServer

LAMBDA = Path(__file__).parents[2] / "lambda"
BUNDLE = LAMBDA / "dist" / f"tidegate-{platform.machine()}-python{sys.version_info[0]}.{sys.version_info[1]}.zip"
NO_BUNDLE = "no bundle for this machine and Python: run `make -C lambda here`"


@contextmanager
def account(patch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment of a process in a sandbox with what the example settings name, and work in the queue."""
    use_test_account(patch)
    with SqsServer() as queues, Cloud() as cloud:
        environment = cloud.environment(queues.url)
        for name, value in environment.items():
            patch.setenv(name, value)
        sqs = boto3.client("sqs")
        url = sqs.create_queue(QueueName="orders")["QueueUrl"]
        sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": str(n), "MessageBody": "x"} for n in range(10)])
        sqs.close()
        cloud.create_service("prod", "orders", desired=1)
        create_table(AwsClients(cloud.region).dynamodb(), "tidegate")
        yield environment


def unpacked(folder: Path) -> Path:
    """The bundle as Lambda lays it out."""
    with zipfile.ZipFile(BUNDLE) as bundle:
        bundle.extractall(folder)
    return folder


def run_alone(root: Path, code: str, environment: dict[str, str]) -> str:
    """What `code` printed with no package in reach but the bundle's, and no variable but these."""
    env = {**environment, "AWS_EC2_METADATA_DISABLED": "true", "LAMBDA_TASK_ROOT": str(root), "PATH": os.defpath}
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{code}"]
    done = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
