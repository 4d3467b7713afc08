"""aiobotocore clients for the worker, with timeouts of its own: a long poll may wait, a lease may not."""

from contextlib import AsyncExitStack
from typing import Any, Final

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession, get_session

from tidegate.aws.errors import calling
from tidegate.aws.region import default_region
from tidegate.errors import Invalid

__all__ = ["QUICK_CONFIG", "open_client", "poll_config", "session"]

_POLL_SLACK_S: Final = 10
"""An answer to a long poll may come this much after its wait; less would cut off polls that SQS has filled already."""


def _config(read_s: float, attempts: int, connections: int) -> AioConfig:
    return AioConfig(
        connect_timeout=2.0,
        read_timeout=read_s,
        retries={"mode": "standard", "total_max_attempts": attempts},
        tcp_keepalive=True,
        max_pool_connections=connections,
        user_agent_extra="tidegate",
    )


QUICK_CONFIG: Final = _config(read_s=3.0, attempts=2, connections=20)
"""Deletes, visibility changes, heartbeats: small calls whose failure must be known while there is time to retry."""


def poll_config(wait_s: int) -> AioConfig:
    """Long polls: the read timeout exceeds the wait, and a failed poll is not repeated behind the consumer's back."""
    return _config(read_s=float(wait_s + _POLL_SLACK_S), attempts=1, connections=2)


def session() -> AioSession:
    """Credentials and endpoints come from where boto3 finds them, the Region from AWS_REGION first."""
    return get_session()


async def open_client(
    stack: AsyncExitStack, session: AioSession, service: str, region: str | None, config: AioConfig
) -> Any:
    """A client that `stack` closes. Raises Invalid when there is no Region or the endpoint is no URL."""
    region = region or default_region()
    operation, where = f"{service}:client", region or "the default Region"
    with calling(operation, where):
        try:
            return await stack.enter_async_context(session.create_client(service, region_name=region, config=config))  # type: ignore[call-overload]  # one overload per service name
        except ValueError as error:
            fix = "write the Region as eu-west-1 and endpoints (AWS_ENDPOINT_URL) as http://host:port"
            raise Invalid(operation, where, str(error), fix) from error
