"""The handler that the demo's workers run: it works for as long as its message says and keeps a journal.

The journal is what the verdict is reckoned from, so it must survive a kill -9: each line is one `write` to a file
opened for appending, and nothing is kept in this process.
"""

import json
import os
import time
from pathlib import Path

from tidegate.worker.message import Message  # not for type checkers only: the worker looks its name up

__all__ = ["JOURNAL_VARIABLE", "handle"]

JOURNAL_VARIABLE = "TIDEGATE_DEMO_JOURNAL"
"""The directory of the journals, one file per worker process."""


def handle(message: Message) -> None:
    """Sleep for the message's service time, with a line in the journal before and after."""
    work_s = float(json.loads(message.body)["work_s"])
    _note("start", message.id)
    time.sleep(work_s)
    _note("end", message.id)


def _note(event: str, message_id: str) -> None:
    path = Path(os.environ[JOURNAL_VARIABLE], f"{os.getpid()}.jsonl")
    line = json.dumps({"event": event, "id": message_id, "at_s": time.time(), "pid": os.getpid()}) + "\n"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)
