"""`GET /healthz` and `GET /readyz`: the smallest HTTP server that load balancers and kubelets are content with."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Final

__all__ = ["ANY_ADDRESS", "Answer", "serve_health"]

Answer = tuple[bool, dict[str, object]]
"""Whether all is well (200, else 503), and what the JSON body says."""

ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104  kubelets and load balancers ask from outside the container
_REQUEST_S: Final = 5.0
_LONGEST_LINE: Final = 4096
_STATUS: Final = {
    200: "OK",
    404: "Not Found",
    405: "Method Not Allowed",
    400: "Bad Request",
    503: "Service Unavailable",
}

logger = logging.getLogger(__name__)


async def serve_health(host: str, port: int, answers: dict[str, Callable[[], Answer]]) -> asyncio.Server:
    """Listens on `port` (0: any that is free) until the server is closed. `answers` by path.

    It lives on the SDK's own loop: when that hangs there is no answer, which a probe takes for what it is. Raises
    OSError when the port can't be had.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_S):
                request = await reader.readline()
                while (await reader.readline()).strip():
                    pass  # headers say nothing that matters here
                writer.write(_response(request[:_LONGEST_LINE].decode("latin-1"), answers))
                await writer.drain()
        except (TimeoutError, OSError, ValueError) as error:
            logger.debug("a health probe went away: %r", error)
        finally:
            writer.close()

    return await asyncio.start_server(serve, host, port)


def _response(request: str, answers: dict[str, Callable[[], Answer]]) -> bytes:
    method, _, rest = request.strip().partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    status, body = _answer(method, path, answers)
    text = json.dumps(body) + "\n"
    head = f"HTTP/1.1 {status} {_STATUS[status]}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    content = "" if method == "HEAD" else text
    return f"{head}Content-Length: {len(text.encode())}\r\n\r\n{content}".encode()


def _answer(method: str, path: str, answers: dict[str, Callable[[], Answer]]) -> tuple[int, dict[str, object]]:
    if not path.startswith("/"):
        return 400, {"error": "not a request"}
    if method not in ("GET", "HEAD"):
        return 405, {"error": "GET or HEAD"}
    if path not in answers:
        return 404, {"error": f"there is {' and '.join(answers)}"}
    well, body = answers[path]()
    return (200 if well else 503), body
