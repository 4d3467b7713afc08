"""What boto3's and aiobotocore's clients have in common: how they call, and what is said when one can't be made."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tidegate.aws.errors import wrapping
from tidegate.errors import Invalid

__all__ = ["believing_json_only", "call_settings", "making_client"]


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


def believing_json_only(client: Any) -> Any:
    """The client itself. botocore takes a page of HTML (a proxy asks for a login) or an answer cut off in its middle
    for one with nothing in it: no messages, no stored state. After this it raises ValueError, which `calling` makes
    Unreachable.
    """
    client.meta.events.register("before-parse", _refuse_what_is_no_object)
    return client


def _refuse_what_is_no_object(operation_model: Any, response_dict: Mapping[str, Any], **_: object) -> None:
    """Of the services that speak JSON each success is an object; where there is nothing to say, some say nothing."""
    if operation_model.service_model.resolved_protocol != "json":
        return  # elsewhere the body may be a stream
    body = response_dict["body"].strip()
    if response_dict["status_code"] < 300 and body and not isinstance(json.loads(body), dict):
        raise ValueError("no JSON object")
