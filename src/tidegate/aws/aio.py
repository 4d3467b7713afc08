"""aiobotocore clients for the worker, with timeouts of its own: a long poll may wait, a lease may not."""

from contextlib import AsyncExitStack
from typing import Any, Final

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession, get_session

from tidegate.aws.connecting import believing_json_only, call_settings, making_client
from tidegate.aws.region import default_region
from tidegate.aws.way_out import check_bundle_is_named, check_way_out

__all__ = ["QUICK_CONFIG", "open_client", "poll_config", "session"]

_POLL_SLACK_S: Final = 10
"""An answer to a long poll may come this much after its wait; less would cut off polls that SQS has filled already."""

_POLLS_AT_ONCE: Final = 10

_CONNECT_S: Final = 2.0

_LEAN: Final[dict[str, Any]] = {"parameter_validation": False, "user_agent": "tidegate-worker"}
"""A quarter of what botocore does for a call is to check parameters, which mypy has done here, and to put a user agent
together anew each time. A worker makes thousands of calls a second."""

QUICK_CONFIG: Final = AioConfig(**call_settings(_CONNECT_S, read_s=3.0, attempts=2, connections=20), **_LEAN)
"""Deletes, visibility changes, heartbeats: small calls whose failure must be known while there is time to retry."""


def poll_config(wait_s: int) -> AioConfig:
    """Long polls: the read timeout exceeds the wait, and a failed poll is not repeated behind the consumer's back."""
    read_s = float(wait_s + _POLL_SLACK_S)
    return AioConfig(**call_settings(_CONNECT_S, read_s, attempts=1, connections=_POLLS_AT_ONCE), **_LEAN)


def session() -> AioSession:
    """Credentials and endpoints come from where boto3 finds them, the Region from AWS_REGION first."""
    return get_session()


async def open_client(
    stack: AsyncExitStack, session: AioSession, service: str, region: str | None, config: AioConfig
) -> Any:
    """A client that `stack` closes.

    Raises Invalid when there is no Region or the endpoint is no URL, ConfigError when the way there is none
    (`way_out`).
    """
    region = region or default_region()
    with making_client(service, region):
        check_bundle_is_named(session)
        made = session.create_client(service, region_name=region, config=config)  # type: ignore[call-overload]  # one overload per service name
        client = await stack.enter_async_context(made)
        check_way_out(client.meta.endpoint_url, session)
        return believing_json_only(client)
