"""Endpoints that moto can't be: ones that deny, hold back, never answer, or are not there."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, dict[str, object]]

LONGEST_S = 20


@contextmanager
def endpoint(answer: Callable[[str], Answer]) -> Iterator[str]:
    """An AWS JSON endpoint on a free port; `answer` makes status and body of the operation ("GetQueueAttributes")."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body = answer(self.headers.get("X-Amz-Target", "").rpartition(".")[2])
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

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
        serving.join(LONGEST_S)


def denies(_: str) -> Answer:
    """As AWS answers a caller without the permission.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
    """
    return 400, {"__type": "AccessDeniedException", "message": "User: ann is not authorized to perform this action"}


class HeldQueue:
    """SQS with one queue of 200 waiting messages, which keeps every GetQueueAttributes after the first waiting."""

    def __init__(self) -> None:
        self.held = threading.Event()
        self.release = threading.Event()
        self._asked = 0

    def __call__(self, operation: str) -> Answer:
        if operation == "GetQueueUrl":
            return 200, {"QueueUrl": "http://sqs.local/000000000000/orders"}
        self._asked += 1
        if self._asked > 1:
            self.held.set()
            self.release.wait(LONGEST_S)
        counts = {
            "ApproximateNumberOfMessages": "200",
            "ApproximateNumberOfMessagesNotVisible": "0",
            "ApproximateNumberOfMessagesDelayed": "0",
        }
        return 200, {"Attributes": counts}


@contextmanager
def nobody() -> Iterator[str]:
    """A port that refuses: it was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def silence() -> Iterator[str]:
    """A port where connections are taken and nothing is ever answered."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
