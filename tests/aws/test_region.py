"""The default Region comes from AWS_REGION too, for the controller's clients and for the worker's."""

from contextlib import AsyncExitStack

import pytest

from tests.aws.moto_cloud import use_test_account
from tidegate.aws import aio
from tidegate.aws.clients import AwsClients
from tidegate.aws.region import default_region


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    use_test_account(monkeypatch)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    return monkeypatch


CASES = pytest.mark.parametrize(
    ("environ", "given", "region"),
    [
        ({"AWS_REGION": "eu-west-1"}, None, "eu-west-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-2"}, None, "eu-west-2"),
        ({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2"}, None, "eu-west-1"),
        ({"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-2"}, None, "eu-west-2"),
        ({"AWS_REGION": "eu-west-1"}, "us-east-2", "us-east-2"),
    ],
)


@CASES
def test_the_controllers_clients_take_the_region(
    account: pytest.MonkeyPatch, environ: dict[str, str], given: str | None, region: str
) -> None:
    """docs.aws.amazon.com/sdkref/latest/guide/feature-region.html"""
    for name, value in environ.items():
        account.setenv(name, value)
    assert AwsClients(given).sqs().meta.region_name == region


@CASES
async def test_the_workers_clients_take_the_region(
    account: pytest.MonkeyPatch, environ: dict[str, str], given: str | None, region: str
) -> None:
    for name, value in environ.items():
        account.setenv(name, value)
    async with AsyncExitStack() as stack:
        client = await aio.open_client(stack, aio.session(), "sqs", given, aio.QUICK_CONFIG)
        assert client.meta.region_name == region


def test_without_it_boto3_decides() -> None:
    assert default_region({}) is None
