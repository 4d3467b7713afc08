"""`python -m tidegate.sandbox.sqs --port N`: the endpoint alone, until SIGTERM or SIGINT. Prints its URL first."""

import argparse
import asyncio
import signal
import sys

from tidegate.sandbox.sqs.endpoint import SqsEndpoint


async def _serve(host: str, port: int) -> None:
    endpoint = SqsEndpoint(host=host, port=port)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await endpoint.start()
    sys.stdout.write(f"{endpoint.url}\n")
    sys.stdout.flush()
    await stop.wait()
    await endpoint.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tidegate.sandbox.sqs", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: loopback only)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    choice = parser.parse_args()
    try:
        asyncio.run(_serve(choice.host, choice.port))
    except (OSError, OverflowError, UnicodeError) as error:  # OverflowError: no such port; UnicodeError: no such name
        problem = error.strerror if isinstance(error, OSError) else str(error)
        sys.stderr.write(f"can't listen on {choice.host}:{choice.port}: {problem}; choose another --port or --host\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
