"""Calls that a worker makes thousands of times a second, without what botocore works out anew for each of them.

Of the processor time of a call through botocore two thirds are for things that don't change: which endpoint, which
headers, which handlers, how the answer is built. So the first call of an operation goes through botocore, and the
request that it sent is the model of all further ones: the same URL (hence Region, FIPS, custom endpoint), the same
headers, the session's credentials as they are renewed, the same connection pool with its timeouts and proxy, which also
raises the same errors. What goes wrong ends it: the next call is botocore's again, and the next model.
"""

import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from aiobotocore.session import AioSession
from botocore import exceptions as boto
from botocore.parsers import create_parser

from tidegate.aws.request_model import RequestModel, model_of

__all__ = ["ShortWay", "shorten"]

_METHODS: Final = {
    "ReceiveMessage": "receive_message",
    "DeleteMessageBatch": "delete_message_batch",
    "ChangeMessageVisibilityBatch": "change_message_visibility_batch",
}

_SLOW: Final = (boto.ReadTimeoutError, boto.ConnectTimeoutError)


def shorten(
    client: Any, session: AioSession, operations: Sequence[str], *, again: bool, wall: Callable[[], float]
) -> Any:
    """The client itself, an SQS client of aiobotocore, with these operations called by the short way.

    `again`: what fails without an answer, or by a fault of AWS's, is called again, by botocore with its own retries.
    What was too slow is called again once only, as botocore would: a lease does not wait for a third time-out.
    """
    for operation in operations:
        setattr(client, _METHODS[operation], ShortWay(client, session, operation, again=again, wall=wall))
    return client


class ShortWay:
    """One operation of one client: called with its parameters, gives its answer. Raises what botocore raises."""

    def __init__(
        self, client: Any, session: AioSession, operation: str, *, again: bool, wall: Callable[[], float]
    ) -> None:
        self._session = session
        self._operation = operation
        self._long_way: Callable[..., Awaitable[dict[str, Any]]] = getattr(client, _METHODS[operation])
        self._again = again
        self._wall = wall
        self._pool = client._endpoint.http_session
        self._errors = client.exceptions
        service = client.meta.service_model
        self._shape = service.operation_model(operation).output_shape
        self._parser = create_parser(service.resolved_protocol)
        self._sent: Any = None
        self._model: RequestModel | None = None
        client.meta.events.register(f"before-send.{service.service_id.hyphenize()}.{operation}", self._is_sent)

    @property
    def short(self) -> bool:
        """Whether the next call takes the short way."""
        return self._model is not None

    async def __call__(self, **parameters: Any) -> dict[str, Any]:
        model = self._model
        if model is None:
            return await self._by_botocore(parameters)
        try:
            return await self._by_model(model, parameters)
        except Exception as error:
            self._model = None
            if not (self._again and _may_pass(error)):
                raise
            if isinstance(error, _SLOW):
                return await self._by_model(model, parameters)
            return await self._by_botocore(parameters)

    def _is_sent(self, request: Any, **_: object) -> None:
        self._sent = request

    async def _by_botocore(self, parameters: dict[str, Any]) -> dict[str, Any]:
        answer = await self._long_way(**parameters)
        credentials = await self._session.get_credentials()
        if credentials is not None and self._sent is not None:
            self._model = model_of(self._sent, await credentials.get_frozen_credentials())
            self._sent = None
        return answer

    async def _by_model(self, model: RequestModel, parameters: dict[str, Any]) -> dict[str, Any]:
        credentials: Any = await self._session.get_credentials()
        body = json.dumps(parameters, separators=(",", ":")).encode()
        request = model.request(body, self._wall(), await credentials.get_frozen_credentials())
        response = await self._pool.send(request)
        content: bytes = await response.content
        if response.status_code >= 300:
            raise self._refusal(response.status_code, response.headers, content)
        return _read(content)

    def _refusal(self, status: int, headers: Any, content: bytes) -> boto.ClientError:
        """As botocore reads it, its class included."""
        parsed = self._parser.parse({"status_code": status, "headers": headers, "body": content}, self._shape)
        said = parsed.get("Error", {})
        kind = self._errors.from_code(said.get("QueryErrorCode") or said.get("Code"))
        error: boto.ClientError = kind(parsed, self._operation)
        return error


def _may_pass(error: Exception) -> bool:
    """True for what another call at once may mend: most often a connection that AWS closed while it was idle."""
    if isinstance(error, boto.ClientError):
        return int(error.response["ResponseMetadata"]["HTTPStatusCode"]) >= 500
    return isinstance(error, boto.HTTPClientError)


def _read(content: bytes) -> dict[str, Any]:
    """Raises ValueError, TypeError or AttributeError where the answer is none of SQS's."""
    answer = json.loads(content or b"{}")
    if not isinstance(answer, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  what `calling` expects of an answer that can't be read
    for message in answer.get("Messages") or ():
        for attribute in (message.get("MessageAttributes") or {}).values():
            if "BinaryValue" in attribute:
                attribute["BinaryValue"] = base64.b64decode(attribute["BinaryValue"])
    return answer
