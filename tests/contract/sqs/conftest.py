"""Every contract test that asks for `sqs` runs once per server; known deviations are strict expected failures."""

import itertools
from collections.abc import Iterator

import boto3
import pytest
from botocore.config import Config
from types_boto3_sqs import SQSClient

from tests.contract.sqs import servers
from tests.contract.sqs.account import Account
from tests.contract.sqs.deviations import DEVIATIONS, UNSTEADY

SERVERS = {"tidegate": servers.tidegate, "moto": servers.moto, "ministack": servers.ministack}
_numbers = itertools.count(1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "server_url" in metafunc.fixturenames:
        marks = [pytest.mark.integration]
        metafunc.parametrize("server_url", [pytest.param(name, marks=marks) for name in SERVERS], indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and "server_url" in item.fixturenames:
            server, _, params = item.callspec.id.partition("-")
            name = f"{item.originalname}[{params}]" if params else item.originalname
            if reason := DEVIATIONS[server].get(name):
                item.add_marker(pytest.mark.xfail(strict=True, reason=f"{server}: {reason}"))
            if reason := UNSTEADY[server].get(name):
                item.add_marker(pytest.mark.skip(reason=f"{server}: {reason}"))


@pytest.fixture(scope="package")
def server_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with SERVERS[request.param]() as url:
        yield url


@pytest.fixture(scope="package")
def client(server_url: str) -> Iterator[SQSClient]:
    made = boto3.client(
        "sqs",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="contract",
        aws_secret_access_key="contract",
        config=Config(retries={"mode": "standard", "total_max_attempts": 1}),
    )
    yield made
    made.close()


@pytest.fixture
def sqs(client: SQSClient, server_url: str) -> Account:
    """A client of one server, with queues of this test's own."""
    return Account(client, server_url, f"contract-{next(_numbers)}")
