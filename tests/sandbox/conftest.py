"""A cloud for the tests that talk to its API."""

from collections.abc import Iterator

import boto3
import pytest

from tidegate.sandbox.cloud import Cloud


@pytest.fixture(scope="module")
def running_cloud() -> Iterator[Cloud]:
    with Cloud() as cloud:
        yield cloud


@pytest.fixture
def cloud(running_cloud: Cloud) -> Cloud:
    """Empty at the start of each test."""
    running_cloud.reset()
    return running_cloud


@pytest.fixture(scope="session")
def session() -> boto3.Session:
    """A session that knows nothing of the machine's own settings."""
    return boto3.Session(aws_access_key_id="sandbox", aws_secret_access_key="sandbox", region_name="eu-west-1")
