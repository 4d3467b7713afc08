"""What the tests of the AWS adapters share."""

from collections.abc import Iterator

import pytest

from tests.aws.moto_cloud import moto_clients
from tidegate.aws.clients import AwsClients


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """Clients of an empty account at moto, in process."""
    with moto_clients(monkeypatch) as made:
        yield made
