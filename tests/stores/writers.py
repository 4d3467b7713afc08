"""What the processes of the file store's tests run."""

import fcntl
import sys
from pathlib import Path

from tidegate.core.model import PoolState
from tidegate.errors import StateConflict
from tidegate.stores.file import FileStore


def count_up(directory: str, times: int) -> int:
    """Add one to the stored desired count, `times` times, against other processes; how often it lost the race."""
    store, conflicts = FileStore(Path(directory)), 0
    for _ in range(times):
        while True:
            stored = store.load("mail")
            try:
                store.save("mail", PoolState(desired=(stored.state.desired or 0) + 1), stored.version)
                break
            except StateConflict:
                conflicts += 1
    return conflicts


def hold(lock_file: str) -> None:
    """Take the lock, say so, and keep it until killed."""
    with Path(lock_file).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        print("held", flush=True)  # noqa: T201  # the parent waits for this line
        sys.stdin.read()


if __name__ == "__main__":
    hold(sys.argv[1])
