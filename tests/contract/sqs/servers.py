"""The servers that the contract is tried against: ours, moto's, and MiniStack's where its environment was made."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from tidegate.sandbox.sqs import SqsServer

MINISTACK = Path(__file__).parents[3] / ".venv-ministack" / "bin" / "ministack"


@contextmanager
def tidegate() -> Iterator[str]:
    with SqsServer() as server:
        yield server.url


@contextmanager
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
    assert server._server is not None
    server._server.server_close()  # moto's own stop leaves the socket open


@contextmanager
def ministack() -> Iterator[str]:
    """In a process of its own, on loopback only, without files, and kept from any Docker daemon of this machine."""
    if not MINISTACK.exists():
        pytest.skip("MiniStack has no environment here: run `make contract-server`")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    settings = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "PERSIST_STATE": "0", "DOCKER_HOST": "unix:///no"}
    environment, null = {**os.environ, **settings}, subprocess.DEVNULL
    with subprocess.Popen([MINISTACK], env=environment, stdin=null, stdout=null, stderr=null) as process:
        try:
            _wait_until_it_listens(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_until_it_listens(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Try every tenth of a second; waiting on the process in between notices at once when it dies instead."""
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            try:
                code = process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            pytest.fail(f"MiniStack ended with {code} before it listened")
        return
    pytest.fail("MiniStack did not listen within 30 s")
