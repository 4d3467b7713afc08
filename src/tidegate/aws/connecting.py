"""What boto3's and aiobotocore's clients have in common: how they call, and what is said when one can't be made."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tidegate.aws.errors import wrapping
from tidegate.errors import Invalid

__all__ = ["call_settings", "making_client"]


def call_settings(connect_s: float, read_s: float, attempts: int, connections: int) -> dict[str, Any]:
    """Keywords of botocore's Config: timeouts in seconds, attempts with the first one counted, connections at most.

    https://docs.aws.amazon.com/botocore/latest/reference/config.html
    """
    return {
        "connect_timeout": connect_s,
        "read_timeout": read_s,
        "retries": {"mode": "standard", "total_max_attempts": attempts},
        "tcp_keepalive": True,
        "max_pool_connections": connections,
        "user_agent_extra": "tidegate",
    }


@contextmanager
def making_client(service: str, region: str | None) -> Iterator[None]:
    """Raises Invalid when there is no Region or the endpoint is no URL, for which botocore has a plain ValueError."""
    operation, where = f"{service}:client", region or "the default Region"
    with wrapping(operation, where):
        try:
            yield
        except ValueError as error:
            fix = "write the Region as eu-west-1 and endpoints (AWS_ENDPOINT_URL) as http://host:port"
            raise Invalid(operation, where, str(error), fix) from error
