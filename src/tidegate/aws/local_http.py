"""Small questions to the endpoints that AWS gives a task or an instance on its own link: no proxy, no redirect, no TLS.

The standard library's client, in a thread: these are a handful of calls a minute, and they must hold nobody up.
"""

import asyncio
import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tidegate.errors import Unreachable

__all__ = ["Answer", "ask"]

_LONGEST_ANSWER: Final = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever its status says."""

    status: int
    body: str


async def ask(
    operation: str,
    method: str,
    url: str,
    timeout_s: float,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Answer:
    """Raises Unreachable when nothing answers within `timeout_s` (for connecting and for reading, each)."""
    try:
        return await asyncio.to_thread(_ask, method, url, timeout_s, dict(headers or {}), body)
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(operation, url, f"{type(error).__name__}: {error}") from error


def _ask(method: str, url: str, timeout_s: float, headers: dict[str, str], body: str | None) -> Answer:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=timeout_s)
    try:
        connection.request(method, parts.path or "/", body=body, headers=headers)
        response = connection.getresponse()
        return Answer(response.status, response.read(_LONGEST_ANSWER).decode(errors="replace"))
    finally:
        connection.close()
