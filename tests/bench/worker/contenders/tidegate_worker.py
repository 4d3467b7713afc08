"""Ours: leases, drain and telemetry included."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import work

from tidegate import Message, Worker


async def handler(message: Message) -> None:
    await work.handle_async()


if __name__ == "__main__":
    Worker(work.QUEUE, handler, slots=work.CONCURRENCY, log_level="warning").run()
