"""What the contract suites share: an account at moto for the real adapters."""

from collections.abc import Iterator

import pytest

from tests.aws.moto_cloud import moto_clients, moto_over_http
from tidegate.aws.clients import AwsClients


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """Clients of an empty account at moto, in process."""
    with moto_clients(monkeypatch) as made:
        yield made


@pytest.fixture
def moto_endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """The same over HTTP, for adapters that are made with aiobotocore."""
    with moto_over_http(monkeypatch) as made:
        yield made
