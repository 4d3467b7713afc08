"""What answers every call with 200 and the same body: a sign-in page, a proxy, another service."""

from contextlib import AbstractContextManager

from tests.json_endpoint import JSON, answering

__all__ = ["WRONG_ANSWERS", "always"]

WRONG_ANSWERS = {
    "html": ("text/html", b"<html>Please log in</html>"),
    "html as json": (JSON, b"\n <!doctype html>"),
    "cut off": (JSON, b'{"Item": {"state": {"S": "secret'),
    "nested beyond measure": (JSON, b'{"secret": ' + b"[" * 100_000),
    "null": (JSON, b"null"),
    "list": (JSON, b"[]"),
    "number": (JSON, b"5"),
    "text": (JSON, b'"secret"'),
}
"""Content type and body of what came with status 200 from something that is not AWS."""


def always(content_type: str, body: bytes) -> AbstractContextManager[str]:
    """The URL of such an endpoint on a free port."""
    return answering(lambda _: (200, content_type, body))
