"""An endpoint on this machine that answers whatever a test wants, as AWS's own would never or seldom do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["JSON", "Answer", "answering"]

JSON = "application/x-amz-json-1.0"

Answer = tuple[int, str, bytes]
"""Status, content type, body."""

_END_WITHIN_S = 20


@contextmanager
def answering(answer: Callable[[str], Answer]) -> Iterator[str]:
    """Its URL, on a free port; `answer` is given the operation ("GetQueueAttributes")."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, content_type, body = answer(self.headers.get("X-Amz-Target", "").rpartition(".")[2])
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name in the base class
            """Nothing: the tests read the program's own output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        serving.join(_END_WITHIN_S)
