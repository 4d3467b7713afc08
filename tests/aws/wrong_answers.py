"""An endpoint that answers every call with 200 and the same body: a sign-in page, a proxy, another service."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["WRONG_ANSWERS", "answering"]

_JSON = "application/x-amz-json-1.0"

WRONG_ANSWERS = {
    "html": ("text/html", b"<html>Please log in</html>"),
    "html as json": (_JSON, b"\n <!doctype html>"),
    "null": (_JSON, b"null"),
    "list": (_JSON, b"[]"),
    "number": (_JSON, b"5"),
    "text": (_JSON, b'"secret"'),
}
"""Content type and body of what came with status 200 from something that is not AWS."""

_END_WITHIN_S = 20


@contextmanager
def answering(content_type: str, body: bytes) -> Iterator[str]:
    """The URL of such an endpoint on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name in the base class
            """Nothing: it would be in the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        serving.join(_END_WITHIN_S)
